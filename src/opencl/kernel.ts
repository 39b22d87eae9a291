import { native } from './binding.js';
import type {
  CommandQueue,
  Device,
  Event,
  Kernel,
  KernelArgumentValue,
  MemObject,
  Program,
} from './objects.js';
import type { Enqueued, WaitList } from './types.js';
import type { HostMemory, InfoValue, Size } from './values.js';

/**
 * Creates a kernel of a built program. Calls clCreateKernel.
 *
 * @param program built program
 * @param name name of the kernel function
 * @returns the kernel
 * @throws OpenCLError INVALID_PROGRAM, INVALID_PROGRAM_EXECUTABLE, INVALID_KERNEL_NAME, INVALID_VALUE
 * @example
 * ```ts
 * const kernel = cl.createKernel(program, 'add');
 * ```
 */
export function createKernel(program: Program, name: string): Kernel {
  return native().createKernel(program, name);
}

/**
 * Creates all kernels of a built program. Calls clCreateKernelsInProgram.
 *
 * @param program built program
 * @returns one kernel for each kernel function
 * @throws OpenCLError INVALID_PROGRAM, INVALID_PROGRAM_EXECUTABLE
 * @example
 * ```ts
 * const kernels = cl.createKernelsInProgram(program);
 * ```
 */
export function createKernelsInProgram(program: Program): Kernel[] {
  return native().createKernelsInProgram(program);
}

/**
 * Copies a kernel together with its arguments. Calls clCloneKernel (OpenCL 2.1).
 *
 * @param kernel kernel to copy
 * @returns the copy
 * @throws OpenCLError INVALID_KERNEL
 * @example
 * ```ts
 * const copy = cl.cloneKernel(kernel);
 * ```
 */
export function cloneKernel(kernel: Kernel): Kernel {
  return native().cloneKernel(kernel);
}

/**
 * Adds a reference to a kernel. Calls clRetainKernel.
 *
 * @param kernel kernel to retain
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_KERNEL
 * @example
 * ```ts
 * cl.retainKernel(kernel);
 * ```
 */
export function retainKernel(kernel: Kernel): 0 {
  return native().retainKernel(kernel);
}

/**
 * Removes a reference from a kernel. Calls clReleaseKernel.
 *
 * @param kernel kernel to release
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_KERNEL, also when it is already released
 * @example
 * ```ts
 * cl.releaseKernel(kernel);
 * ```
 */
export function releaseKernel(kernel: Kernel): 0 {
  return native().releaseKernel(kernel);
}

/**
 * Sets an argument of a kernel. Calls clSetKernelArg.
 *
 * The binding reads the declared parameters once and checks every value against them. A pointer accepts a buffer, an
 * image parameter an image of its type, and a value its exact number of bytes. Some drivers do not report the
 * declaration, as for most programs from binaries. The binding then tries on another kernel which values the driver
 * accepts; 8 bytes may be an image there, so their type must be named.
 *
 * @param kernel kernel to change
 * @param index position of the argument, from 0
 * @param type `'uint'`, `'float4'`, … for values; `'float*'`, `'image2d_t'` or `'cl_mem'` for memory objects;
 *   `'sampler_t'`, `'queue_t'`; `'local'` for local memory. Null uses the declared type; if the driver does not report
 *   it, a handle or bytes determine the type
 * @param value depends on the type:
 * - a pointer accepts a buffer, shared virtual memory, or null
 * - a scalar accepts a number or bigint within its range, a vector an array of as many numbers
 * - any value type accepts its bytes, as a Buffer or typed array of exactly that size; a struct accepts only bytes
 * - `'local'` accepts a size in bytes
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_KERNEL, INVALID_ARG_INDEX, INVALID_ARG_VALUE, INVALID_ARG_SIZE, INVALID_MEM_OBJECT,
 *   INVALID_SAMPLER
 * @example
 * ```ts
 * cl.setKernelArg(kernel, 0, 'uint*', buffer);
 * cl.setKernelArg(kernel, 1, 'uint', 1024);
 * cl.setKernelArg(kernel, 2, 'local', 256 * 4);
 * ```
 */
export function setKernelArg(
  kernel: Kernel,
  index: number,
  type: string | null | undefined,
  value: KernelArgumentValue,
): 0 {
  return native().setKernelArg(kernel, index, type, value);
}

/**
 * Sets a pointer argument to shared virtual memory. Calls clSetKernelArgSVMPointer (OpenCL 2.0).
 *
 * @param kernel kernel to change
 * @param index position of the argument, from 0
 * @param memory memory of `SVMAlloc`, or a view of it
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_KERNEL, INVALID_ARG_INDEX; INVALID_ARG_VALUE for any other memory
 * @example
 * ```ts
 * cl.setKernelArgSVMPointer(kernel, 0, new Float32Array(cl.SVMAlloc(context, cl.MEM_READ_WRITE, 4096)));
 * ```
 */
export function setKernelArgSVMPointer(kernel: Kernel, index: number, memory: HostMemory): 0 {
  return native().setKernelArgSVMPointer(kernel, index, memory);
}

/**
 * Declares memory that a kernel reaches through pointers. Calls clSetKernelExecInfo (OpenCL 2.0).
 *
 * @param kernel kernel to change
 * @param name `KERNEL_EXEC_INFO_SVM_PTRS` or `KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM`
 * @param value array of shared virtual memory for the former, a boolean for the latter
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_KERNEL, INVALID_VALUE, INVALID_OPERATION
 * @example
 * ```ts
 * cl.setKernelExecInfo(kernel, cl.KERNEL_EXEC_INFO_SVM_PTRS, [memory]);
 * ```
 */
export function setKernelExecInfo(kernel: Kernel, name: number, value: readonly HostMemory[] | boolean): 0 {
  return native().setKernelExecInfo(kernel, name, value);
}

/**
 * Returns information about a kernel. Calls clGetKernelInfo.
 *
 * @param kernel kernel to query
 * @param name `KERNEL_FUNCTION_NAME`, `KERNEL_NUM_ARGS`, …
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_KERNEL, INVALID_VALUE
 * @example
 * ```ts
 * const name = cl.getKernelInfo(kernel, cl.KERNEL_FUNCTION_NAME);
 * ```
 */
export function getKernelInfo(kernel: Kernel, name: number): InfoValue {
  return native().getKernelInfo(kernel, name);
}

/**
 * Returns information about a parameter of a kernel. Calls clGetKernelArgInfo (OpenCL 1.2).
 *
 * @param kernel kernel to query
 * @param index position of the parameter, from 0
 * @param name `KERNEL_ARG_TYPE_NAME`, `KERNEL_ARG_NAME`, …
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_KERNEL, INVALID_ARG_INDEX, INVALID_VALUE, KERNEL_ARG_INFO_NOT_AVAILABLE
 * @example
 * ```ts
 * const type = cl.getKernelArgInfo(kernel, 0, cl.KERNEL_ARG_TYPE_NAME);
 * ```
 */
export function getKernelArgInfo(kernel: Kernel, index: number, name: number): InfoValue {
  return native().getKernelArgInfo(kernel, index, name);
}

/**
 * Returns information about a kernel on a device. Calls clGetKernelWorkGroupInfo.
 *
 * @param kernel kernel to query
 * @param device device to query; may be null if the context of the kernel has exactly one device
 * @param name `KERNEL_WORK_GROUP_SIZE` (work-items), `KERNEL_LOCAL_MEM_SIZE` (bytes, [hi, lo]), …
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_KERNEL, INVALID_DEVICE, INVALID_VALUE
 * @example
 * ```ts
 * const largest = cl.getKernelWorkGroupInfo(kernel, device, cl.KERNEL_WORK_GROUP_SIZE);
 * ```
 */
export function getKernelWorkGroupInfo(
  kernel: Kernel,
  device: Device | null | undefined,
  name: number,
): InfoValue {
  return native().getKernelWorkGroupInfo(kernel, device, name);
}

/**
 * Returns information about the sub-groups of a kernel. Calls clGetKernelSubGroupInfo (OpenCL 2.1).
 *
 * @param kernel kernel to query
 * @param device device to query; may be null if the context of the kernel has exactly one device
 * @param name `KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE`, …
 * @param input work-group size or number of sub-groups that the query is about
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_KERNEL, INVALID_DEVICE, INVALID_VALUE, INVALID_OPERATION
 * @example
 * ```ts
 * const most = cl.getKernelSubGroupInfo(kernel, device, cl.KERNEL_MAX_NUM_SUB_GROUPS);
 * ```
 */
export function getKernelSubGroupInfo(
  kernel: Kernel,
  device: Device | null | undefined,
  name: number,
  input?: Size | readonly Size[] | null,
): InfoValue {
  return native().getKernelSubGroupInfo(kernel, device, name, input);
}

/**
 * Unwraps an array of one number, because the addon reads a number much faster than an array. A number that the caller
 * passes instead of an array remains an error.
 */
function alone(sizes: readonly Size[] | null | undefined): unknown {
  if (typeof sizes === 'number') return [];
  return Array.isArray(sizes) && sizes.length === 1 && typeof sizes[0] === 'number' ? sizes[0] : sizes;
}

/**
 * Enqueues a kernel for execution. Calls clEnqueueNDRangeKernel.
 *
 * @param queue command queue that executes the command
 * @param kernel kernel whose arguments are all set
 * @param dimensions 1 to 3; each array has as many elements
 * @param offset first global ID in each dimension; null for 0
 * @param global work-items in each dimension
 * @param local work-items of a work-group in each dimension; null lets the driver choose
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_KERNEL, INVALID_WORK_DIMENSION, INVALID_GLOBAL_OFFSET,
 *   INVALID_GLOBAL_WORK_SIZE, INVALID_WORK_GROUP_SIZE, INVALID_EVENT_WAIT_LIST; INVALID_KERNEL_ARGS when an argument is
 *   missing or released
 * @example
 * ```ts
 * const event = cl.enqueueNDRangeKernel(queue, kernel, 1, null, [1024], [256], null, true);
 * await event.completed;
 * ```
 */
export function enqueueNDRangeKernel<W extends boolean | undefined = false>(
  queue: CommandQueue,
  kernel: Kernel,
  dimensions: number,
  offset: readonly Size[] | null | undefined,
  global: readonly Size[],
  local?: readonly Size[] | null,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueNDRangeKernel(
    queue,
    kernel,
    dimensions,
    alone(offset),
    alone(global),
    alone(local),
    waitList,
    wantEvent,
  );
}

/** Launches for `enqueueKernels`, with all numbers in one array. */
export interface Launches {
  /**
   * `words[0]` receives the number of enqueued launches. For each launch follow: dimensions, 1 if a work-group size is
   * given, the global sizes, the work-group size, the number of arguments to set, and for each argument its index, its
   * kind and two numbers. The kinds are:
   * - 0: an index into `memory`, then 0
   * - 1: an offset into `bytes`, then a length
   * - 2: bytes of local memory, then 0
   */
  readonly words: Float64Array;
  /** Number of words in use. */
  readonly count: number;
  /** One kernel for each launch. */
  readonly kernels: readonly Kernel[];
  readonly memory: readonly MemObject[];
  /** Arguments that are passed by value. */
  readonly bytes: Uint8Array;
}

/**
 * Sets arguments of kernels and enqueues the kernels in order. Calls clSetKernelArg and clEnqueueNDRangeKernel for the
 * whole list in one call of the addon, because that call takes longer than a short kernel. Arguments that are not in
 * the list keep their values.
 *
 * @param queue command queue that executes the command
 * @param launches the launches and their arguments
 * @param wantEvents whether to return an event for each launch; false by default
 * @returns the events if `wantEvents` is true, otherwise SUCCESS (0)
 * @throws OpenCLError as `setKernelArg` and `enqueueNDRangeKernel`; the launches before the failed one are enqueued
 * @example
 * ```ts
 * cl.enqueueKernels(queue, { words, count, kernels: [kernel], memory: [buffer], bytes });
 * ```
 */
export function enqueueKernels<W extends boolean | undefined = false>(
  queue: CommandQueue,
  { words, count, kernels, memory, bytes }: Launches,
  wantEvents?: W,
): W extends true ? Event[] : 0 {
  return native().enqueueKernels(queue, words, count, kernels, memory, bytes, wantEvents);
}

/**
 * Enqueues a kernel with a single work-item. Calls clEnqueueTask, which OpenCL 2.0 deprecated.
 *
 * @param queue command queue that executes the command
 * @param kernel kernel whose arguments are all set
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError as `enqueueNDRangeKernel`
 * @example
 * ```ts
 * cl.enqueueTask(queue, kernel);
 * ```
 */
export function enqueueTask<W extends boolean | undefined = false>(
  queue: CommandQueue,
  kernel: Kernel,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueTask(queue, kernel, waitList, wantEvent);
}

/**
 * Always throws: a native kernel is a C function that the driver calls on its own thread, where no JavaScript can run.
 *
 * @throws UnsupportedError
 * @example
 * ```ts
 * try {
 *   cl.enqueueNativeKernel();
 * } catch (error) {
 *   console.log(error.code); // ERR_CLSORT_UNSUPPORTED
 * }
 * ```
 */
export function enqueueNativeKernel(..._unused: readonly unknown[]): never {
  return native().enqueueNativeKernel() as never;
}
