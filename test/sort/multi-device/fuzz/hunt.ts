/** Runs rounds of random calls on several devices of PoCL under the layer, which fails and delays OpenCL calls. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { devices, Sorter } from '../../../../src/index.js';
import { Random } from '../../../../src/util/random.js';
import { LayerControl, underLayer } from '../../../layer/layer.js';
import { Round, type Tally } from './round.js';

/**
 * Seconds after which a round counts as hung; devices that are opened for the first time compile during some of them.
 */
const ROUND_SECONDS = 300;

export interface Hunted {
  readonly played: number;
  /** The error, with the seed of the round and its calls. */
  readonly failures: readonly string[];
  readonly tally: Tally;
}

/**
 * Starts rounds until the time is up. No device may have been opened in this process before.
 *
 * @param seed of the first round; incremented for each further one
 * @param rounds maximum number of rounds
 */
export async function hunt({
  seed,
  seconds,
  rounds,
  onFailure,
}: {
  readonly seed: number;
  readonly seconds: number;
  readonly rounds: number;
  /** Receives each failure as it occurs. */
  readonly onFailure?: (failure: string) => void;
}): Promise<Hunted> {
  setFlagsFromString('--expose-gc');
  (globalThis as { gc?: () => void }).gc ??= runInNewContext('gc') as () => void;
  process.env.POCL_DEVICES = 'basic pthread pthread';
  const { result } = await underLayer(async (env) => {
    Object.assign(process.env, env);
    devices(); // makes the loader load the layer, which then knows its functions
    const control = new LayerControl(env.CLSORT_LAYER_CONTROL as string);
    const host = await Sorter.open({ device: 'host' });
    const tally: Tally = {};
    const failures: string[] = [];
    const end = performance.now() + seconds * 1000;
    let played = 0;
    for (; played < rounds && performance.now() < end; played++) {
      const own = seed + played;
      const hung = AbortSignal.timeout(ROUND_SECONDS * 1000);
      try {
        const round = new Round(new Random(own), control, host, tally);
        const late = new Promise<never>((_, reject) => {
          hung.addEventListener('abort', () => reject(new Error(`hung\n${round.log}`)));
        });
        await Promise.race([round.play(end), late]);
      } catch (error) {
        const failure = `round ${own}: ${(error as Error).message}`;
        failures.push(failure);
        onFailure?.(failure);
        if (hung.aborted) break; // it is not over
      }
    }
    const { count, last } = control.misuses;
    if (count > 0) failures.push(`${count} uses of what was released, the last by ${last}`);
    control.close();
    return { played, failures, tally };
  });
  return result;
}
