import { isResizable } from '../../keys/array.js';
import { infinityBits } from '../../keys/dtype.js';
import { codecWords, decode, type KeyCodec, keyCodec } from '../../keys/key-codec.js';
import { keyValue } from '../../keys/value.js';
import {
  assertReducible,
  assertScannable,
  KINDS,
  type ReduceOp,
  SCAN_OPS,
  type ScanOp,
} from '../../primitives/possible.js';
import { type NativeModule, nativeModule } from '../host/native-module.js';
import { type Column, viewOf, wordsOf } from '../model/column.js';
import type { ColumnKernel } from './column-kernel.js';
import type { ColumnSelection, SelectedKeys } from './column-kernels.js';
import { HostColumnKernels } from './host-column-kernels.js';
import { MIN_NATIVE_ELEMENTS, type RanksBy, ranksBy } from './policy.js';

const ALL_BITS = 2n ** 64n - 1n;

/**
 * Column kernels of the host engine. Those of large columns run in the addon on several threads, if it can be loaded, with
 * the results of `HostColumnKernels`.
 */
export class NativeColumnKernels extends HostColumnKernels {
  override readonly ranksBy: RanksBy = ranksBy('kernel');

  override async run<A extends readonly unknown[], R>(kernel: ColumnKernel<A, R>, ...args: A): Promise<R> {
    const { native } = kernel;
    if (!native || !(await isNative(...native.extent(...args)))) return super.run(kernel, ...args);
    return native.run((name, n, ...parameters) => this.#run(name, n, ...parameters), ...args);
  }

  override async canonical(from: Column, to: Column): Promise<void> {
    const infinity = infinityBits(from.info);
    if (infinity === 0n || !(await isNative(from.n, from, to))) return super.canonical(from, to);
    return this.#run('hostCanonicalAsync', from.n, ...keysOf(from), infinity, wordsOf(to));
  }

  override async appendCodes(
    from: Column,
    codec: KeyCodec,
    to: Column,
    shift: number,
    first: boolean,
  ): Promise<void> {
    if (!(await isNative(from.n, from, to))) return super.appendCodes(from, codec, to, shift, first);
    const packing = [infinityBits(from.info), shift, first, to.info.bytes, wordsOf(to)];
    return this.#run('hostAppendCodesAsync', from.n, ...encodedKeysOf(from, codec), ...packing);
  }

  override async gather(from: Column, positions: Column, to: Column): Promise<void> {
    if (!(await isNative(to.n, from, positions, to))) return super.gather(from, positions, to);
    const at = keysOf({ ...positions, n: to.n });
    return this.#run('hostGatherAsync', to.n, ...keysOf(from), ...at, wordsOf(to));
  }

  override async segmentIds(begins: Column, ids: Column, positions?: Column): Promise<void> {
    const columns = [begins, ids, ...(positions ? [positions] : [])];
    if (!(await isNative(ids.n, ...columns))) return super.segmentIds(begins, ids, positions);
    return this.#run('hostSegmentIdsAsync', ids.n, ...columns.map(wordsOf));
  }

  override async counts(places: Column, n: number, to: Column): Promise<void> {
    if (!(await isNative(to.n, places, to))) return super.counts(places, n, to);
    return this.#run('hostRunLengthsAsync', to.n, wordsOf(places), n, wordsOf(to));
  }

  override async select(keys: Column, codec: KeyCodec, to: SelectedKeys): Promise<void> {
    if (!(await isNative(keys.n, keys, to.keys, to.positions))) return super.select(keys, codec, to);
    const results = [wordsOf(to.keys), ...keysOf(to.positions)];
    return this.#run('hostSelectAsync', keys.n, ...encodedKeysOf(keys, codec), ...results);
  }

  override async reduce(keys: Column, op: ReduceOp): Promise<() => number | bigint> {
    const { n, dtype, info } = keys;
    if (!(await isNative(n, keys))) return super.reduce(keys, op);
    assertReducible(dtype, op, n);
    const codec = extremeCodec(keys, op);
    const result = new BigUint64Array(1);
    await this.#run('hostReduceAsync', n, ...encodedKeysOf(keys, codec), ...operationOf(keys, op), result);
    const bits = result[0] as bigint;
    if (op !== 'sum') return () => keyValue(decode(codec, bits), info);
    if (info.kind !== 'float') return () => (info.kind === 'signed' ? BigInt.asIntN(64, bits) : bits);
    const sum = new Float64Array(result.buffer)[0] as number;
    return () => (dtype === 'f32' ? Math.fround(sum) : sum);
  }

  override async scan(from: Column, to: Column, op: ScanOp, inclusive: boolean): Promise<void> {
    if (!(await isNative(from.n, from, to))) return super.scan(from, to, op, inclusive);
    assertScannable(from.dtype, op);
    const keys = encodedKeysOf(from, extremeCodec(from, op));
    await this.#run('hostScanAsync', from.n, ...keys, ...operationOf(from, op), inclusive, wordsOf(to));
  }

  protected override async placeHeads(sorted: Column, places: Column): Promise<number> {
    if (!(await isNative(sorted.n, sorted, places))) return super.placeHeads(sorted, places);
    const count = new BigUint64Array(1);
    await this.#run('hostPlaceHeadsAsync', sorted.n, ...keysOf(sorted), wordsOf(places), count);
    return Number(count[0]);
  }

  #run(name: NativeFunction, n: number, ...rest: readonly unknown[]): Promise<void> {
    return runNative(name, n, rest, this.signal);
  }
}

type NativeFunction = Parameters<NativeModule['runOnThreads']>[0];

/** Runs a function of the addon on n elements, on several threads, see `runOnThreads`. */
export async function runNative(
  name: NativeFunction,
  n: number,
  parameters: readonly unknown[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { runOnThreads } = await nativeModule();
  await runOnThreads(name, n, parameters, signal);
}

/** Whether the addon processes n elements of these columns. It cannot hold the memory of resizable buffers. */
export async function isNative(n: number, ...columns: readonly Column[]): Promise<boolean> {
  if (n < MIN_NATIVE_ELEMENTS || columns.some((one) => isResizable(viewOf(one)))) return false;
  const { nativeProblem } = await nativeModule();
  return nativeProblem() === undefined;
}

export const keysOf = (keys: Column): readonly unknown[] => [wordsOf(keys), keys.info.bytes];

export const encodedKeysOf = (keys: Column, codec: KeyCodec): readonly unknown[] => [
  ...keysOf(keys),
  codecWords(codec, ALL_BITS),
];

/** Returns the codec in whose order NaN wins a minimum or a maximum. */
export const extremeCodec = ({ dtype }: Column, op: ScanOp): KeyCodec =>
  keyCodec(dtype, { nan: op === 'min' ? 'first' : 'last' });

export const operationOf = ({ info }: Column, op: ScanOp): readonly unknown[] => [
  KINDS[info.kind],
  SCAN_OPS.indexOf(op),
];

/** Arguments of the addon's functions for a selection. */
export function selectionArguments(keys: Column, selection: ColumnSelection): readonly unknown[] {
  const mask = 'mask' in selection ? wordsOf(selection.mask) : undefined;
  const { low, high, not } = 'mask' in selection ? { low: 0n, high: 0n, not: false } : selection;
  return [
    ...keysOf(keys),
    mask,
    codecWords(keyCodec(keys.dtype), ALL_BITS),
    BigUint64Array.of(low, high),
    not,
  ];
}
