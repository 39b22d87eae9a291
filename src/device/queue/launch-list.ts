import type * as cl from '../../opencl/index.js';
import { UnsupportedError } from '../../util/errors.js';
import { Buffer } from '../memory/buffer.js';
import type { Capabilities } from '../platform/capabilities.js';
import type { Kernel } from '../programs/program.js';

/** A scalar by value. */
export interface Scalar {
  readonly type: 'uint' | 'int' | 'float' | 'ulong' | 'long' | 'double';
  readonly value: number | bigint;
}
export interface LocalMemory {
  readonly localBytes: number;
}
/** A vector or struct by value. */
export interface Vector {
  readonly bytes: Uint8Array;
}

export type KernelArgument = Buffer | Scalar | LocalMemory | Vector;

export const u32 = (value: number): KernelArgument => ({ type: 'uint', value });
export const i32 = (value: number): KernelArgument => ({ type: 'int', value });
export const f32 = (value: number): KernelArgument => ({ type: 'float', value });
export const f64 = (value: number): KernelArgument => ({ type: 'double', value });
export const u64 = (value: number | bigint): KernelArgument => ({ type: 'ulong', value });
export const i64 = (value: number | bigint): KernelArgument => ({ type: 'long', value });
export const local = (localBytes: number): KernelArgument => ({ localBytes });
/**
 * Returns a vector argument with a copy of the data.
 *
 * @param data at most 128 bytes
 */
export function vector(data: Uint8Array | Uint32Array | BigUint64Array): KernelArgument {
  // V8 allocates the memory of a small array only on demand, and that takes longer than this copy.
  const Data = data.constructor as new (memory: ArrayBuffer, offset: number, length: number) => Uint8Array;
  new Data(VECTOR_MEMORY, 0, data.length).set(data as Uint8Array); // stands for all three types
  return { bytes: VECTOR.slice(0, data.byteLength) };
}

export interface Launch {
  /** Work-items in each dimension. */
  readonly global: number | readonly number[];
  /** Work-items of a group in each dimension; default: chosen by the driver. */
  readonly local?: number | readonly number[];
  /** Name in the stage table; default: the kernel's name. */
  readonly stage?: string;
  /** Number of the pass that the launch belongs to. */
  readonly pass?: number;
}

export const listOf = (range: number | readonly number[]): readonly number[] =>
  typeof range === 'number' ? [range] : range;
const product = (range: readonly number[]): number => range.reduce((a, b) => a * b, 1);

/** @throws UnsupportedError when a work-group or its local memory exceeds the device's limit */
export function assertLaunchable(
  { reportsGroupLimit, maxWorkGroup, groupLocalBytes }: Capabilities,
  kernel: Kernel,
  args: readonly KernelArgument[],
  localSize: readonly number[] | null,
): void {
  const items = localSize === null ? 1 : product(localSize);
  const limit = reportsGroupLimit ? kernel.workGroupLimit : maxWorkGroup;
  if (items > limit) {
    throw new UnsupportedError(
      `cannot launch kernel ${kernel.name}: its work-groups have ${items} work-items, and the device allows ${limit}`,
    );
  }
  const bytes = args.reduce(
    (sum, arg) => sum + ('localBytes' in arg ? arg.localBytes : 0),
    kernel.localBytes,
  );
  if (bytes > groupLocalBytes) {
    throw new UnsupportedError(
      `cannot launch kernel ${kernel.name}: it needs ${bytes} bytes of local memory, and a work-group has ${groupLocalBytes}`,
    );
  }
}

const ARGUMENT = { buffer: 0, bytes: 1, local: 2 } as const;
/** Dimensions, a flag for the group size, three global and three local sizes, and the number of arguments. */
const LAUNCH_WORDS = 9;
const ARGUMENT_WORDS = 4;
/** The largest argument by value is a vector of 16 64-bit components; 8-byte scalars start on multiples of 8. */
const VALUE_BYTES = 128;

const VECTOR_MEMORY = new ArrayBuffer(VALUE_BYTES);
const VECTOR = new Uint8Array(VECTOR_MEMORY);

/**
 * Kernel launches that wait for submission in one call to the driver.
 *
 * Arguments that a kernel already has are not set again.
 */
export class LaunchList {
  #words = new Float64Array(1024);
  #bytes = new DataView(new ArrayBuffer(2048));
  #count = 1;
  #used = 0;
  #kernels: Kernel[] = [];
  #memory: Buffer[] = [];

  /** Number of launches. */
  get length(): number {
    return this.#kernels.length;
  }

  add(
    kernel: Kernel,
    args: readonly KernelArgument[],
    global: readonly number[],
    local: readonly number[] | null,
  ): void {
    this.#reserve(args.length);
    const words = this.#words;
    let at = this.#count;
    words[at++] = global.length;
    words[at++] = local === null ? 0 : 1;
    for (const size of global) words[at++] = size;
    if (local !== null) for (const size of local) words[at++] = size;
    const argumentCount = at++;
    let changed = 0;
    for (let i = 0; i < args.length; i++) {
      const arg = args[i] as KernelArgument;
      if (isSameArgument(arg, kernel.bound[i])) continue;
      kernel.bound[i] = arg;
      changed++;
      words[at++] = i;
      if (arg instanceof Buffer) {
        words[at++] = ARGUMENT.buffer;
        words[at++] = this.#memory.length;
        words[at++] = 0;
        this.#memory.push(arg);
      } else if ('localBytes' in arg) {
        words[at++] = ARGUMENT.local;
        words[at++] = arg.localBytes;
        words[at++] = 0;
      } else {
        words[at++] = ARGUMENT.bytes;
        words[at++] = this.#used;
        words[at++] = this.#writeValue(arg);
      }
    }
    words[argumentCount] = changed;
    this.#count = at;
    this.#kernels.push(kernel);
  }

  /**
   * Removes the launches and returns them in the form that `enqueueKernels` expects. They are valid until the next
   * `add`.
   *
   * @returns the launches; if their submission fails, `forget` clears the kernels' arguments, which are then unknown
   */
  take(): cl.Launches & { forget(): void } {
    const [kernels, memory] = [this.#kernels, this.#memory];
    const list = {
      words: this.#words,
      count: this.#count,
      kernels: kernels.map(({ handle }) => handle),
      memory: memory.map(({ handle }) => handle),
      bytes: new Uint8Array(this.#bytes.buffer, 0, this.#used),
      forget: () => {
        for (const { bound } of kernels) bound.length = 0;
      },
    };
    this.#kernels = [];
    this.#memory = [];
    this.#count = 1;
    this.#used = 0;
    return list;
  }

  /** Copies an argument by value. @returns its length in bytes */
  #writeValue(arg: Scalar | Vector): number {
    const at = this.#used;
    this.#used += 'bytes' in arg ? Math.ceil(arg.bytes.length / 8) * 8 : 8;
    if ('bytes' in arg) {
      new Uint8Array(this.#bytes.buffer, at).set(arg.bytes);
      return arg.bytes.length;
    }
    return writeScalar(this.#bytes, at, arg);
  }

  /** Grows the storage for one more launch. */
  #reserve(args: number): void {
    const words = this.#count + LAUNCH_WORDS + args * ARGUMENT_WORDS;
    if (words > this.#words.length) {
      const larger = new Float64Array(2 * words);
      larger.set(this.#words.subarray(0, this.#count));
      this.#words = larger;
    }
    const bytes = this.#used + args * VALUE_BYTES;
    if (bytes > this.#bytes.byteLength) {
      const larger = new Uint8Array(2 * bytes);
      larger.set(new Uint8Array(this.#bytes.buffer, 0, this.#used));
      this.#bytes = new DataView(larger.buffer);
    }
  }
}

/** All known OpenCL hosts are little-endian. */
function writeScalar(view: DataView, at: number, { type, value }: Scalar): number {
  switch (type) {
    case 'uint':
      view.setUint32(at, Number(value), true);
      return 4;
    case 'int':
      view.setInt32(at, Number(value), true);
      return 4;
    case 'float':
      view.setFloat32(at, Number(value), true);
      return 4;
    case 'double':
      view.setFloat64(at, Number(value), true);
      return 8;
    default:
      write64(view, at, value);
      return 8;
  }
}

function write64(view: DataView, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    view.setBigInt64(at, BigInt.asIntN(64, value), true);
  } else {
    // Two 32-bit halves, since a BigInt costs more than the rest of an argument.
    view.setUint32(at, value >>> 0, true);
    view.setInt32(at + 4, Math.floor(value / 2 ** 32), true);
  }
}

/** Whether `arg` equals the argument that `before` has set, so that it need not be set again. */
function isSameArgument(arg: KernelArgument, before: unknown): boolean {
  if (arg === before) return true;
  if (arg instanceof Buffer || before === undefined || before instanceof Buffer) return false;
  if ('value' in arg) {
    const last = before as Partial<Scalar>;
    return last.type === arg.type && last.value === arg.value;
  }
  if ('localBytes' in arg) return (before as Partial<LocalMemory>).localBytes === arg.localBytes;
  const last = (before as Partial<Vector>).bytes;
  return last?.length === arg.bytes.length && arg.bytes.every((byte, i) => byte === last[i]);
}
