import test from 'ava';
import { FirstRows } from '../../../../src/io/formats/tables/first-rows.js';
import { Random } from '../../../../src/util/random.js';

/** Codes of one or two bytes, prefix-free: the first byte decides on the length. */
const codesOf = (values: readonly number[]) => ({
  size: (i: number) => ((values[i] as number) % 2) + 1,
  put(i: number, to: Uint8Array, at: number): number {
    const value = values[i] as number;
    to[at] = value;
    if (value % 2 === 0) return at + 1;
    to[at + 1] = 7;
    return at + 2;
  },
});

test('the selected rows of all batches contain the first rows of all, and few others', (t) => {
  const random = new Random(45);
  for (const k of [0, 1, 3, 700]) {
    for (const values of [256, 2]) {
      const first = new FirstRows(k);
      const all: number[] = [];
      const selected: number[] = [];
      for (let batch = 0; batch < 40; batch++) {
        const rows = Array.from({ length: 500 }, () => random.u32() % values);
        const chosen = [...first.select(rows.length, codesOf(rows))];
        t.deepEqual(
          chosen,
          [...chosen].sort((a, b) => a - b),
        );
        selected.push(...chosen.map((i) => all.length + i));
        all.push(...rows);
      }
      const wanted = [...all.keys()].sort((a, b) => (all[a] as number) - (all[b] as number) || a - b);
      t.deepEqual(
        wanted.slice(0, k).filter((row) => !selected.includes(row)),
        [],
        `${k} of ${values} values`,
      );
      t.true(selected.length < all.length / 2);
    }
  }
});
