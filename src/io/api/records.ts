/** Sorting of fixed-size binary records by keys inside them. */
import { keyColumn } from '../../keys/array.js';
import { withSorter } from '../../sort/api/default-sorter.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { Into, SortOptions } from '../../sort/model/options.js';
import { UsageError } from '../../util/errors.js';
import { layoutOrdering } from '../records/layout-ordering.js';
import type { RecordLayout } from '../records/record-keys.js';
import type { OrderingSortOptions } from '../records/record-ordering.js';

/** Options of `sortRecords` and `argsortRecords`: the record layout and sort options. */
export type RecordSortOptions = RecordLayout &
  Omit<OrderingSortOptions, 'into'> &
  Pick<SortOptions, 'device'>;

/**
 * Sorts fixed-size records by one or more keys inside them.
 *
 *     const sorted = await sortRecords(bytes, { record: 100, keys: ['0:10'] }); // ten bytes, as memcmp compares
 *     await sortRecords(bytes, { record: 24, keys: ['16:u64be:desc', { offset: 0, dtype: 'f32' }] });
 *
 * The first key decides; later keys break ties. The sort is stable. Numbers are ordered as by `sort`: −0 before +0,
 * NaNs last unless `nan` is `'first'`. The device sorts keys and positions, and the host then moves the records.
 *
 * @param bytes whole records, a Uint8Array or Buffer
 * @param options record size in bytes, keys, and sort options; `into` receives the result, default a new array
 * @returns the sorted records
 * @throws UsageError when the layout or an option is invalid
 * @throws DtypeError when a key has an unknown dtype
 * @throws InputError when the bytes are not a whole number of records
 * @throws UnsupportedError when there are 2^32 records or more
 * @throws the errors of `sort`
 */
export async function sortRecords(
  bytes: Uint8Array,
  options: RecordSortOptions & Into<Uint8Array>,
): Promise<Uint8Array> {
  const { order, ...rest } = parseLayout(options);
  const { view } = keyColumn(bytes, 'u8');
  return withSorter(rest, (sorter: Sorter, sortOptions) =>
    order.sort(sorter, view as Uint8Array, sortOptions),
  );
}

/**
 * Returns the positions of records in sorted order: record `result[0]` comes first. Equal records keep their order.
 *
 *     const order = await argsortRecords(bytes, { record: 24, keys: ['16:u64be:desc'] });
 *
 * @param bytes whole records, a Uint8Array or Buffer
 * @param options record size in bytes, keys, and sort options
 * @returns one u32 position per record
 * @throws the errors of `sortRecords`
 */
export async function argsortRecords(bytes: Uint8Array, options: RecordSortOptions): Promise<Uint32Array> {
  const { order, ...rest } = parseLayout(options, 'into');
  const { view } = keyColumn(bytes, 'u8');
  return withSorter(rest, (sorter: Sorter, sortOptions) =>
    order.positions(sorter, view as Uint8Array, sortOptions),
  );
}

/**
 * @throws UsageError when the layout is invalid, or an option applies to keys only or is in `without`
 * @throws DtypeError when a key has an unknown dtype
 */
function parseLayout<O extends RecordSortOptions>(options: O = {} as O, ...without: readonly string[]) {
  const { record, keys, nan, ...rest } = options;
  const order = layoutOrdering({ record, keys, nan });
  const wrong = ['dtype', 'descending', 'bitRange', ...without].find((name) => name in rest);
  if (wrong) throw new UsageError(`cannot use option ${wrong} for records: keys determine the order`);
  return { order, ...rest };
}
