/** Fixed-size binary records, sorted by keys inside them. */
import { keyColumn } from '../keys/array.js';
import { withSorter } from '../sort/api/default-sorter.js';
import type { Into, SortOptions } from '../sort/api/options.js';
import { UsageError } from '../util/errors.js';
import { layoutOrdering } from './layout-ordering.js';
import type { RecordLayout } from './record-keys.js';
import type { OrderingSortOptions } from './record-ordering.js';

/** What `sortRecords` and `argsortRecords` take: the layout, and how to sort. */
export type RecordSortOptions = RecordLayout &
  Omit<OrderingSortOptions, 'into'> &
  Pick<SortOptions, 'device'>;

/**
 * Sorts records of `record` bytes each, by one or more keys inside them.
 *
 *     const sorted = await sortRecords(bytes, { record: 100, keys: ['0:10'] }); // ten bytes, as memcmp compares
 *     await sortRecords(bytes, { record: 24, keys: ['16:u64be:desc', { offset: 0, dtype: 'f32' }] });
 *
 * The first key decides, where it is equal the second, and so on; records that are equal in all keys stay as they are.
 * Numbers are ordered as `sort` orders them: −0 before +0, NaNs last (option `nan`). The device sorts keys and positions; the
 * records are moved by the host, into new memory or `into`.
 *
 * @param bytes whole records: a Uint8Array or a Buffer
 * @throws UsageError, DtypeError for an impossible layout; InputError when the bytes are no whole number of records;
 *   UnsupportedError for 2^32 records and more; as `sort`
 */
export async function sortRecords(
  bytes: Uint8Array,
  options: RecordSortOptions & Into<Uint8Array>,
): Promise<Uint8Array> {
  const { order, ...rest } = parseLayout(options);
  const { view } = keyColumn(bytes, 'u8');
  return withSorter(rest, (sorter, sortOptions) => order.sort(sorter, view as Uint8Array, sortOptions));
}

/**
 * The positions of records in sorted order: record `result[0]` comes first.
 *
 * @throws as `sortRecords`
 */
export async function argsortRecords(bytes: Uint8Array, options: RecordSortOptions): Promise<Uint32Array> {
  const { order, ...rest } = parseLayout(options, 'into');
  const { view } = keyColumn(bytes, 'u8');
  return withSorter(rest, (sorter, sortOptions) => order.positions(sorter, view as Uint8Array, sortOptions));
}

/** @throws UsageError, DtypeError; UsageError for options that only keys have, and for those in `without` */
function parseLayout<O extends RecordSortOptions>(options: O = {} as O, ...without: readonly string[]) {
  const { record, keys, nan, ...rest } = options;
  const order = layoutOrdering({ record, keys, nan });
  const wrong = ['dtype', 'descending', 'bits', ...without].find((name) => name in rest);
  if (wrong) {
    throw new UsageError(
      `option '${wrong}' has no meaning here: 'keys' say what records are sorted by, and how`,
    );
  }
  return { order, ...rest };
}
