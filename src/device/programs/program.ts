import * as cl from '../../opencl/index.js';
import { BuildError, UnsupportedError } from '../../util/errors.js';
import { publishPreparation } from '../../util/preparation-channel.js';
import { toNumber } from '../platform/platform.js';
import { statusOf, typedError } from '../platform/status.js';
import type { ProgramCache, ProgramText } from './program-cache.js';

/** A kernel of a built program, with the limits that the compiler reports. */
export class Kernel {
  readonly name: string;
  readonly handle: cl.Kernel;
  /** Maximum work-group size of this kernel on this device. */
  readonly workGroupLimit: number;
  /** Bytes of local memory that the kernel declares itself. */
  readonly localBytes: number;
  readonly #device: cl.Device;
  /** Last value of each argument, so that equal arguments are not set again. */
  readonly bound: unknown[] = [];

  constructor(program: cl.Program, name: string, device: cl.Device) {
    this.name = name;
    this.#device = device;
    this.handle = cl.createKernel(program, name);
    const query = (what: number) => toNumber(cl.getKernelWorkGroupInfo(this.handle, device, what));
    try {
      this.workGroupLimit = query(cl.KERNEL_WORK_GROUP_SIZE);
      this.localBytes = query(cl.KERNEL_LOCAL_MEM_SIZE);
    } catch (error) {
      cl.releaseAsync(this.handle);
      throw error;
    }
  }

  /**
   * Returns the sub-group size in work-items for groups of `groupSize`.
   *
   * @throws UnsupportedError when the driver does not report it, as before OpenCL 2.1
   */
  subGroupSize(groupSize: number): number {
    const what = cl.KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE;
    try {
      return toNumber(cl.getKernelSubGroupInfo(this.handle, this.#device, what, [groupSize]));
    } catch (cause) {
      throw new UnsupportedError(`cannot query the sub-group size: ${String(cause)}`, { cause });
    }
  }
}

/** Context and device of a program, and the cache of its binaries. */
export interface ProgramTarget {
  readonly context: cl.Context;
  readonly device: cl.Device;
  readonly cache?: ProgramCache | undefined;
}

/** A built program. Its kernels are created once and cached. */
export class Program {
  readonly #handle: cl.Program;
  readonly #device: cl.Device;
  readonly #kernels = new Map<string, Kernel>();
  /** Whether it was compiled from source or loaded from a binary. */
  readonly origin: 'source' | 'binary';

  private constructor(handle: cl.Program, device: cl.Device, origin: 'source' | 'binary') {
    this.#handle = handle;
    this.#device = device;
    this.origin = origin;
  }

  /**
   * Compiles a program without blocking the event loop, or loads the binary of an earlier compilation.
   *
   * @param cache omitted where binaries are not cached
   * @param name name of the program in error messages
   * @throws BuildError with `details.log` when the program does not compile
   */
  static build(target: ProgramTarget, text: ProgramText, name: string): Promise<Program> {
    return publishPreparation('build', name, () => Program.#build(target, text, name));
  }

  static async #build(
    { context, device, cache }: ProgramTarget,
    { source, options }: ProgramText,
    name: string,
  ): Promise<Program> {
    const known = await cache?.load({ source, options }, (binary) => Program.#load(context, device, binary));
    if (known) return known;
    let handle: cl.Program;
    try {
      handle = cl.createProgramWithSource(context, source);
    } catch (error) {
      throw typedError(error, `load ${name}`);
    }
    try {
      await cl.buildProgramAsync(handle, [device], options);
    } catch (error) {
      const log = buildLog(handle, device);
      cl.releaseAsync(handle);
      const status = statusOf(error);
      // -11 build failure, -43 invalid build options, -45 invalid executable: the program's fault, not the device's
      if (status !== -11 && status !== -43 && status !== -45) throw typedError(error, `build ${name}`);
      throw new BuildError(`cannot compile ${name} for this device:\n${log.trim() || String(error)}`, {
        cause: error,
        details: { program: name, options, log },
      });
    }
    const binary = cache && binaryOf(handle);
    if (binary) cache.save({ source, options }, binary);
    return new Program(handle, device, 'source');
  }

  /**
   * Loads a compiled binary.
   *
   * @throws OpenCLError when the driver rejects it
   */
  static async #load(context: cl.Context, device: cl.Device, binary: Uint8Array): Promise<Program> {
    const handle = cl.createProgramWithBinary(context, [device], [binary.length], [binary]);
    try {
      await cl.buildProgramAsync(handle, [device], ''); // the binary includes the options
      return new Program(handle, device, 'binary');
    } catch (error) {
      cl.releaseAsync(handle);
      throw error;
    }
  }

  /** Build log without surrounding space; empty if the compiler had no remarks. */
  get log(): string {
    return buildLog(this.#handle, this.#device).trim();
  }

  /** Names of all kernels that were compiled. */
  get kernelNames(): string[] {
    return String(cl.getProgramInfo(this.#handle, cl.PROGRAM_KERNEL_NAMES)).replaceAll('\0', '').split(';');
  }

  kernel(name: string): Kernel {
    let kernel = this.#kernels.get(name);
    if (!kernel) {
      try {
        kernel = new Kernel(this.#handle, name, this.#device);
      } catch (error) {
        throw typedError(error, `create kernel ${name}`);
      }
      this.#kernels.set(name, kernel);
    }
    return kernel;
  }

  release(): void {
    for (const kernel of this.#kernels.values()) cl.releaseAsync(kernel.handle);
    this.#kernels.clear();
    cl.releaseAsync(this.#handle);
  }
}

/** Returns the compiled binary; undefined if the driver does not provide it. */
function binaryOf(program: cl.Program): Uint8Array | undefined {
  try {
    const [binary] = cl.getProgramInfo(program, cl.PROGRAM_BINARIES) as unknown as readonly Uint8Array[];
    return binary && binary.length > 0 ? binary : undefined;
  } catch {
    return undefined;
  }
}

function buildLog(program: cl.Program, device: cl.Device): string {
  try {
    return String(cl.getProgramBuildInfo(program, device, cl.PROGRAM_BUILD_LOG)).replaceAll('\0', '');
  } catch {
    return '';
  }
}
