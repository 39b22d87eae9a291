import type { TestFn } from 'ava';
import { Sorter } from '../../src/sort/api/sorter.js';

/** A Sorter on the host for all tests of a file. */
export function hostSorter(test: TestFn): () => Sorter {
  let sorter: Sorter;
  test.before(async () => {
    sorter = await Sorter.open({ device: 'host' });
  });
  test.after.always(() => sorter.close());
  return () => sorter;
}
