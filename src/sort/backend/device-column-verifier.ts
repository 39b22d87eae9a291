import { codecArgument } from '../../device/codec-argument.js';
import type { Device } from '../../device/device.js';
import type { Buffer } from '../../device/memory/buffer.js';
import { type KernelArgument, u32, u64 } from '../../device/queue/queue.js';
import { infinityBits } from '../../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../../keys/key-codec.js';
import { KINDS, SCAN_OPS, type ScanOp } from '../../primitives/possible.js';
import { bufferOf, type Column, column } from '../model/column.js';
import { GroupSums, total } from '../verification/group-sums.js';
import type { ColumnSelection } from './column-kernels.js';
import type { ColumnVerifier, DeferredVerdict, TopResult } from './column-verifier.js';
import { NativeColumnVerifier } from './native-column-verifier.js';
import {
  wrongCounts,
  wrongDistinctKeys,
  wrongSelection,
  wrongSelectionCount,
  wrongTopCount,
  wrongTopKeys,
} from './verification-failures.js';

/** Loop iterations of two searches among the segments. */
const SEARCH_ITERATIONS = 33;
/** BASE of cl/verify_sequence.cl. */
const BASE = 0xd1342543de82ef95n;

/** Copies a column to host memory, for checks that the device does not have. */
type FetchToHost = (from: Column) => Promise<Column>;

/** Column verifiers on the device: cl/verify_scan.cl, verify_sequence.cl, verify_unique.cl and verify_top.cl. */
export class DeviceColumnVerifier implements ColumnVerifier {
  readonly #device: Device;
  readonly #hostVerifier: ColumnVerifier;
  readonly #fetch: FetchToHost;

  constructor(device: Device, fetch: FetchToHost, signal: AbortSignal | undefined) {
    this.#device = device;
    this.#fetch = fetch;
    this.#hostVerifier = new NativeColumnVerifier(signal);
  }

  async scan(from: Column, to: Column, op: ScanOp, inclusive: boolean): Promise<DeferredVerdict> {
    const { info, n } = from;
    if (info.kind === 'float' && (op === 'sum' || op === 'product')) {
      if (n === 0) return () => undefined;
      // The bounds of rounding need sums of magnitudes, which the host computes in doubles.
      return this.#hostVerifier.scan(await this.#fetch(from), await this.#fetch(to), op, inclusive);
    }
    const defines = { OP: SCAN_OPS.indexOf(op), KIND: KINDS[info.kind], WIDE: 0 };
    const codec = keyCodec(from.dtype, { nan: op === 'min' ? 'first' : 'last' });
    const sums = await this.#sums('verify_scan', from, n, defines, (partials, perGroup) => [
      ...[bufferOf(from), bufferOf(to), partials, u64(n), perGroup],
      ...[codecArgument(codec), u32(inclusive ? 1 : 0)],
    ]);
    return () => {
      const wrong = total(sums, 0, 2);
      return wrong === 0n ? undefined : `${wrong} of ${n} results do not follow from their predecessor`;
    };
  }

  async compact(
    keys: Column,
    selection: ColumnSelection,
    to: Column,
    rest: boolean,
    count: () => number,
  ): Promise<DeferredVerdict> {
    const [chosen, others, written] = await Promise.all([
      this.#sequence(keys, selection, false),
      rest ? this.#sequence(keys, selection, true) : () => EMPTY_SEQUENCE,
      this.#sequence(to, undefined, false),
    ]);
    return () => {
      const [first, result] = [chosen(), written()];
      if (BigInt(count()) !== first.length) return wrongSelectionCount(count(), first.length);
      const expected = concatenated(first, others());
      const same = expected.length === result.length && expected.hash === result.hash;
      return same ? undefined : wrongSelection;
    };
  }

  async unique(keys: Column, distinct: Column, counts: Column, codec: KeyCodec): Promise<DeferredVerdict> {
    const sumOf = (from: Column, beside: Column, isResult: boolean) =>
      this.#sums('verify_unique', from, from.n, {}, (partials, perGroup) => [
        ...[bufferOf(from), bufferOf(beside), partials, u64(from.n), perGroup],
        ...[codecArgument(codec), u64(infinityBits(from.info)), u32(isResult ? 1 : 0)],
      ]);
    const before = await sumOf(keys, counts, false);
    const after = await sumOf(distinct, counts, true);
    return () => {
      const wrong = total(after, 1, 2);
      if (wrong !== 0n) return wrongDistinctKeys(wrong, distinct.n);
      const same = total(before, 0, 2) === total(after, 0, 2);
      return same ? undefined : wrongCounts;
    };
  }

  async top(
    keys: Column,
    { keys: top, positions, segments, k, codec, bits }: TopResult,
  ): Promise<DeferredVerdict> {
    const { queue, pool } = this.#device;
    const [n, m] = [keys.n, top.n];
    const whole = segments ? undefined : [pool.take(8), pool.take(8)];
    try {
      for (const [i, buffer] of (whole ?? []).entries())
        queue.write(buffer, Uint32Array.of(0, i === 0 ? n : m));
      const [offsets, begins] = whole ?? [
        bufferOf(segments?.offsets ?? top),
        bufferOf(segments?.begins ?? top),
      ];
      const count = segments ? segments.offsets.n - 1 : 1;
      const work = n + m + count;
      const make = (partials: Buffer, perGroup: KernelArgument): KernelArgument[] => [
        ...[
          bufferOf(keys),
          bufferOf(top),
          bufferOf(positions),
          offsets as Buffer,
          begins as Buffer,
          partials,
        ],
        ...[u64(n), u64(m), u32(count), u32(Math.min(k, 2 ** 32 - 1)), perGroup, codecArgument(codec)],
        ...[u32(bits[0]), u32(bits[1] - bits[0]), u32(segments?.fromSegment ? 1 : 0)],
      ];
      const sums = await this.#sums('verify_top', keys, work, {}, make, SEARCH_ITERATIONS);
      return () => {
        const [wrong, counted] = [total(sums, 0, 2), total(sums, 1, 2)];
        if (wrong !== 0n) return wrongTopKeys(wrong, m);
        return counted === BigInt(m) ? undefined : wrongTopCount(counted, m);
      };
    } finally {
      for (const buffer of whole ?? []) pool.give(buffer);
    }
  }

  /**
   * Enqueues the hash of the selected keys.
   *
   * @param invert whether to hash the other keys instead
   * @returns a function that returns their hash and number after the wait
   */
  async #sequence(
    { n, ...keys }: Column,
    selection: ColumnSelection | undefined,
    invert: boolean,
  ): Promise<() => Sequence> {
    const mask = selection && 'mask' in selection ? bufferOf(selection.mask) : undefined;
    const { low, high, not } =
      selection && 'low' in selection ? selection : { low: 0n, high: 0n, not: false };
    const defines = { CHOOSE: selection ? (mask ? 0 : 1) : 2 };
    const from = column(keys.dtype, n, keys.place);
    const sums = await this.#sums('verify_sequence', from, n, defines, (partials, perGroup) => [
      ...[bufferOf(from), mask ?? bufferOf(from), partials, u64(n), perGroup, u64(low), u64(high)],
      ...[u32(not !== invert ? 1 : 0), codecArgument(keyCodec(keys.dtype))],
    ]);
    return () => {
      let all = EMPTY_SEQUENCE;
      for (let i = 0; i < sums.length; i += 2) {
        all = concatenated(all, { hash: sums[i] as bigint, length: sums[i + 1] as bigint });
      }
      return all;
    };
  }

  async #sums(
    name: string,
    { info }: Column,
    n: number,
    defines: Readonly<Record<string, number>>,
    args: (partials: Buffer, perGroup: KernelArgument) => KernelArgument[],
    iterations = 1,
  ): Promise<BigUint64Array> {
    const shape = { KEY_BITS: info.width, VALUE_BYTES: 0, ...defines };
    const sums = await GroupSums.create(this.#device, name, shape);
    return sums.enqueue(n, args, { sumsPerGroup: 2, stage: name.replace('_', ' '), iterations });
  }
}

/** A sequence of keys: the polynomial of their hashes, and their number. */
interface Sequence {
  readonly hash: bigint;
  readonly length: bigint;
}

const EMPTY_SEQUENCE: Sequence = { hash: 0n, length: 0n };

const concatenated = (a: Sequence, b: Sequence): Sequence => ({
  hash: BigInt.asUintN(64, a.hash * powerOfBase(b.length) + b.hash),
  length: a.length + b.length,
});

/** Returns BASE to a power, modulo 2^64. */
function powerOfBase(exponent: bigint): bigint {
  let [power, square] = [1n, BASE];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) power = BigInt.asUintN(64, power * square);
    square = BigInt.asUintN(64, square * square);
  }
  return power;
}
