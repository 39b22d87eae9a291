/** Descriptions of wrong results, shared by the column verifiers of the host and of devices. */

export const wrongSelection = 'the selected keys are wrong or out of order';
export const wrongCounts = 'the distinct keys and their counts differ from the input';

export const wrongSelectionCount = (actual: number, expected: number | bigint): string =>
  `${actual} keys were selected instead of ${expected}`;

export const wrongDistinctKeys = (wrong: number | bigint, n: number): string =>
  `${wrong} of ${n} distinct keys are out of order or have the count 0`;

export const wrongTopKeys = (wrong: number | bigint, n: number): string =>
  `${wrong} of ${n} results are out of order or differ from the key at their position`;

export const wrongTopCount = (preceding: number | bigint, n: number): string =>
  `${preceding} keys precede or equal the last of ${n} results`;
