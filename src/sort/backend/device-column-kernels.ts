import { codecArgument } from '../../device/codec-argument.js';
import type { Device } from '../../device/device.js';
import { roundUpToGroups } from '../../device/fitted-program.js';
import type { Buffer } from '../../device/memory/buffer.js';
import { ballotDefine } from '../../device/programs/program-source.js';
import { type KernelArgument, u32, u64 } from '../../device/queue/queue.js';
import { type StatusSlot, StatusWords } from '../../device/status-words.js';
import { infinityBits } from '../../keys/dtype.js';
import type { KeyCodec } from '../../keys/key-codec.js';
import { Compaction } from '../../primitives/compact.js';
import { Gathers } from '../../primitives/gather.js';
import { createGatherColumns } from '../../primitives/gather-columns.js';
import { buildForGroups, gridStrideGroups } from '../../primitives/group.js';
import type { ReduceOp, ScanOp } from '../../primitives/possible.js';
import { PrefixScan } from '../../primitives/prefix-scan.js';
import type { PrimitiveTuning } from '../../primitives/primitive-program.js';
import { digitsOf, SELECT_BITS } from '../../primitives/rank-select.js';
import { enqueueReduce } from '../../primitives/reduce.js';
import { enqueueTopShort } from '../../primitives/top-short.js';
import { UnsupportedError } from '../../util/errors.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import { bufferOf, type Column } from '../model/column.js';
import type { ColumnKernel, DeviceContext } from './column-kernel.js';
import type {
  ColumnKernels,
  KeyHeads,
  MovedKeys,
  SelectedKeys,
  SelectedSegments,
  TopShort,
} from './column-kernels.js';
import {
  CANDIDATES_SHARE,
  LONG_SEGMENT,
  MAX_RANKED,
  MIN_CANDIDATES,
  type RanksBy,
  ranksBy,
  SELECTING_GROUP,
  SELECTING_GROUPS_PER_UNIT,
} from './policy.js';
import { type Primitive, primitiveTuningFor } from './primitive-tuning.js';

/** Bytes of the record that cl/top_few.cl keeps for each pass. */
const STATE_BYTES = 64;

/** Work-items that rank one of the first keys, as in cl/top_few.cl; fewer in a smaller group. */
const RANKERS = 16;

/** Returns the limits of a radix select that lists candidates among n keys. */
export const selectionLimits = ({ capabilities }: Device, n: number) => ({
  capacity: Math.max(MIN_CANDIDATES, Math.ceil(n * CANDIDATES_SHARE)),
  groups: capabilities.computeUnits * SELECTING_GROUPS_PER_UNIT,
});

const NO_OVERRIDES: Partial<PrimitiveTuning> = {};

/** Returns the largest index out of range that a gather found, or undefined. */
const indexOutOfRange = (slot: StatusSlot, length: number): number | undefined => {
  const beyond = slot.word();
  return beyond === 0 ? undefined : length - 1 + beyond;
};

/**
 * Column kernels on the device: cl/canonical.cl, gather.cl, segment.cl, unique.cl, top_k.cl, top_few.cl,
 * top_segments.cl, select_segments.cl and the kernels of primitives.
 */
export class DeviceColumnKernels implements ColumnKernels, DeviceContext {
  readonly device: Device;
  readonly ranksBy: RanksBy;
  readonly writesWidePositions = false;
  readonly #tuningOverrides: Partial<PrimitiveTuning>;

  /**
   * @param tuningOverrides for measurements: parameters of primitives that replace those of the device; default none
   */
  constructor(device: Device, tuningOverrides: Partial<PrimitiveTuning> = NO_OVERRIDES) {
    this.device = device;
    this.ranksBy = ranksBy(device.capabilities.type === 'cpu' ? 'histograms' : 'kernel');
    this.#tuningOverrides = tuningOverrides;
  }

  run<A extends readonly unknown[], R>(kernel: ColumnKernel<A, R>, ...args: A): MaybePromise<R> {
    if (kernel.device) return kernel.device(this, ...args);
    return kernel.load().then((form) => {
      kernel.device = form;
      return form(this, ...args);
    });
  }

  async canonical(from: Column, to: Column): Promise<void> {
    const args = [bufferOf(from), bufferOf(to), u64(from.n), u64(infinityBits(from.info))];
    const shape = { KEY_BITS: from.info.width, VALUE_BYTES: 0 };
    await this.#runPerElement('canonical.cl', 'canonical', shape, from.n, args);
  }

  async appendCodes(from: Column, codec: KeyCodec, to: Column, shift: number, first: boolean): Promise<void> {
    const shape = { KEY_BITS: from.info.width, VALUE_BYTES: 0, PACKED_BITS: to.info.width };
    const how = [u64(infinityBits(from.info)), u32(shift), u32(first ? 1 : 0), codecArgument(codec)];
    const args = [bufferOf(from), bufferOf(to), u64(from.n), ...how];
    await this.#runPerElement('append_code.cl', 'append_code', shape, from.n, args);
  }

  async gather(from: Column, positions: Column, to: Column): Promise<void> {
    await this.gatherRows([from], positions, [to]);
  }

  gatherRows(
    from: readonly Column[],
    positions: Column,
    to: readonly Column[],
  ): MaybePromise<() => number | undefined> {
    const [first, out] = [from[0] as Column, to[0] as Column];
    const where = { indices: bufferOf(positions), n: out.n, length: first.n };
    const indexBits = positions.info.width === 64 ? 64 : 32;
    const checked = (gather: (slot: StatusSlot) => void): (() => number | undefined) => {
      const slot = StatusWords.zeroed(this.device); // nothing may wait between this and the kernel that writes to it
      gather(slot);
      return () => indexOutOfRange(slot, first.n);
    };
    if (from.length === 1) {
      // The program for one column compiles faster.
      const gathersReady = Gathers.of(this.device, first.info.bytes, indexBits);
      const [input, output] = [bufferOf(first), bufferOf(out)];
      return chain(gathersReady, (gathers) =>
        checked((slot) => gathers.enqueue({ input, output, ...where, slot })),
      );
    }
    const columns = from.map((one, i) => ({
      input: bufferOf(one),
      output: bufferOf(to[i] as Column),
      elementBytes: one.info.bytes,
    }));
    return createGatherColumns(this.device, indexBits).then((gather) =>
      checked((slot) => gather({ columns, ...where, slot })),
    );
  }

  async segmentIds(begins: Column, ids: Column, positions?: Column): Promise<void> {
    const at = positions ? [bufferOf(positions)] : [];
    const args = [bufferOf(begins), bufferOf(ids), ...at, u64(ids.n), u32(begins.n)];
    await this.#runPerElement('segment.cl', positions ? 'segment_ids_at' : 'segment_ids', {}, ids.n, args);
  }

  async subtractBegins(positions: Column, ids: Column, offsets: Column): Promise<void> {
    const args = [bufferOf(positions), bufferOf(ids), bufferOf(offsets), u64(ids.n)];
    await this.#runPerElement('segment.cl', 'subtract_begins', {}, ids.n, args);
  }

  async distinct(sorted: Column, { keys, places }: KeyHeads, moved?: MovedKeys): Promise<() => number> {
    const { n } = sorted;
    const heads = await Compaction.create(this.device, {
      dtype: sorted.dtype,
      by: moved ? 'moved heads' : 'heads',
      tuning: this.tuning('unique', sorted),
    });
    const to = {
      keys: bufferOf(keys),
      places: bufferOf(places),
      ...(moved && { moved: { input: bufferOf(moved.input), positions: bufferOf(moved.positions) } }),
    };
    return heads.enqueue({ keys: bufferOf(sorted), n, choice: 'heads', to });
  }

  async counts(places: Column, n: number, to: Column): Promise<void> {
    const args = [bufferOf(places), bufferOf(to), u64(to.n), u64(n)];
    await this.#runPerElement('unique.cl', 'unique_counts', { KEY_BITS: 32, VALUE_BYTES: 0 }, to.n, args);
  }

  async select(keys: Column, codec: KeyCodec, to: SelectedKeys): Promise<void> {
    const { n, info } = keys;
    const { queue } = this.device;
    const kernels = ['select_count', 'select_digit', 'select_sums', 'select_offsets', 'select_write'];
    const ballot = ballotDefine(this.device.capabilities.hasBallot);
    const shape = { KEY_BITS: info.width, VALUE_BYTES: 0, SELECT_BITS, ...ballot };
    const { program, groupSize } = await buildForGroups(this.device, 'top_k.cl', kernels, shape);
    const groups = gridStrideGroups(this.device, n, groupSize);
    const perGroup = Math.ceil(n / (groups * groupSize)) * groupSize;
    const launch = { global: groups * groupSize, local: groupSize };
    const one = { global: groupSize, local: groupSize };
    const sizes = [16, 4 << SELECT_BITS, groups * 8];
    await this.#withScratch(sizes, async ([state, counts, sums]) => {
      if (!state || !counts || !sums)
        throw new UnsupportedError('cannot select keys: scratch memory is missing');
      const input = bufferOf(keys);
      const code = codecArgument(codec);
      queue.write(state, BigUint64Array.of(0n, BigInt(to.keys.n - 1)));
      queue.fill(counts, 0, { bytes: 4 << SELECT_BITS });
      for (const { at: shift, bits } of digitsOf(info.width, 0)) {
        const args = [input, state, counts, u64(n), u32(shift), u32(bits), code];
        queue.run(program.kernel('select_count'), args, launch);
        queue.run(program.kernel('select_digit'), [state, counts, u32(shift)], one);
      }
      queue.run(program.kernel('select_sums'), [input, state, sums, u64(n), u64(perGroup), code], launch);
      queue.run(program.kernel('select_offsets'), [sums, u32(groups * 2)], one);
      const selected = [bufferOf(to.keys), bufferOf(to.positions)];
      const args = [input, state, sums, ...selected, u64(n), u64(perGroup), code];
      queue.run(program.kernel('select_write'), args, launch);
    });
  }

  async selectSorted(keys: Column, codec: KeyCodec, to: SelectedKeys): Promise<boolean> {
    const { n, info } = keys;
    const k = to.keys.n;
    const { queue, capabilities } = this.device;
    if (k > (capabilities.type === 'cpu' ? MAX_RANKED.cpu : MAX_RANKED.gpu)) return false;
    const { program, groupSize: local } = await buildForGroups(
      this.device,
      'top_few.cl',
      ['few_pass', 'few_rank'],
      {
        KEY_BITS: info.width,
        VALUE_BYTES: 0,
        SELECT_BITS,
        ...ballotDefine(this.device.capabilities.hasBallot),
      },
      { groupSize: SELECTING_GROUP },
    );
    const digits = [...digitsOf(info.width, 32), ...digitsOf(Math.ceil(Math.log2(n)), 0), { at: 0, bits: 0 }];
    const { capacity, groups: maxGroups } = selectionLimits(this.device, n);
    const countBytes = 4 * ((1 << SELECT_BITS) + 1) * digits.length;
    const sizes = [digits.length * STATE_BYTES, countBytes, 2 * capacity * info.bytes, 2 * capacity * 4];
    await this.#withScratch(sizes, async ([states, counts, listKeys, listPositions]) => {
      if (!states || !counts || !listKeys || !listPositions)
        throw new UnsupportedError('cannot select keys: scratch memory is missing');
      const code = codecArgument(codec);
      queue.fill(counts, 0, { bytes: countBytes });
      const groups = Math.min(gridStrideGroups(this.device, n, local), maxGroups);
      let before = 32 + info.width;
      for (const [pass, { at, bits }] of digits.entries()) {
        const where = [bufferOf(keys), states, counts, listKeys, listPositions];
        const how = [u64(n), u64(k), u64(capacity), u32(pass), u32(before), u32(at), u32(bits), code];
        queue.run(program.kernel('few_pass'), [...where, ...how], { global: groups * local, local });
        before = at;
      }
      const last = [states, u32(digits.length - 1), listKeys, listPositions];
      const args = [...last, bufferOf(to.keys), bufferOf(to.positions), u32(k), u64(capacity), code];
      queue.run(program.kernel('few_rank'), args, {
        global: roundUpToGroups(k * Math.min(RANKERS, local), local),
        local,
      });
    });
    return true;
  }

  reduce(keys: Column, op: ReduceOp): MaybePromise<() => number | bigint> {
    const { n, dtype } = keys;
    const tuning = this.tuning('reduce', keys);
    return enqueueReduce(this.device, { keys: bufferOf(keys), n, dtype, op, tuning });
  }

  scan(from: Column, to: Column, op: ScanOp, inclusive: boolean): MaybePromise<void> {
    const { n, dtype } = from;
    const [input, output] = [bufferOf(from), bufferOf(to)];
    const shape = { dtype, op, tuning: this.tuning('scan', from), inParts: input === output };
    const scanReady = PrefixScan.create(this.device, shape);
    return chain(scanReady, (scan) => scan.enqueue({ input, output, n, inclusive }));
  }

  async topCounts(offsets: Column, k: number, n: number, to: Column): Promise<() => boolean> {
    const { program, groupSize: local } = await buildForGroups(
      this.device,
      'top_segments.cl',
      ['top_counts'],
      {},
    );
    const slot = StatusWords.zeroed(this.device); // nothing may wait between this and the kernel that writes to it
    const how = [u64(offsets.n - 1), u32(Math.min(k, 2 ** 32 - 1)), u64(n), slot.buffer, u32(slot.firstWord)];
    const global = roundUpToGroups(offsets.n, local);
    const args = [bufferOf(offsets), bufferOf(to), ...how];
    this.device.queue.run(program.kernel('top_counts'), args, { global, local });
    return () => slot.word() === 0;
  }

  async selectSegments(
    keys: Column,
    codec: KeyCodec,
    { offsets, begins, meanLength }: SelectedSegments,
    to: SelectedKeys,
  ): Promise<void> {
    const { type, quirks, hasBallot } = this.device.capabilities;
    const segments = offsets.n - 1;
    // On a CPU, work-items are iterations of a loop. Long segments need the largest group.
    const isAlone = type === 'cpu' && !Number.isFinite(quirks.maxLoopIterations);
    const maxGroupSize = isAlone ? 1 : meanLength < LONG_SEGMENT ? 256 : 1024;
    const { program, groupSize: local } = await buildForGroups(
      this.device,
      'select_segments.cl',
      ['select_segments'],
      { KEY_BITS: keys.info.width, VALUE_BYTES: 0, ...ballotDefine(hasBallot) },
      { groupSize: maxGroupSize },
    );
    const buffers = [keys, offsets, begins, to.keys, to.positions].map(bufferOf);
    const args = [...buffers, u64(keys.n), codecArgument(codec)];
    this.device.queue.run(program.kernel('select_segments'), args, { global: segments * local, local });
  }

  topShort({ keys, codec, offsets, longest, k, begins, to, ...how }: TopShort): MaybePromise<void> {
    const segments = begins.n - 1;
    const where = offsets
      ? { offsets: bufferOf(offsets), begins: bufferOf(begins), segments, longest }
      : { row: longest, begins: bufferOf(begins), segments };
    return enqueueTopShort(this.device, {
      ...{ keys: bufferOf(keys), n: keys.n, width: keys.info.width, codec, segments: where, k },
      ...{ first: bufferOf(to.keys), positions: bufferOf(to.positions), ...how },
    });
  }

  async topPositions(order: Column, offsets: Column, begins: Column, to: Column): Promise<void> {
    const buffers = [order, offsets, begins, to].map(bufferOf);
    const args = [...buffers, u64(to.n), u64(order.n), u32(offsets.n - 1)];
    await this.#runPerElement('top_segments.cl', 'top_positions', {}, to.n, args);
  }

  tuning(primitive: Primitive, { dtype, n }: Pick<Column, 'dtype' | 'n'>): PrimitiveTuning {
    const tuning = primitiveTuningFor(this.device, primitive, dtype, n);
    return this.#tuningOverrides === NO_OVERRIDES ? tuning : { ...tuning, ...this.#tuningOverrides };
  }

  /** Enqueues a kernel with one work-item for each of n elements. */
  async #runPerElement(
    file: string,
    kernel: string,
    shape: Readonly<Record<string, number>>,
    n: number,
    args: readonly KernelArgument[],
  ): Promise<void> {
    const { program, groupSize } = await buildForGroups(this.device, file, [kernel], shape);
    const global = roundUpToGroups(n, groupSize);
    this.device.queue.run(program.kernel(kernel), args, { global, local: groupSize });
  }

  /** Runs `use` with scratch buffers. The pool may reuse them while commands on them are in flight. */
  async #withScratch<T>(
    sizes: readonly number[],
    use: (buffers: readonly Buffer[]) => Promise<T>,
  ): Promise<T> {
    const { pool } = this.device;
    const taken: Buffer[] = [];
    try {
      for (const bytes of sizes) taken.push(pool.take(bytes));
      return await use(taken);
    } finally {
      for (const buffer of taken) pool.give(buffer);
    }
  }
}
