import type { Device } from '../../device/device.js';
import { type Timing, timing } from '../statistics.js';
import type { Prepared, Task } from './task.js';

/** Times of a correct result. */
export interface Times {
  /** Kernel time by device events; null for devices without profiling times. */
  readonly kernel: Timing | null;
  /** Time from the first command to the end of the last, by the host's clock, without transfers. */
  readonly device: Timing;
  /** Time including the upload of the keys and the download of the result. */
  readonly endToEnd: Timing;
}

/** Steps that take longer, in seconds, are measured once. */
const LONG_SECONDS = 2;

const since = (started: number): number => (performance.now() - started) / 1000;

/**
 * Measures a step on a device.
 *
 * @returns undefined when any result was wrong
 */
export async function measure(
  device: Device,
  { inputs }: Task,
  step: Prepared,
  rounds: number,
): Promise<Times | undefined> {
  const { queue, pool } = device;
  const taken = inputs.map((input) => pool.take(input.byteLength));
  const scratch = step.scratchBytes.map((bytes) => pool.take(bytes));
  const result = pool.take(Math.max(step.resultBytes, step.scratchBytes[0] ?? 0));
  const bytes = new Uint8Array(step.resultBytes);
  const kernels: (number | null)[] = [];
  const onDevice: number[] = [];
  const whole: number[] = [];
  try {
    for (let round = 0; round <= rounds; round++) {
      bytes.fill(0xa5);
      const started = performance.now();
      for (const [i, input] of inputs.entries()) queue.write(taken[i] as (typeof taken)[number], input);
      await queue.finish();
      queue.startProfile();
      const launched = performance.now();
      const where = step.enqueue(taken, result, scratch);
      await queue.finish();
      const took = since(launched);
      const stages = queue.endProfile();
      queue.read(where, bytes);
      await queue.finish();
      const all = since(started);
      if (!step.right(bytes)) return undefined;
      const isLong = took > LONG_SECONDS;
      if (round === 0 && !isLong) continue; // the first run may compile
      const known = stages.every((stage) => stage.seconds !== null);
      kernels.push(known ? stages.reduce((sum, stage) => sum + (stage.seconds ?? 0), 0) : null);
      onDevice.push(took);
      whole.push(all);
      if (isLong) break;
    }
  } finally {
    for (const buffer of [...taken, result, ...scratch]) pool.give(buffer);
  }
  const known = kernels.filter((one) => one !== null);
  return {
    kernel: known.length === kernels.length ? timing(known) : null,
    device: timing(onDevice),
    endToEnd: timing(whole),
  };
}

/** Measures the host's loop. */
export function measureHost(run: () => void, rounds: number): Timing {
  const seconds: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const started = performance.now();
    run();
    const took = since(started);
    if (round > 0 || took > LONG_SECONDS) seconds.push(took);
    if (took > LONG_SECONDS) break;
  }
  return timing(seconds);
}
