import { native } from './binding.js';
import type { CommandQueue, Device, Event, Kernel, MemObject, Program, Sampler } from './objects.js';
import type { Enqueued, HostMemory, InfoValue, Size, WaitList } from './types.js';

/** What a kernel argument may be set to. */
export type KernelArgumentValue =
  | number
  | bigint
  | boolean
  | readonly (number | bigint)[]
  | HostMemory
  | MemObject
  | Sampler
  | CommandQueue
  | null;

/**
 * A kernel of a built program. Calls clCreateKernel.
 *
 * @throws INVALID_PROGRAM, INVALID_PROGRAM_EXECUTABLE, INVALID_KERNEL_NAME, INVALID_VALUE
 */
export function createKernel(program: Program, name: string): Kernel {
  return native().createKernel(program, name);
}

/**
 * All kernels of a built program. Calls clCreateKernelsInProgram.
 *
 * @throws INVALID_PROGRAM, INVALID_PROGRAM_EXECUTABLE
 */
export function createKernelsInProgram(program: Program): Kernel[] {
  return native().createKernelsInProgram(program);
}

/**
 * A copy of a kernel with its arguments. Calls clCloneKernel (OpenCL 2.1).
 *
 * @throws INVALID_KERNEL
 */
export function cloneKernel(kernel: Kernel): Kernel {
  return native().cloneKernel(kernel);
}

/**
 * Adds a reference. Calls clRetainKernel.
 *
 * @throws INVALID_KERNEL
 */
export function retainKernel(kernel: Kernel): 0 {
  return native().retainKernel(kernel);
}

/**
 * Gives a reference back. Calls clReleaseKernel.
 *
 * @throws INVALID_KERNEL, also for a kernel that is released already
 */
export function releaseKernel(kernel: Kernel): 0 {
  return native().releaseKernel(kernel);
}

/**
 * Sets an argument. Calls clSetKernelArg.
 *
 * What the kernel declares is asked once and checked: a pointer takes a buffer, an image one of its type, and a value
 * has just its bytes. Where a driver does not tell, as for most programs made from binaries, what it accepts is tried
 * on another kernel; 8 bytes may then be an image to it, so their type must be named.
 *
 * @param type `'uint'`, `'float4'`, … for values, `'float*'`, `'image2d_t'` or `'cl_mem'` for memory objects,
 *   `'sampler_t'`, `'queue_t'`, `'local'` for local memory; null takes it from what the kernel declares, and where
 *   the driver does not tell a handle or bytes speak for themselves
 * - a pointer also takes shared virtual memory, or null
 * - a scalar takes a number or bigint within its range, a vector an array of as many numbers
 * - any value takes its bytes, as a Buffer or typed array of just that size; a struct takes nothing else
 * - `'local'` takes a size in bytes
 * @throws INVALID_KERNEL, INVALID_ARG_INDEX, INVALID_ARG_VALUE, INVALID_ARG_SIZE, INVALID_MEM_OBJECT,
 *   INVALID_SAMPLER
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
 * @param memory what `SVMAlloc` returned, or a view of it
 * @throws INVALID_KERNEL, INVALID_ARG_INDEX, INVALID_ARG_VALUE for any other memory
 */
export function setKernelArgSVMPointer(kernel: Kernel, index: number, memory: HostMemory): 0 {
  return native().setKernelArgSVMPointer(kernel, index, memory);
}

/**
 * Tells what a kernel reaches through pointers. Calls clSetKernelExecInfo (OpenCL 2.0).
 *
 * @param name `KERNEL_EXEC_INFO_SVM_PTRS` with a list of memory, or `KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM`
 * @throws INVALID_KERNEL, INVALID_VALUE, INVALID_OPERATION
 */
export function setKernelExecInfo(kernel: Kernel, name: number, value: readonly HostMemory[] | boolean): 0 {
  return native().setKernelExecInfo(kernel, name, value);
}

/**
 * A fact about a kernel. Calls clGetKernelInfo.
 *
 * @param name `KERNEL_FUNCTION_NAME`, `KERNEL_NUM_ARGS`, …
 * @throws INVALID_KERNEL, INVALID_VALUE
 */
export function getKernelInfo(kernel: Kernel, name: number): InfoValue {
  return native().getKernelInfo(kernel, name);
}

/**
 * A fact about an argument. Calls clGetKernelArgInfo (OpenCL 1.2).
 *
 * @param name `KERNEL_ARG_TYPE_NAME`, `KERNEL_ARG_NAME`, …
 * @throws INVALID_KERNEL, INVALID_ARG_INDEX, INVALID_VALUE, KERNEL_ARG_INFO_NOT_AVAILABLE
 */
export function getKernelArgInfo(kernel: Kernel, index: number, name: number): InfoValue {
  return native().getKernelArgInfo(kernel, index, name);
}

/**
 * A fact about a kernel on a device. Calls clGetKernelWorkGroupInfo.
 *
 * @param device may be left out when the kernel's context has one only
 * @param name `KERNEL_WORK_GROUP_SIZE` (work-items), `KERNEL_LOCAL_MEM_SIZE` (bytes, [hi, lo]), …
 * @throws INVALID_KERNEL, INVALID_DEVICE, INVALID_VALUE
 */
export function getKernelWorkGroupInfo(
  kernel: Kernel,
  device: Device | null | undefined,
  name: number,
): InfoValue {
  return native().getKernelWorkGroupInfo(kernel, device, name);
}

/**
 * A fact about the sub-groups of a kernel. Calls clGetKernelSubGroupInfo (OpenCL 2.1).
 *
 * @param input the work-group size, or the number of sub-groups, that the question is about
 * @throws INVALID_KERNEL, INVALID_DEVICE, INVALID_VALUE, INVALID_OPERATION
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
 * The number of an array of one, which the addon reads much faster than the array. A number that is given
 * instead of an array stays an error.
 */
function alone(sizes: readonly Size[] | null | undefined): unknown {
  if (typeof sizes === 'number') return [];
  return Array.isArray(sizes) && sizes.length === 1 && typeof sizes[0] === 'number' ? sizes[0] : sizes;
}

/**
 * Runs a kernel. Calls clEnqueueNDRangeKernel.
 *
 * @param dimensions 1 to 3; each array has as many numbers
 * @param global work-items in each dimension
 * @param local work-items of a work-group in each dimension; null lets the driver choose
 * @throws INVALID_COMMAND_QUEUE, INVALID_KERNEL, INVALID_WORK_DIMENSION, INVALID_GLOBAL_OFFSET,
 *   INVALID_GLOBAL_WORK_SIZE, INVALID_WORK_GROUP_SIZE, INVALID_KERNEL_ARGS when one is missing or released,
 *   INVALID_EVENT_WAIT_LIST
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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

/** Launches as `enqueueKernels` takes them, all their numbers in one array. */
export interface Launches {
  /**
   * `words[0]` receives the number of launches that were enqueued. Then of each launch: dimensions, 1 if a
   * group size is given, global sizes, the group size, the number of arguments to set, and of each argument
   * its index, its kind and two numbers: 0, an index into `memory`, 0; 1, an offset into `bytes`, a length;
   * 2, bytes of local memory, 0.
   */
  readonly words: Float64Array;
  /** Words in use. */
  readonly count: number;
  /** One for each launch. */
  readonly kernels: readonly Kernel[];
  readonly memory: readonly MemObject[];
  /** Arguments by value. */
  readonly bytes: Uint8Array;
}

/**
 * Sets arguments of kernels and runs the kernels, one after the other. Calls clSetKernelArg and
 * clEnqueueNDRangeKernel for a whole list at once, since short kernels take less time than the way from
 * JavaScript to the driver. Arguments that are not in the list stay as they are.
 *
 * @param wantEvents return an event for each launch
 * @throws as `setKernelArg` and `enqueueNDRangeKernel`; the launches before are enqueued
 * @returns the events, or SUCCESS when none are wanted
 */
export function enqueueKernels<W extends boolean | undefined = false>(
  queue: CommandQueue,
  { words, count, kernels, memory, bytes }: Launches,
  wantEvents?: W,
): W extends true ? Event[] : 0 {
  return native().enqueueKernels(queue, words, count, kernels, memory, bytes, wantEvents);
}

/**
 * Runs a kernel with one work-item. Calls clEnqueueTask, which OpenCL 2.0 deprecated.
 *
 * @throws as `enqueueNDRangeKernel`
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Not supported: a native kernel is a C function that a driver calls on a thread of its own, where no
 * JavaScript can run.
 *
 * @throws UnsupportedError
 */
export function enqueueNativeKernel(..._unused: readonly unknown[]): never {
  return native().enqueueNativeKernel() as never;
}
