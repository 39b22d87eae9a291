import { keyCodec } from '../../../keys/key-codec.js';
import { columnKernel } from '../../backend/column-kernel.js';
import { encodedKeysOf } from '../../backend/native-column-kernels.js';
import type { Call } from '../../calls/call.js';
import { hostSearchSorted } from '../../host/host-select.js';
import { inSlices, runYielding } from '../../host/steps.js';
import { type Column, column, hostColumn, wordsOf } from '../../model/column.js';
import type { SortOptions } from '../../model/options.js';
import type { Membership } from './device.js';

/** Options of set operations, and of `isIn` for its second array. */
export type SetOptions = Omit<SortOptions, 'bitRange'> & {
  /**
   * Whether the keys are in the order of `sort` with the same `descending` and `nan`, so that they need no sort. The
   * result for keys in another order is undefined.
   *
   * @defaultValue `false`
   */
  readonly assumeSorted?: boolean;
};

/** Marks the keys whose bits occur among sorted keys with 1, others with 0; inverted the other way round. */
export const CONTAINS = columnKernel({
  *host(sorted: Column, keys: Column, { codec, inverted }: Membership, mask: Column) {
    const places = new Uint32Array(keys.n);
    yield* hostSearchSorted(hostColumn(sorted), hostColumn(keys), codec, false, places);
    const [all, wanted, marks] = [wordsOf(sorted), wordsOf(keys), wordsOf(mask)];
    yield* inSlices(keys.n, (start, end) => {
      for (let i = start; i < end; i++) {
        marks[i] = Number((all[places[i] as number] === wanted[i]) !== inverted);
      }
    });
  },
  native: {
    extent: (sorted, keys, _, mask) => [keys.n, sorted, keys, mask],
    run: (onThreads, sorted, keys, { codec, inverted }, mask) => {
      const parameters = [...encodedKeysOf(keys, codec), wordsOf(sorted), inverted, wordsOf(mask)];
      return onThreads('hostContainsAsync', keys.n, ...parameters);
    },
  },
  load: async () => (await import('./device.js')).containsOnDevice,
});

/** Returns the keys in the order of the call. */
export async function sortedKeys(call: Call, keys: Column, assumeSorted: boolean): Promise<Column> {
  const input = await call.bindInput(keys);
  if (assumeSorted || keys.n === 0) return input;
  const sorted = call.columns.temporary(keys.dtype, keys.n);
  await call.sort({ keys: input, sorted: sorted.place });
  return sorted;
}

/** Returns the keys with equal bits for keys that are equal as numbers. Sorted keys stay in order. */
export async function canonicalKeys(call: Call, keys: Column): Promise<Column> {
  if (keys.info.kind !== 'float' || keys.n === 0) return keys;
  const plain = call.columns.temporary(keys.dtype, keys.n);
  await call.columns.kernels.canonical(keys, plain);
  return plain;
}

/**
 * Marks the keys that are among the sorted keys, as numbers, with 1 and the others with 0.
 *
 * With `verify`, the host computes the marks a second time.
 *
 * @param sorted bound keys in the order of the call
 * @param keys bound keys, at least one
 * @param inverted marks the others with 1 instead
 * @param mask u8
 */
export async function markMembers(
  call: Call,
  sorted: Column,
  keys: Column,
  inverted: boolean,
  mask: Column,
): Promise<void> {
  const [among, wanted] = [await canonicalKeys(call, sorted), await canonicalKeys(call, keys)];
  const how = { codec: keyCodec(keys.dtype, call.settings), inverted };
  await call.columns.kernels.run(CONTAINS, among, wanted, how, mask);
  await call.verify(async () => {
    const { columns, settings } = call;
    const hostAmong = (await columns.copyToHost(among)).keys;
    const hostWanted = (await columns.copyToHost(wanted)).keys;
    const marks = wordsOf((await columns.copyToHost(mask)).keys);
    const expected = column('u8', keys.n, new Uint8Array(keys.n));
    await runYielding(CONTAINS.host(hostAmong, hostWanted, how, expected), settings.signal);
    const isRight = Buffer.compare(expected.place, marks as Uint8Array) === 0;
    return () => (isRight ? undefined : 'keys are marked incorrectly');
  });
}
