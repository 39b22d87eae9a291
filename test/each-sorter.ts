import test from 'ava';
import { Sorter } from '../src/sort/api/sorter.js';
import { deviceNames, PLATFORMS, SMALL } from './each-device.js';

/**
 * Declares the same tests for a Sorter of the host engine and of each device of `CLSORT_TEST_DEVICES`.
 *
 * @param declare gets a function that puts the engine into titles, one that opens the Sorter (once for all
 *   tests of the file), and whether only small sizes are wanted
 */
export function forEachSorter(
  declare: (title: (claim: string) => string, sorter: () => Promise<Sorter>, small: boolean) => void,
): void {
  for (const name of ['host', ...deviceNames()]) {
    let opened: Promise<Sorter> | undefined;
    test.after.always(`${name} closes`, async () => {
      await (await opened)?.close();
    });
    declare(
      (claim) => `${name}: ${claim}`,
      () => {
        opened ??= Sorter.open({ device: PLATFORMS[name] ?? name });
        return opened;
      },
      SMALL.has(name),
    );
  }
}
