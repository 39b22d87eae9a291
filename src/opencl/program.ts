import { native } from './binding.js';
import type { Context, Device, Program } from './objects.js';
import type { HostMemory, InfoValue, Size } from './values.js';

type Devices = readonly Device[] | null | undefined;
type Notify = ((userData: unknown, program: Program) => void) | null;

/**
 * Creates a program from OpenCL C. Calls clCreateProgramWithSource.
 *
 * @param context context of the program
 * @param source OpenCL C
 * @returns the program, not built yet
 * @throws OpenCLError INVALID_CONTEXT; INVALID_VALUE when the source is empty or not a string
 * @example
 * ```ts
 * const program = cl.createProgramWithSource(context, source);
 * await cl.buildProgramAsync(program);
 * const kernel = cl.createKernel(program, 'add');
 * ```
 */
export function createProgramWithSource(context: Context, source: string): Program {
  return native().createProgramWithSource(context, source);
}

/**
 * Creates a program from the binaries of `getProgramInfo(program, PROGRAM_BINARIES)`. Calls clCreateProgramWithBinary.
 *
 * Where the format is known (ELF, PoCL 3, rusticl), the lengths in a binary reveal that it was truncated. Nothing else
 * is checked: most drivers end the process when the contents are damaged, and a binary is a program that runs with your
 * rights. Store a checksum and the version of the driver with it, in a folder that no other user can write to.
 *
 * @param context context of the program
 * @param devices devices of the binaries
 * @param sizes bytes of each binary, one for each device
 * @param binaries one for each device
 * @returns the program, not built yet
 * @throws OpenCLError INVALID_CONTEXT, INVALID_DEVICE, INVALID_BINARY; INVALID_VALUE when the lists differ in length
 * @example
 * ```ts
 * const program = cl.createProgramWithBinary(context, [device], [binary.length], [binary]);
 * ```
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
 * Creates a program from SPIR-V. Calls clCreateProgramWithIL (OpenCL 2.1).
 *
 * @param context context of the program
 * @param il SPIR-V module
 * @returns the program, not built yet
 * @throws OpenCLError INVALID_CONTEXT, INVALID_VALUE; INVALID_OPERATION when no device supports SPIR-V
 * @example
 * ```ts
 * const program = cl.createProgramWithIL(context, readFileSync('kernels.spv'));
 * ```
 */
export function createProgramWithIL(context: Context, il: HostMemory): Program {
  return native().createProgramWithIL(context, il);
}

/**
 * Creates a program of built-in kernels of devices. Calls clCreateProgramWithBuiltInKernels (OpenCL 1.2).
 *
 * @param context context of the program
 * @param devices devices that have the kernels
 * @param names array of names, or one string with semicolons between them
 * @returns the program
 * @throws OpenCLError INVALID_CONTEXT, INVALID_DEVICE; INVALID_VALUE for a name that no device has
 * @example
 * ```ts
 * const program = cl.createProgramWithBuiltInKernels(context, [device], ['motion']);
 * ```
 */
export function createProgramWithBuiltInKernels(
  context: Context,
  devices: readonly Device[],
  names: readonly string[] | string,
): Program {
  return native().createProgramWithBuiltInKernels(context, devices, names);
}

/**
 * Adds a reference to a program. Calls clRetainProgram.
 *
 * @param program program to retain
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_PROGRAM
 * @example
 * ```ts
 * cl.retainProgram(program);
 * ```
 */
export function retainProgram(program: Program): 0 {
  return native().retainProgram(program);
}

/**
 * Removes a reference from a program. Calls clReleaseProgram.
 *
 * @param program program to release
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_PROGRAM, also when it is already released
 * @example
 * ```ts
 * cl.releaseProgram(program);
 * ```
 */
export function releaseProgram(program: Program): 0 {
  return native().releaseProgram(program);
}

/**
 * Compiles and links a program. Calls clBuildProgram: with `notify` on another thread, otherwise on this thread, which
 * blocks meanwhile.
 *
 * @param program program to build
 * @param devices devices to build for; all devices of the context by default
 * @param options compiler options, such as `'-cl-fast-relaxed-math'`
 * @param notify called as (userData, program) after the build, also after a failed one; query `PROGRAM_BUILD_STATUS`
 * @param userData passed to `notify`
 * @returns SUCCESS (0)
 * @throws OpenCLError BUILD_PROGRAM_FAILURE with `log`, INVALID_PROGRAM, INVALID_DEVICE, INVALID_BUILD_OPTIONS
 * @example
 * ```ts
 * cl.buildProgram(program, [device], '-cl-std=CL3.0');
 * ```
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
 * Compiles and links a program on another thread. Calls clBuildProgram.
 *
 * @param program program to build
 * @param devices devices to build for; all devices of the context by default
 * @param options compiler options, such as `'-cl-fast-relaxed-math'`
 * @returns a promise that resolves when the program is built
 * @throws OpenCLError (rejects) BUILD_PROGRAM_FAILURE with `log`, INVALID_PROGRAM, INVALID_DEVICE,
 *   INVALID_BUILD_OPTIONS
 * @example
 * ```ts
 * await cl.buildProgramAsync(program, [device], '-cl-std=CL3.0');
 * ```
 */
export function buildProgramAsync(
  program: Program,
  devices?: Devices,
  options?: string | null,
): Promise<void> {
  return native().buildProgramAsync(program, devices, options);
}

/**
 * Compiles a program without linking. Calls clCompileProgram (OpenCL 1.2): with `notify` on another thread, otherwise
 * on this thread, which blocks meanwhile.
 *
 * @param program program to build
 * @param devices devices to build for; all devices of the context by default
 * @param options compiler options, such as `'-cl-fast-relaxed-math'`
 * @param headers programs whose sources can be included
 * @param headerNames names under which they are included, one for each header
 * @param notify called as (userData, program) after the compilation, also after a failed one
 * @param userData passed to `notify`
 * @returns SUCCESS (0)
 * @throws OpenCLError COMPILE_PROGRAM_FAILURE with `log`, INVALID_PROGRAM, INVALID_COMPILER_OPTIONS, INVALID_VALUE
 * @example
 * ```ts
 * cl.compileProgram(program, [device], null, [header], ['types.clh']);
 * ```
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
 * Compiles a program without linking, on another thread. Calls clCompileProgram (OpenCL 1.2).
 *
 * @param program program to build
 * @param devices devices to build for; all devices of the context by default
 * @param options compiler options, such as `'-cl-fast-relaxed-math'`
 * @param headers programs whose sources can be included
 * @param headerNames names under which they are included, one for each header
 * @returns a promise that resolves when the program is compiled
 * @throws OpenCLError (rejects) COMPILE_PROGRAM_FAILURE with `log`, INVALID_PROGRAM, INVALID_COMPILER_OPTIONS
 * @example
 * ```ts
 * await cl.compileProgramAsync(program, [device], null, [header], ['types.clh']);
 * ```
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
 * Links compiled programs. Calls clLinkProgram (OpenCL 1.2) on this thread, because the call returns the program.
 *
 * @param context context of the programs
 * @param devices devices to link for; all devices of the context by default
 * @param options linker options
 * @param programs compiled programs
 * @param notify called as (userData, program) in a later turn of the event loop
 * @param userData passed to `notify`
 * @returns the linked program
 * @throws OpenCLError LINK_PROGRAM_FAILURE with `log`, INVALID_CONTEXT, INVALID_PROGRAM, INVALID_LINKER_OPTIONS
 * @example
 * ```ts
 * const linked = cl.linkProgram(context, [device], null, [first, second]);
 * ```
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
 * Returns information about a program. Calls clGetProgramInfo.
 *
 * @param program program to query
 * @param name `PROGRAM_KERNEL_NAMES`, `PROGRAM_SOURCE`, `PROGRAM_BINARIES` (a Uint8Array for each device), …
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_PROGRAM, INVALID_VALUE, INVALID_PROGRAM_EXECUTABLE
 * @example
 * ```ts
 * const names = cl.getProgramInfo(program, cl.PROGRAM_KERNEL_NAMES);
 * ```
 */
export function getProgramInfo(program: Program, name: number): InfoValue {
  return native().getProgramInfo(program, name);
}

/**
 * Returns information about the build of a program for a device. Calls clGetProgramBuildInfo.
 *
 * @param program program to query
 * @param device device of the build
 * @param name `PROGRAM_BUILD_STATUS` (`BUILD_SUCCESS`, …), `PROGRAM_BUILD_LOG`, `PROGRAM_BUILD_OPTIONS`, …
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_PROGRAM, INVALID_DEVICE, INVALID_VALUE
 * @example
 * ```ts
 * const log = cl.getProgramBuildInfo(program, device, cl.PROGRAM_BUILD_LOG);
 * ```
 */
export function getProgramBuildInfo(program: Program, device: Device, name: number): InfoValue {
  return native().getProgramBuildInfo(program, device, name);
}

/**
 * Registers a callback for the destruction of a program. Calls clSetProgramReleaseCallback (OpenCL 2.2, deprecated in
 * 3.0).
 *
 * @param program program to watch
 * @param notify called as (userData) when the driver destroys the program
 * @param userData passed to `notify`
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_PROGRAM, INVALID_OPERATION
 * @example
 * ```ts
 * cl.setProgramReleaseCallback(program, () => console.log('the program is gone'));
 * ```
 */
export function setProgramReleaseCallback(
  program: Program,
  notify: (userData: unknown) => void,
  userData?: unknown,
): 0 {
  return native().setProgramReleaseCallback(program, notify, userData);
}

/**
 * Sets a specialization constant of a SPIR-V program. Calls clSetProgramSpecializationConstant (OpenCL 2.2).
 *
 * @param program program from SPIR-V
 * @param id ID of the constant in the module
 * @param value bytes of the constant
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_PROGRAM, INVALID_SPEC_ID, INVALID_VALUE
 * @example
 * ```ts
 * cl.setProgramSpecializationConstant(program, 0, Uint32Array.of(256));
 * ```
 */
export function setProgramSpecializationConstant(program: Program, id: number, value: HostMemory): 0 {
  return native().setProgramSpecializationConstant(program, id, value);
}
