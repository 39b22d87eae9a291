/** Finds out how a driver behaves: a probe kernel runs once per driver, and its result is kept with the self-tests. */
import { ClsortError, TimeoutError } from '../util/errors.js';
import { readSelfTestRecord, type SelfTestKey, storeSelfTestRecord } from '../util/self-test-records.js';
import type { Buffer, BufferOptions } from './memory/buffer.js';
import type { DeviceInfo } from './platform/platform.js';
import { AS_SPECIFIED, type DriverBehaviour, quirksOf } from './platform/quirks.js';
import type { Program } from './programs/program.js';
import { type Queue, u32 } from './queue/queue.js';

/** Iterations of the probe: above 2^16, at which drivers are known to end loops. */
const STEPS = 70_000;
/** First state of the loop. */
const SEED = 0x2545_f491;
/** Bytes of local memory that the probe declares. */
const LOCAL_BYTES = 4096;
/** No processor runs the loop in less: 25 picoseconds per operation. */
const MIN_SECONDS = 1e-5;
/** Milliseconds after which the probe counts as hung. */
const DEADLINE_MS = 60_000;

/** Assumed of a driver that cannot run the probe. */
const CAUTIOUS: DriverBehaviour = { ...AS_SPECIFIED, maxLoopIterations: 65_535, reportsTimes: false };

/** The part of an opened device that a probe uses. */
interface ProbedDevice {
  readonly queue: Queue;
  program(file: string): Promise<Program>;
  buffer(bytes: number, options?: BufferOptions): Buffer;
  close(): Promise<void>;
  abandon(): Promise<void>;
}

const keyOf = ({ platform, name, driver }: DeviceInfo): SelfTestKey => [
  platform,
  name,
  driver,
  'driver probe',
];

/** Returns the recorded behaviour of a driver; undefined if it is unknown. */
export function knownBehaviour(info: DeviceInfo): DriverBehaviour | undefined {
  if (quirksOf(info).behavesAsSpecified) return AS_SPECIFIED;
  const { found } = readSelfTestRecord(keyOf(info)) ?? {};
  if (!found) return undefined;
  const { maxLoopIterations, reportsTimes, localBytesFactor, zeroCopy } = found;
  return {
    maxLoopIterations: Number(maxLoopIterations) || Number.POSITIVE_INFINITY,
    reportsTimes: reportsTimes === true,
    localBytesFactor: Number(localBytesFactor) || 1,
    zeroCopy: zeroCopy === true,
  };
}

/**
 * Returns the behaviour of a driver: from the record on disk, or else by a probe, whose result is stored.
 *
 * @param open opens the device for the probe
 * @throws ClsortError when the device cannot be opened
 */
export async function behaviourOf(info: DeviceInfo, open: () => ProbedDevice): Promise<DriverBehaviour> {
  const known = knownBehaviour(info);
  if (known) return known;
  const device = open();
  try {
    const behaviour = await probe(device, info.type === 'cpu');
    await device.close();
    // 0 stands for no limit: JSON has no infinity.
    const limit = Number.isFinite(behaviour.maxLoopIterations) ? behaviour.maxLoopIterations : 0;
    storeSelfTestRecord(keyOf(info), undefined, { found: { ...behaviour, maxLoopIterations: limit } });
    return behaviour;
  } catch (error) {
    await (error instanceof TimeoutError ? device.abandon() : device.close());
    if (error instanceof ClsortError) return CAUTIOUS; // the first sort reports a device that fails
    throw error;
  }
}

async function probe(device: ProbedDevice, inHostMemory: boolean): Promise<DriverBehaviour> {
  const { queue } = device;
  const kernel = (await device.program('driver_probe.cl')).kernel('driver_probe');
  // Not aligned, since a driver may use only aligned memory in place.
  const hostMemory = new Uint32Array(1025).subarray(1);
  const state = device.buffer(hostMemory.byteLength, inHostMemory ? { hostMemory } : undefined);
  const word = Uint32Array.of(SEED);
  try {
    queue.write(state, word);
    const started = performance.now();
    queue.startProfile();
    queue.run(kernel, [state, u32(STEPS)], { global: 1, local: 1 });
    const takeTimes = queue.takeProfile();
    await queue.finish(DEADLINE_MS);
    // Neither mapped nor read: a driver that copies has not written it.
    const [inPlace = 0] = hostMemory;
    queue.read(state, word);
    await queue.finish(DEADLINE_MS);
    const elapsed = (performance.now() - started) / 1000;
    const seconds = takeTimes()[0]?.seconds ?? 0;
    return {
      maxLoopIterations: loopLimit(word[0] ?? 0),
      reportsTimes: seconds >= MIN_SECONDS && seconds <= elapsed,
      localBytesFactor: Math.max(1, Math.floor(kernel.localBytes / LOCAL_BYTES)),
      zeroCopy: inPlace === word[0],
    };
  } finally {
    state.release();
  }
}

/** Returns after how many steps the loop ended; infinity if it ran to its end. */
function loopLimit(end: number): number {
  let word = SEED;
  for (let step = 0; step < STEPS; step++) {
    if (word === end) return Math.max(1, step);
    word ^= word << 13;
    word ^= word >>> 17;
    word = (word ^ (word << 5)) >>> 0;
  }
  return word === end ? Number.POSITIVE_INFINITY : CAUTIOUS.maxLoopIterations;
}
