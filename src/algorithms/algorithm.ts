import type { Buffer } from '../device/buffer.js';
import type { Device, KnownDevice } from '../device/device.js';
import type { Queue } from '../device/queue.js';
import type { StatusSlot } from '../device/status-words.js';
import type { Dtype } from '../keys/dtype.js';
import type { KeyCodec } from '../keys/key-codec.js';
import { checkTuning, type Parameters, type Tuning, type Value } from './parameters.js';

/** Bytes of each temporary buffer of an algorithm, by its name in the kernels. */
export type ScratchSizes = Readonly<Record<string, number>>;

/** What a program is compiled for. */
export interface AlgorithmShape {
  /** Bits of a key. */
  readonly keyBits: 8 | 16 | 32 | 64;
  /** Bytes of the value that travels with each key, 0 for keys alone. */
  readonly valueBytes: number;
  /** Values of the algorithm's parameters; those that are left out are as tuned. */
  readonly tuning?: Tuning;
}

/** A question to an algorithm: could you sort this? */
export interface SortRequest {
  readonly dtype: Dtype;
  readonly n: number;
  readonly bits: readonly [begin: number, end: number];
  readonly valueBytes: number;
}

/** What scratch depends on besides the number of keys. */
export interface ScratchOptions {
  readonly inPlace: boolean;
  readonly bits: readonly [begin: number, end: number];
  readonly segments?: SegmentCount;
}

/** How many segments there are, as far as an algorithm has to know beforehand. */
export interface SegmentCount {
  readonly count: number;
  /** No segment has more keys; left out where nobody knows. */
  readonly longest?: number;
}

/** Segments of an array, each to be sorted by itself. */
export interface Segments extends SegmentCount {
  /**
   * `count` + 1 words: where each segment begins, and at last where they end. Only the device knows whether they are right.
   * Left out where every segment has `longest` keys, and the algorithm `sortsRows` of so many.
   */
  readonly offsets?: Buffer;
  /** Gets the complement of the number of the first offset that is wrong, if one is: the output must not be used then. */
  readonly slot?: StatusSlot;
  /** The positions that an argsort makes are counted from the beginning of each segment. */
  readonly fromSegment?: boolean;
}

/** One sort, as handed to `enqueue`. Every buffer belongs to the caller. */
export interface SortWork {
  /** Number of keys. */
  readonly n: number;
  /** n keys; only read, unless it is also `output`. */
  readonly input: Buffer;
  /** Room for n keys; may be `input` (in place). */
  readonly output: Buffer;
  /** n values; may be left out where `output` values are wanted for `indices`. */
  readonly inputValues?: Buffer;
  readonly outputValues?: Buffer;
  /** The values are the positions 0 … n-1 of the keys, made by the first pass: argsort. */
  readonly indices?: boolean;
  readonly codec: KeyCodec;
  /** Window of code bits to sort on; begin = end leaves the order as it is. */
  readonly bits: readonly [begin: number, end: number];
  /** Segments to be sorted each by itself, by an algorithm that goes `bySegments`. */
  readonly segments?: Segments;
  /** A buffer for each entry of `scratch(n)`. */
  readonly scratch: Readonly<Record<string, Buffer>>;
  /**
   * Called right after a kernel was enqueued, with the buffers that it wrote: `explain` and the stage
   * tests enqueue reads of them here.
   */
  readonly onStage?: (stage: Stage) => void;
}

export interface Stage {
  /** Name of the kernel. */
  readonly kernel: string;
  /** Counts the digits (or phases) of the sort from 0; undefined outside of passes. */
  readonly pass?: number;
  /** What the kernel wrote, by the name of its parameter. */
  readonly buffers: Readonly<Record<string, Buffer>>;
}

/** What `enqueue` hands back. */
export interface Enqueued {
  /**
   * One u32 word that the caller reads after the final wait: not 0 means that the algorithm gave up
   * (`whyGaveUp` tells why) and the output must not be used; another algorithm sorts instead.
   */
  readonly status?: Buffer;
  /**
   * Byte of `status` where a word stands that has the bits of all launches since it was 0, this one included: many
   * sorts that nobody waits for in between are told of by one reading of it.
   */
  readonly anyAt?: number;
}

/**
 * A sort on one device, compiled for one shape.
 *
 * `enqueue` never waits, never allocates and never touches host memory; commands run in the order of the
 * queue, so one wait at the end is enough.
 */
export interface Algorithm {
  readonly name: string;
  readonly device: Device;
  readonly shape: AlgorithmShape;
  /** Most keys of a segment; left out where segments may have any number, and the array need not have any. */
  readonly longest?: number | undefined;
  /** True, or the reason why not (for the matrix, the planner and error messages). */
  supports(request: SortRequest): true | string;
  scratch(n: number, options: ScratchOptions): ScratchSizes;
  /** Does it sort n keys in rows of `each` without being told where they begin? Default: no. */
  sortsRows?(n: number, each: number): boolean;
  enqueue(queue: Queue, work: SortWork): Enqueued;
  /**
   * Did it gain by what it looks for, the last times? Asked once for each sort that may go to another algorithm instead. Default: yes.
   */
  pays?(): boolean;
  /** Hears, when a sort is done, the word behind that at `anyAt` of its status. */
  learn?(word: number): void;
}

/** What a plan and a report show of how an algorithm goes about a sort, by name. */
export type Facts = Readonly<Record<string, Value>>;

/** For which sorts parameters are searched. */
export interface SearchSizes {
  /** Kinds of devices whose common sorts use the algorithm. */
  readonly on: readonly ('cpu' | 'gpu')[];
  /** Widths of keys that it is for. Default: all. */
  readonly keyBits?: readonly number[];
  /** Numbers of keys that are measured, and for which numbers the result is: the first ones matter most. */
  readonly sizes: readonly { readonly n: number; readonly over?: number; readonly max?: number }[];
}

/** How an algorithm stands in the registry: all that others need to know of it. */
export interface AlgorithmFactory {
  readonly name: string;
  /** What can be chosen of it. */
  readonly parameters: Parameters;
  /** Kinds of devices on which the planner takes it by itself, in the order of the registry; default: none. */
  readonly plannedOn?: readonly ('cpu' | 'gpu')[];
  /** Fewest keys for which it does; default: any. */
  readonly plannedFrom?: number;
  /** Does it take a pass for each digit of the window, so that constant ones are worth leaving out? */
  readonly byDigits?: boolean;
  /** Does it find out by itself, on the device, which of them those are? */
  readonly skipsConstantDigits?: boolean;
  /** What `clsort tune` searches; left out where there is nothing to gain. */
  readonly search?: SearchSizes;
  /** Does it sort segments, each by itself? */
  readonly bySegments?: boolean;
  /** Lengths for which it has programs of their own, where no segment is known to be longer. Default: none. */
  readonly bounds?: readonly number[];
  /** Is equal-key order kept? */
  readonly stable: boolean;
  /** Do its work-groups wait for each other, which OpenCL does not promise to end? */
  readonly waits?: boolean;
  /** Widths and values it can be compiled for on this device: true, or the reason why not. */
  available(device: KnownDevice, shape: AlgorithmShape): true | string;
  /** Parameters for n keys on a GPU for which nobody has measured any; see tile-model.ts. */
  modelled?(device: KnownDevice, shape: AlgorithmShape, n: number): Tuning;
  /** Parameters as the device can hold them: what does not fit is made smaller. */
  fit?(device: KnownDevice, shape: AlgorithmShape, tuning: Tuning): Tuning;
  /**
   * The shape with the parameters that suit n keys, or the reason why the algorithm is not for so many.
   *
   * @param longest no segment has more keys, if that is known
   */
  tune?(device: KnownDevice, shape: AlgorithmShape, n: number, longest?: number): AlgorithmShape | string;
  /** What a plan shows of a sort of n keys. @throws UsageError when the parameters are not for so many */
  facts?(shape: AlgorithmShape, n: number): Facts;
  /** Compiles the programs. Rejects with BuildError. */
  create(device: Device, shape: AlgorithmShape): Promise<Algorithm>;
}

/**
 * The shape with which an algorithm sorts n keys on a device, or the reason why it does not.
 *
 * @param longest no segment has more keys, if that is known
 * @throws UsageError when the shape's tuning is not for the algorithm
 */
export function tunedShape(
  factory: AlgorithmFactory,
  device: KnownDevice,
  shape: AlgorithmShape,
  n: number,
  longest?: number,
): AlgorithmShape | string {
  checkTuning(factory, shape.tuning ?? {});
  const available = factory.available(device, shape);
  return available === true ? (factory.tune?.(device, shape, n, longest) ?? shape) : available;
}

/** What a status word says; its bits are those of cl/radix_tile.clh. @returns undefined for 0 */
export function whyGaveUp(status: number): string | undefined {
  if (status === 0) return undefined;
  return status & 1
    ? 'gave up (a bounded wait between its work-groups ran out)'
    : 'gave up (local memory did not serve the work-items of a row in order)';
}
