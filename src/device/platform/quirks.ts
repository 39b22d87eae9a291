import type { DeviceInfo } from './platform.js';

/** Driver behaviour that a probe kernel finds out (see `behaviourOf`). */
export interface DriverBehaviour {
  /** Iterations of one loop after which a work-item stops silently. */
  readonly maxLoopIterations: number;
  /** Whether event profiling returns real times. */
  readonly reportsTimes: boolean;
  /** How many times the compiler counts each byte of local memory that a kernel declares. */
  readonly localBytesFactor: number;
  /** Whether a CPU device uses host memory in place, without copies, when a buffer is created over it. */
  readonly zeroCopy: boolean;
}

/** Behaviour that only the name of a driver shows. Every row of the table states why no probe finds it. */
interface NamedQuirks {
  /** Whether the driver's behaviour is known to be AS_SPECIFIED, so that it needs no probe. */
  readonly behavesAsSpecified: boolean;
  /** Whether the tests run on this driver, so that its compiler needs no trial in a child process. */
  readonly isTested: boolean;
  /** Whether all host calls must come from one thread. */
  readonly singleThreaded: boolean;
  /** Whether this is a simulator, which sorts a few thousand keys a second. */
  readonly simulated: boolean;
  /** Whether the driver caches compiled programs on disk. */
  readonly cachesPrograms: boolean;
  /** Whether the compiler accepts inline PTX in OpenCL C. In `Capabilities`: and the device has the instructions. */
  readonly inlinePtx: boolean;
  /** Whether clEnqueueFillBuffer may be used. */
  readonly supportsFill: boolean;
  /** Whether clFinish waits for everything and reports failures, whatever thread calls it. */
  readonly finishIsReliable: boolean;
  /** Seconds to poll for the end of a command before a thread waits for it. */
  readonly pollSeconds: number;
  /** Whether a profiling queue takes much longer to enqueue commands, even if no times are queried. */
  readonly slowProfiling: boolean;
}

/** Driver behaviour that the capabilities do not show. */
export interface Quirks extends DriverBehaviour, NamedQuirks {
  readonly acceptsClStd: boolean;
}

interface QuirkRow {
  readonly matches: (device: DeviceInfo) => boolean;
  readonly quirks: Partial<NamedQuirks & DriverBehaviour>;
  readonly reason: string;
}

/** Behaviour of a driver without deviations. */
export const AS_SPECIFIED: DriverBehaviour = {
  maxLoopIterations: Number.POSITIVE_INFINITY,
  reportsTimes: true,
  localBytesFactor: 1,
  zeroCopy: false,
};

const NO_QUIRKS: NamedQuirks = {
  behavesAsSpecified: false,
  isTested: false,
  singleThreaded: false,
  simulated: false,
  cachesPrograms: false,
  inlinePtx: false,
  supportsFill: true,
  finishIsReliable: false,
  pollSeconds: 0,
  slowProfiling: false,
};

const QUIRK_ROWS: readonly QuirkRow[] = [
  {
    matches: ({ platform }) => /portable computing language/i.test(platform),
    quirks: { behavesAsSpecified: true, isTested: true, cachesPrograms: true },
    reason:
      'the tests run on PoCL; it has its own cache of compiled kernels, which no query shows, and a corrupt binary ' +
      'aborts the process, so that none may be tried',
  },
  {
    matches: ({ type, platform }) => type === 'cpu' && /portable computing language/i.test(platform),
    quirks: { zeroCopy: true },
    reason: 'the probe finds it, as a test checks, so that the first call on PoCL needs none',
  },
  {
    matches: ({ type, platform, name }) =>
      type === 'cpu' && /rusticl/i.test(platform) && !/^zink/i.test(name),
    quirks: { isTested: true },
    reason:
      'the tests run on rusticl over llvmpipe; over a GPU, and over Vulkan by zink, it has another compiler',
  },
  {
    matches: ({ platform }) => /clover/i.test(platform),
    quirks: { isTested: true, singleThreaded: true },
    reason:
      'Clover crashed when it was called from several threads, now and then: a probe would crash too, or miss it',
  },
  {
    matches: ({ platform }) => /oclgrind/i.test(platform),
    quirks: {
      behavesAsSpecified: true,
      isTested: true,
      singleThreaded: true,
      simulated: true,
      supportsFill: false,
    },
    reason:
      'a simulator that is not thread-safe, of which a probe would crash; only a measured time would show that it is ' +
      'slow, and a loaded machine is slow too; its check for uninitialised reads sizes its state of a buffer by the ' +
      'last write from the host, and a fill counts as many writes of one word',
  },
  {
    matches: ({ vendor, platform }) => /nvidia/i.test(vendor) && /nvidia cuda/i.test(platform),
    quirks: {
      behavesAsSpecified: true,
      isTested: true,
      cachesPrograms: true,
      inlinePtx: true,
      finishIsReliable: true,
      pollSeconds: 1e-3,
      slowProfiling: true,
    },
    reason:
      'the driver compiles OpenCL C to PTX, takes inline PTX and keeps a cache in ~/.nv; other compilers end the ' +
      'process on inline assembly, so that none may be tried; that clFinish reports failures shows only when ' +
      'commands fail; a marker with an event costs 12 us, clFinish none; a waiting thread learns of completion 20 us later than a polling one; a ' +
      'short probe cannot measure such times',
  },
];

/** Why algorithms whose work-groups wait for each other cannot run on a device with `maxLoopIterations`. */
export const NO_LONG_WAITS = 'the driver silently ends long loops, such as waits for other work-groups';

/**
 * Returns the quirks of a device: those of all matching rows, where a later row overrides an earlier one.
 *
 * @param behaviour what a probe found; default: no deviations
 */
export function quirksOf(device: DeviceInfo, behaviour: DriverBehaviour = AS_SPECIFIED): Quirks {
  const rows = QUIRK_ROWS.filter((row) => row.matches(device)).map((row) => row.quirks);
  // Before OpenCL 1.2, compilers reject -cl-std=CL1.2.
  const acceptsClStd = Number(device.version) >= 1.2;
  return Object.assign({ acceptsClStd }, behaviour, NO_QUIRKS, ...rows);
}
