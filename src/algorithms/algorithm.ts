import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import type { Queue } from '../device/queue.js';
import type { Dtype } from '../keys/dtype.js';
import type { KeyCodec } from '../keys/key-codec.js';

/** Bytes of each temporary buffer of an algorithm, by its name in the kernels. */
export type ScratchSizes = Readonly<Record<string, number>>;

/** What a program is compiled for. */
export interface AlgorithmShape {
  /** Bits of a key. */
  readonly keyBits: 8 | 16 | 32 | 64;
  /** Bytes of the value that travels with each key, 0 for keys alone. */
  readonly valueBytes: number;
  /** Algorithm-specific parameters: tile size, digit bits, forced scan chain, … */
  readonly tuning?: Readonly<Record<string, number | string | boolean>>;
}

/** A question to an algorithm: could you sort this? */
export interface SortRequest {
  readonly dtype: Dtype;
  readonly n: number;
  readonly bits: readonly [begin: number, end: number];
  readonly valueBytes: number;
  /** Must equal keys keep their order? */
  readonly stable: boolean;
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
  /** True, or the reason why not (for the matrix, the planner and error messages). */
  supports(request: SortRequest): true | string;
  scratch(n: number, options: { inPlace: boolean; bits: readonly [number, number] }): ScratchSizes;
  enqueue(queue: Queue, work: SortWork): Enqueued;
}

/** How an algorithm stands in the registry. */
export interface AlgorithmFactory {
  readonly name: string;
  /** Is equal-key order kept? */
  readonly stable: boolean;
  /** Do its work-groups wait for each other, which OpenCL does not promise to end? */
  readonly waits?: boolean;
  /** Fewest and most bits that its digits may be asked to have; left out where nobody can choose. */
  readonly radixBits?: readonly [least: number, most: number];
  /** Widths and values it can be compiled for on this device: true, or the reason why not. */
  available(device: Device, shape: AlgorithmShape): true | string;
  /** The shape with the parameters that suit n keys, or the reason why the algorithm is not for so many. */
  tune?(device: Device, shape: AlgorithmShape, n: number): AlgorithmShape | string;
  /** Compiles the programs. Rejects with BuildError. */
  create(device: Device, shape: AlgorithmShape): Promise<Algorithm>;
}

/** The shape with which an algorithm sorts n keys on a device, or the reason why it does not. */
export function tunedShape(
  factory: AlgorithmFactory,
  device: Device,
  shape: AlgorithmShape,
  n: number,
): AlgorithmShape | string {
  const available = factory.available(device, shape);
  return available === true ? (factory.tune?.(device, shape, n) ?? shape) : available;
}

/**
 * The buffers that each of `passes` out-of-place passes reads and writes, so that the last one writes
 * `output` and `input` survives unless it is the output.
 *
 * In place with an odd number of passes the first entry is a plain copy: `copyFirst` says so and the
 * passes start from `alternate`.
 */
export function pingPong<B>(
  passes: number,
  { input, output, alternate }: { input: B; output: B; alternate: B },
): { copyFirst: boolean; steps: { from: B; to: B }[] } {
  const copyFirst = input === output && passes % 2 === 1;
  let from = copyFirst ? alternate : input;
  const steps = Array.from({ length: passes }, (_, pass) => {
    const to = (passes - pass) % 2 === 1 ? output : alternate;
    const step = { from, to };
    from = to;
    return step;
  });
  return { copyFirst, steps };
}

/** What a status word says; its bits are those of cl/radix_tile.clh. @returns undefined for 0 */
export function whyGaveUp(status: number): string | undefined {
  if (status === 0) return undefined;
  return status & 1
    ? 'gave up (a bounded wait between its work-groups ran out)'
    : 'gave up (local memory did not serve the work-items of a row in order)';
}
