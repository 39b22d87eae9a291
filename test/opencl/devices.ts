import * as cl from '../../src/opencl/index.js';

/** Part of the platform's name by which the tests know a driver. */
const PLATFORMS: Readonly<Record<string, string>> = {
  pocl: 'Portable Computing Language',
  rusticl: 'rusticl',
  clover: 'Clover',
  oclgrind: 'Oclgrind',
  nvidia: 'NVIDIA',
};

/** A device under test with the objects that nearly every test needs. */
export interface Opened {
  /** Name in CLSORT_TEST_DEVICES. */
  readonly name: string;
  readonly platform: cl.Platform;
  readonly device: cl.Device;
  readonly context: cl.Context;
  readonly queue: cl.CommandQueue;
  /** 110 for OpenCL 1.1, and so on. */
  readonly version: number;
  readonly images: boolean;
  /** The driver requires all calls from one thread: no workers and no open user events. */
  readonly singleThreaded: boolean;
  /** Whether commands may wait for user events: PoCL's basic device deadlocks when one completes. */
  readonly userEvents: boolean;
}

/** The simulator is not thread-safe; Clover crashes when one thread compiles and another releases. */
const SINGLE_THREADED = new Set(['oclgrind', 'clover']);

/** The names in CLSORT_TEST_DEVICES, separated by commas; by default PoCL's. */
export const deviceNames = (process.env.CLSORT_TEST_DEVICES ?? 'pocl').split(',').map((name) => name.trim());

export function findPlatform(name: string): cl.Platform {
  const part = PLATFORMS[name] ?? name;
  const found = cl
    .getPlatformIDs()
    .find((platform) => String(cl.getPlatformInfo(platform, cl.PLATFORM_NAME)).includes(part));
  if (!found) throw new Error(`no platform '${part}'; this process has: ${JSON.stringify(cl.openclInfo())}`);
  return found;
}

/** Opens a device by its name in CLSORT_TEST_DEVICES. */
export function open(name: string): Opened {
  const platform = findPlatform(name);
  const singleThreaded = SINGLE_THREADED.has(name);
  if (singleThreaded) cl.setSingleThreaded(platform, true);
  const [device] = cl.getDeviceIDs(platform, cl.DEVICE_TYPE_ALL);
  if (!device) throw new Error(`${name} has no device`);
  const context = cl.createContext([cl.CONTEXT_PLATFORM, platform], [device]);
  const basic = String(cl.getDeviceInfo(device, cl.DEVICE_NAME)).startsWith('basic');
  const [, major, minor] = /OpenCL (\d)\.(\d)/.exec(cl.getPlatformInfo(platform, cl.PLATFORM_VERSION)) ?? [];
  const version = Number(major) * 100 + Number(minor) * 10;
  return {
    name,
    platform,
    device,
    context,
    queue: cl.createCommandQueue(context, device, cl.QUEUE_PROFILING_ENABLE),
    version,
    images: cl.getDeviceInfo(device, cl.DEVICE_IMAGE_SUPPORT),
    singleThreaded,
    userEvents: version >= 110 && !singleThreaded && !basic,
  };
}

/** Whether the driver rejects the unmap of a map that has not run yet, as rusticl 22 does, but not rusticl 25. */
export function forgetsMaps({ context, queue, userEvents }: Opened): boolean {
  if (!userEvents) return false;
  const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
  const userEvent = cl.createUserEvent(context);
  const mapped = cl.enqueueMapBuffer(queue, buffer, false, cl.MAP_WRITE, 0, 64, [userEvent]);
  const unmap = () => cl.enqueueUnmapMemObject(queue, buffer, mapped);
  let isRejected = false;
  try {
    unmap();
  } catch {
    isRejected = true;
  }
  cl.setUserEventStatus(userEvent, cl.COMPLETE);
  cl.finish(queue);
  if (isRejected) unmap();
  cl.finish(queue);
  cl.releaseEvent(userEvent);
  cl.releaseMemObject(buffer);
  return isRejected;
}

/** Whether the driver copies an image to the given offset of a buffer; rusticl 25 copies to another one. */
export function copiesImages({ context, queue, images, version }: Opened): boolean {
  if (!images || version < 120) return false;
  const format = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
  const shape = { type: cl.MEM_OBJECT_IMAGE2D, width: 4, height: 2 };
  const image = cl.createImage(context, cl.MEM_READ_WRITE, format, shape);
  const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 128, new Uint8Array(128));
  cl.enqueueFillImage(queue, image, [7, 7, 7, 7], [0, 0, 0], [4, 2, 1]);
  cl.enqueueCopyImageToBuffer(queue, image, buffer, [0, 0, 0], [4, 2, 1], 32);
  const host = new Uint8Array(128);
  cl.enqueueReadBuffer(queue, buffer, true, 0, 128, host);
  for (const memory of [image, buffer]) cl.releaseMemObject(memory);
  return host.every((byte, i) => byte === (i >= 32 && i < 64 ? 7 : 0));
}

/** All devices under test, opened. */
export const opened: readonly Opened[] = deviceNames.map(open);

/** Builds a program of one kernel and creates that kernel. */
export function kernel(
  { context, device }: Opened,
  source: string,
  options = '-cl-kernel-arg-info',
): cl.Kernel {
  const program = cl.createProgramWithSource(context, source);
  cl.buildProgram(program, [device], options);
  const [made] = cl.createKernelsInProgram(program);
  cl.releaseProgram(program);
  if (!made) throw new Error('no kernel');
  return made;
}

/** [hi, lo] as a number. */
export const toNumber = ([high, low]: cl.HighLow): number => high * 2 ** 32 + low;

/** The rejection of a promise. */
export async function rejected(promise: Promise<unknown>): Promise<cl.OpenCLError & { code: unknown }> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!error) throw new Error('nothing was rejected');
  return error as cl.OpenCLError;
}

/** The exception of a call. */
export function thrown(call: () => unknown): cl.OpenCLError & { code: unknown } {
  try {
    call();
  } catch (error) {
    return error as cl.OpenCLError;
  }
  throw new Error('nothing was thrown');
}
