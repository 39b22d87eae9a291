import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Program } from '../device/programs/program.js';
import { type Queue, u32 } from '../device/queue/queue.js';
import type { AlgorithmShape, Enqueued, ScratchOptions, ScratchSizes, SortWork } from './algorithm.js';
import { digitsOf } from './digits.js';
import { FLAG_ENCODE, passBuffers, passFlags, passOutputs, passValues, scratchOf } from './passes.js';
import {
  beginSegments,
  type Cut,
  cutOf,
  FLAG_FROM_SEGMENT,
  offsetsOf,
  segmentArrays,
  segmentScratch,
  windowMask,
} from './segments.js';

const RADIX_BITS = 8;
/** Most keys that are sorted by insertion. */
const INSERTED = 32;
/** Segments that are sorted at once, one in each lane of vectors: cl/lane_sort.clh. */
const LANES = 16;
/**
 * Returns the most keys of a segment that is sorted in lanes. A network takes more comparators per key the longer
 * the segment is, and more time the more device vectors the lanes span.
 *
 * Measured with 1 vector (AVX-512, PoCL 3.1, u32, two cores): 4096 keys take 2.7 ns each, by digits 4.3; with
 * values 3.9, by digits 4.8. With 2 and 4 vectors proportionally longer segments are assumed. Keys of 8 bits with
 * values have one digit, by which 256 keys are sorted faster.
 */
function longestInLanes({ keyBits, valueBytes }: AlgorithmShape, vectorWords: number): number {
  return valueBytes > 0 && keyBits === 8 ? 128 : 256 * Math.min(Math.max(vectorWords, 1), LANES);
}

/** Lane element size over key size: with values, an element holds the key and its position in the segment. */
const keysOfWord = ({ keyBits, valueBytes }: AlgorithmShape): number =>
  valueBytes === 0 ? 1 : keyBits === 8 ? 4 : 2;

/** Keys of the runs that long segments are cut into: the bounds keep the shares of work-items balanced. */
const MIN_RUN_KEYS = 2 ** 16;
const MAX_RUN_KEYS = 2 ** 20;
/** Minimal number of times that a work-item fetches segments, so that all finish at about the same time. */
const TURNS = 64;
const MAX_TAKEN = 1024;

/** The segmented sort of CPU devices, see cl/serial_segments.cl: one work-item sorts a segment alone. */
export class SerialSegments {
  readonly longest = undefined;
  readonly #device: Device;
  readonly #shape: AlgorithmShape;
  readonly #program: Program;

  private constructor(device: Device, shape: AlgorithmShape, program: Program) {
    this.#device = device;
    this.#shape = shape;
    this.#program = program;
  }

  /** @throws BuildError */
  static async create(device: Device, shape: AlgorithmShape): Promise<SerialSegments> {
    const { keyBits, valueBytes } = shape;
    const program = await device.program('serial_segments.cl', {
      KEY_BITS: keyBits,
      VALUE_BYTES: valueBytes,
      RADIX_BITS,
      INSERTED,
      LANES_MAX_KEYS: longestInLanes(shape, device.capabilities.vectorWords),
    });
    return new SerialSegments(device, shape, program);
  }

  supports(): true | string {
    const { maxLoopIterations } = this.#device.capabilities.quirks;
    return maxLoopIterations === Number.POSITIVE_INFINITY || 'the driver ends the loops of a work-item';
  }

  scratch(n: number, options: ScratchOptions): ScratchSizes {
    const { keyBits, valueBytes } = this.#shape;
    const { longest } = options.segments ?? {};
    const cut = this.#cut(n, longest);
    const halves = this.#items * 2 * this.#half(n, longest);
    return {
      ...segmentScratch(this.#shape, n, options, { radixBits: RADIX_BITS, cut, alternates: cut.runs > 0 }),
      codes: (halves * keyBits) / 8,
      ...(valueBytes > 0 && { beside: halves * valueBytes }),
    };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, bits, codec, onStage } = work;
    const { segments, state, status } = beginSegments(queue, work);
    const { count, longest } = segments;
    const offsets = offsetsOf(segments);
    const digits = digitsOf(bits, RADIX_BITS);
    const arrays = segmentArrays(queue, this.#shape, digits.length, work);
    const { runKeys, runs } = this.#cut(n, longest);
    const owners = scratchOf(work, 'owners');
    const fromSegment = segments.fromSegment ? FLAG_FROM_SEGMENT : 0;
    const codecWords = codecArgument(codec);
    const items = { global: this.#items, local: 1 };

    const sizes = [u32(count), u32(n), u32(runKeys), u32(runs)];
    queue.run(this.#program.kernel('serial_check'), [offsets, state, owners, ...status, ...sizes], items);
    onStage?.({ kernel: 'serial_check', buffers: { state, owners } });
    const share = Math.min(MAX_TAKEN, Math.ceil(count / (this.#items * TURNS)));
    const step = n <= count * this.#lanesLongest ? Math.ceil(share / LANES) * LANES : share;
    queue.run(
      this.#program.kernel('serial_segments'),
      [
        ...passBuffers(arrays.only),
        scratchOf(work, 'codes'),
        ...(this.#shape.valueBytes > 0 ? [scratchOf(work, 'beside')] : []),
        ...[offsets, state, u32(count), u32(step), u32(runKeys), u32(this.#half(n, longest))],
        ...[u32(bits[0]), windowMask(this.#shape, bits), codecWords, u32(arrays.only.flags | fromSegment)],
      ],
      items,
    );
    onStage?.({ kernel: 'serial_segments', buffers: passOutputs(arrays.only) });
    if (runs === 0) return {};
    const counts = scratchOf(work, 'counts');
    for (const [pass, { shift, bits: width }] of digits.entries()) {
      const step = arrays.passes[pass];
      if (!step) break;
      const flags = passFlags(work, { first: pass === 0, last: pass === digits.length - 1 }) | fromSegment;
      const digit = [u32(runKeys), u32(shift), u32(width), codecWords];
      const launch = { ...items, pass };
      const listed = [offsets, state, owners, counts];
      queue.run(
        this.#program.kernel('serial_counts'),
        [step.from, ...listed, ...digit, u32(flags & FLAG_ENCODE)],
        launch,
      );
      onStage?.({ kernel: 'serial_counts', pass, buffers: { counts } });
      queue.run(this.#program.kernel('serial_places'), [...listed, u32(runKeys)], launch);
      onStage?.({ kernel: 'serial_places', pass, buffers: { counts } });
      const moved = [step.from, step.to, ...passValues(step), ...listed];
      queue.run(this.#program.kernel('serial_move'), [...moved, ...digit, u32(flags)], launch);
      onStage?.({ kernel: 'serial_move', pass, buffers: passOutputs(step) });
    }
    return {};
  }

  get #items(): number {
    return this.#device.capabilities.computeUnits;
  }

  #cut(n: number, longest?: number): Cut {
    const share = Math.ceil(n / (4 * this.#items));
    return cutOf(n, Math.min(MAX_RUN_KEYS, Math.max(MIN_RUN_KEYS, share)), { longest });
  }

  get #lanesLongest(): number {
    return longestInLanes(this.#shape, this.#device.capabilities.vectorWords);
  }

  /** Returns the elements of one half of a work-item's part of the scratch. */
  #half(n: number, longest = n): number {
    const maxKeys = Math.max(1, Math.min(n, longest));
    const vector = LANES * keysOfWord(this.#shape);
    const inLanes = (Math.min(maxKeys + LANES, this.#lanesLongest) * vector) / 2;
    const half = Math.max(inLanes, Math.min(maxKeys, this.#cut(n, longest).runKeys));
    return Math.ceil(half / vector) * vector;
  }
}
