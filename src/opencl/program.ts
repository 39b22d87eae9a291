import { native } from './binding.js';
import type { Context, Device, Program } from './objects.js';
import type { HostMemory, InfoValue, Size } from './types.js';

type Devices = readonly Device[] | null | undefined;
type Notify = ((userData: unknown, program: Program) => void) | null;

/**
 * A program from OpenCL C. Calls clCreateProgramWithSource.
 *
 * @throws INVALID_CONTEXT, INVALID_VALUE for an empty source or what is no string
 */
export function createProgramWithSource(context: Context, source: string): Program {
  return native().createProgramWithSource(context, source);
}

/**
 * A program from what `getProgramInfo(program, PROGRAM_BINARIES)` gave. Calls clCreateProgramWithBinary.
 * A binary that was cut off is found out by the lengths in it, where the format is known (ELF, PoCL 3, rusticl).
 * Nothing else is checked: most drivers end the process when the contents are damaged, and a binary is a program
 * that runs with your rights. Keep a checksum and the driver's version with what you store, in a folder that
 * nobody else can write to.
 *
 * @param sizes bytes of each binary, one per device
 * @throws INVALID_CONTEXT, INVALID_DEVICE, INVALID_BINARY, INVALID_VALUE when the lists differ in length
 */
export function createProgramWithBinary(
  context: Context,
  devices: readonly Device[],
  sizes: readonly Size[],
  binaries: readonly HostMemory[],
): Program {
  return native().createProgramWithBinary(context, devices, sizes, binaries);
}

/**
 * A program from SPIR-V. Calls clCreateProgramWithIL (OpenCL 2.1).
 *
 * @throws INVALID_CONTEXT, INVALID_VALUE, INVALID_OPERATION where no device takes it
 */
export function createProgramWithIL(context: Context, il: HostMemory): Program {
  return native().createProgramWithIL(context, il);
}

/**
 * A program of kernels that devices bring. Calls clCreateProgramWithBuiltInKernels (OpenCL 1.2).
 *
 * @param names an array, or one string with semicolons
 * @throws INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE for a name that no device has
 */
export function createProgramWithBuiltInKernels(
  context: Context,
  devices: readonly Device[],
  names: readonly string[] | string,
): Program {
  return native().createProgramWithBuiltInKernels(context, devices, names);
}

/**
 * Adds a reference. Calls clRetainProgram.
 *
 * @throws INVALID_PROGRAM
 */
export function retainProgram(program: Program): 0 {
  return native().retainProgram(program);
}

/**
 * Gives a reference back. Calls clReleaseProgram.
 *
 * @throws INVALID_PROGRAM, also for a program that is released already
 */
export function releaseProgram(program: Program): 0 {
  return native().releaseProgram(program);
}

/**
 * Compiles and links. Calls clBuildProgram: with `notify` on another thread, without it here, which blocks
 * for as long as the compiler takes.
 *
 * @param devices by default all of the context
 * @param notify called with (userData, program) in the end, whether it failed or not: ask for
 *   `PROGRAM_BUILD_STATUS`
 * @throws BUILD_PROGRAM_FAILURE with `log`, INVALID_PROGRAM, INVALID_DEVICE, INVALID_BUILD_OPTIONS
 */
export function buildProgram(
  program: Program,
  devices?: Devices,
  options?: string | null,
  notify?: Notify,
  userData?: unknown,
): 0 {
  return native().buildProgram(program, devices, options, notify, userData);
}

/**
 * Compiles and links on another thread. Calls clBuildProgram.
 *
 * @throws (rejects) BUILD_PROGRAM_FAILURE with `log`, INVALID_PROGRAM, INVALID_DEVICE, INVALID_BUILD_OPTIONS
 */
export function buildProgramAsync(
  program: Program,
  devices?: Devices,
  options?: string | null,
): Promise<void> {
  return native().buildProgramAsync(program, devices, options);
}

/**
 * Compiles without linking. Calls clCompileProgram (OpenCL 1.2), on another thread if there is `notify`.
 *
 * @param headers programs whose sources are included by the names in `headerNames`
 * @throws COMPILE_PROGRAM_FAILURE with `log`, INVALID_PROGRAM, INVALID_COMPILER_OPTIONS, INVALID_VALUE
 */
export function compileProgram(
  program: Program,
  devices?: Devices,
  options?: string | null,
  headers?: readonly Program[] | null,
  headerNames?: readonly string[] | null,
  notify?: Notify,
  userData?: unknown,
): 0 {
  return native().compileProgram(program, devices, options, headers, headerNames, notify, userData);
}

/**
 * Compiles without linking, on another thread. Calls clCompileProgram (OpenCL 1.2).
 *
 * @throws (rejects) COMPILE_PROGRAM_FAILURE with `log`, INVALID_PROGRAM, INVALID_COMPILER_OPTIONS
 */
export function compileProgramAsync(
  program: Program,
  devices?: Devices,
  options?: string | null,
  headers?: readonly Program[] | null,
  headerNames?: readonly string[] | null,
): Promise<void> {
  return native().compileProgramAsync(program, devices, options, headers, headerNames);
}

/**
 * Links compiled programs. Calls clLinkProgram (OpenCL 1.2), here and now, since its result is the program;
 * `notify` is called on a later turn of the loop.
 *
 * @throws LINK_PROGRAM_FAILURE with `log`, INVALID_CONTEXT, INVALID_PROGRAM, INVALID_LINKER_OPTIONS
 */
export function linkProgram(
  context: Context,
  devices: Devices,
  options: string | null | undefined,
  programs: readonly Program[],
  notify?: Notify,
  userData?: unknown,
): Program {
  return native().linkProgram(context, devices, options, programs, notify, userData);
}

/**
 * A fact about a program. Calls clGetProgramInfo.
 *
 * @param name `PROGRAM_KERNEL_NAMES`, `PROGRAM_SOURCE`, `PROGRAM_BINARIES` (an Uint8Array per device), …
 * @throws INVALID_PROGRAM, INVALID_VALUE, INVALID_PROGRAM_EXECUTABLE
 */
export function getProgramInfo(program: Program, name: number): InfoValue {
  return native().getProgramInfo(program, name);
}

/**
 * What became of a build for one device. Calls clGetProgramBuildInfo.
 *
 * @param name `PROGRAM_BUILD_STATUS` (`BUILD_SUCCESS`, …), `PROGRAM_BUILD_LOG`, `PROGRAM_BUILD_OPTIONS`, …
 * @throws INVALID_PROGRAM, INVALID_DEVICE, INVALID_VALUE
 */
export function getProgramBuildInfo(program: Program, device: Device, name: number): InfoValue {
  return native().getProgramBuildInfo(program, device, name);
}

/**
 * Has a function called when the driver destroys the program. Calls clSetProgramReleaseCallback (OpenCL 2.2,
 * taken back in 3.0).
 *
 * @throws INVALID_PROGRAM, INVALID_OPERATION
 */
export function setProgramReleaseCallback(
  program: Program,
  notify: (userData: unknown) => void,
  userData?: unknown,
): 0 {
  return native().setProgramReleaseCallback(program, notify, userData);
}

/**
 * Sets a constant of a SPIR-V program. Calls clSetProgramSpecializationConstant (OpenCL 2.2).
 *
 * @param value its bytes
 * @throws INVALID_PROGRAM, INVALID_SPEC_ID, INVALID_VALUE
 */
export function setProgramSpecializationConstant(program: Program, id: number, value: HostMemory): 0 {
  return native().setProgramSpecializationConstant(program, id, value);
}
