import test from 'ava';
import { Sorter } from '../src/sort/api/sorter.js';
import { deviceNames, PLATFORMS, SMALL } from './each-device.js';

/** Declares tests for one Sorter. */
type Declare = (title: (claim: string) => string, sorter: () => Promise<Sorter>, small: boolean) => void;

function forEachNamed(names: readonly string[], declare: Declare): void {
  for (const name of names) {
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

/**
 * Declares the same tests for a Sorter of the host engine and of each device of `CLSORT_TEST_DEVICES`.
 *
 * @param declare receives a function that adds the engine to titles, a function that opens the Sorter (once for all
 * tests of the file), and whether only small sizes are wanted
 */
export const forEachSorter = (declare: Declare): void => forEachNamed(['host', ...deviceNames()], declare);

/** Like `forEachSorter`, without the host engine. */
export const forEachDeviceSorter = (declare: Declare): void => forEachNamed(deviceNames(), declare);
