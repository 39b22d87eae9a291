import { newArray } from '../../../keys/array.js';
import { keyCodec } from '../../../keys/key-codec.js';
import type { MaybePromise } from '../../../util/maybe-promise.js';
import { type ColumnKernel, columnKernel } from '../../backend/column-kernel.js';
import { encodedKeysOf } from '../../backend/native-column-kernels.js';
import type { Call, LaterSteps } from '../../calls/call.js';
import { hostSearchSorted } from '../../host/host-select.js';
import { areSame } from '../../host/host-verify.js';
import { inSlices, runYielding, type Steps } from '../../host/steps.js';
import { type Column, column, hostColumn, wordsOf } from '../../model/column.js';
import type { SortOptions } from '../../model/options.js';
import { MAX_TABLE_BYTES } from '../policy.js';
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

/**
 * Does what `CONTAINS` does by a table of the range of the other keys, which need no order.
 *
 * @returns whether it did, on a device after the wait: the range may be too large, and JavaScript has no table
 */
export const CONTAINS_BY_TABLE = columnKernel<
  [Column, Column, Membership, Column],
  boolean | (() => boolean)
>({
  *host(): Steps<boolean> {
    yield;
    return false;
  },
  native: {
    extent: (others, keys, _, mask) => [keys.n, others, keys, mask],
    run: async (onThreads, others, keys, { codec, inverted }, mask) => {
      const used = new BigUint64Array(1);
      const how = [inverted, wordsOf(mask), MAX_TABLE_BYTES, used];
      const parameters = [...encodedKeysOf(keys, codec), wordsOf(others), ...how];
      await onThreads('hostContainsByTableAsync', keys.n, ...parameters);
      return used[0] === 1n;
    },
  },
  load: async () => (await import('./device.js')).containsByTableOnDevice,
});

/**
 * Returns bound keys in the order of the call.
 *
 * @param later what the call does next
 */
export async function sortedKeys(
  call: Call,
  keys: Column,
  assumeSorted: boolean,
  later: LaterSteps = () => [],
): Promise<Column> {
  if (assumeSorted || keys.n === 0) return keys;
  const sorted = call.columns.temporary(keys.dtype, keys.n);
  const sort = { keys, sorted: sorted.place };
  await call.prepare(sort, later);
  await call.sort(sort);
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
 * Marks the keys that are among other keys, as numbers, with 1 and the rest with 0.
 *
 * @param others whether `areSorted`, keys in the order of the call
 * @param keys bound keys, at least one
 * @param inverted marks the others with 1 instead
 * @param mask u8
 */
export async function markMembers(
  call: Call,
  { others, areSorted }: { readonly others: Column; readonly areSorted: boolean },
  keys: Column,
  inverted: boolean,
  mask: Column,
): Promise<void> {
  const { kernels } = call.columns;
  const how = { codec: keyCodec(keys.dtype, call.settings), inverted };
  const input = await call.bindInput(others);
  if (mayHaveTable(call, keys) && (await markByTable(call, input, keys, how, mask))) return;
  const sorted = await sortedKeys(call, input, areSorted, (none) => {
    const noKeys = none(keys.dtype);
    return [
      kernels.run(CONTAINS, noKeys, noKeys, how, none('u8')),
      keys.info.kind === 'float' && kernels.canonical(noKeys, noKeys),
    ];
  });
  const [among, wanted] = [await canonicalKeys(call, sorted), await canonicalKeys(call, keys)];
  await kernels.run(CONTAINS, among, wanted, how, mask);
  await verifyOnHost(call, CONTAINS, [among, wanted, how, mask], 'keys are marked incorrectly');
}

const mayHaveTable = (call: Call, keys: Column): boolean =>
  MAX_TABLE_BYTES > 0 && keys.info.kind !== 'float' && !call.settings.verify;

/** Does what `markMembers` does by a table. @returns whether it did */
async function markByTable(
  call: Call,
  others: Column,
  keys: Column,
  how: Membership,
  mask: Column,
): Promise<boolean> {
  const marked = await call.columns.kernels.run(CONTAINS_BY_TABLE, others, keys, how, mask);
  if (typeof marked === 'boolean') return marked;
  await call.settle();
  await call.bindInput(keys); // the call waits for the next kernels as well
  return marked();
}

/** Compiles the programs of `markMembers` on sorted keys: runs its kernels on columns without keys. */
export function prepareMarks(call: Call, noKeys: Column, mask: Column): MaybePromise<unknown>[] {
  const { kernels } = call.columns;
  const how = { codec: keyCodec(noKeys.dtype, call.settings), inverted: false };
  const search = kernels.run(CONTAINS, noKeys, noKeys, how, mask);
  if (!mayHaveTable(call, noKeys)) return [search];
  return [search, kernels.run(CONTAINS_BY_TABLE, noKeys, noKeys, how, mask)];
}

/** Verifies the result of a kernel on two columns, if the call does: the host engine computes it a second time. */
export async function verifyOnHost<P>(
  call: Call,
  kernel: ColumnKernel<[a: Column, b: Column, how: P, to: Column], void>,
  [a, b, how, to]: readonly [a: Column, b: Column, how: P, to: Column],
  failure: string,
): Promise<void> {
  await call.verify(async () => {
    const { columns, settings } = call;
    const { keys: hostA, kernels } = await columns.copyToHost(a);
    const [hostB, result] = [(await columns.copyToHost(b)).keys, (await columns.copyToHost(to)).keys];
    const expected = column(to.dtype, to.n, newArray(to.dtype, to.n));
    await kernels.run(kernel, hostA, hostB, how, expected);
    const isRight = await runYielding(areSame(wordsOf(expected), wordsOf(result)), settings.signal);
    return () => (isRight ? undefined : failure);
  });
}
