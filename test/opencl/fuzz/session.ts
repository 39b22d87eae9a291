import { Random } from '../../../src/util/random.js';
import type { Shape } from './generate.js';

/** How a process or a worker ends. */
export type Ending = 'natural' | 'exit' | 'throw' | 'terminate' | 'releaseAll, exit' | 'exit in exit';

/** Programs of one process, derived from a seed. */
export interface Session {
  readonly seed: number;
  readonly programs: readonly Planned[];
  readonly ending: Ending;
  /** The process runs under the layer, which counts references. */
  readonly layer: boolean;
  /** Mapped memory is copied, as where V8 forbids external memory. */
  readonly copies: boolean;
}

export interface Planned {
  readonly index: number;
  readonly seed: number;
  readonly shape: Shape;
  /** On the main thread, or on a worker that runs beside that of the next program. */
  readonly worker: boolean;
  readonly ending: Ending;
  /** The step before which it ends, if not naturally; a worker is terminated this many milliseconds later. */
  readonly cut: number;
}

const PROGRAMS = 8;

/**
 * The session of a seed.
 *
 * @param threads whether several threads may use the driver
 */
export function session(seed: number, threads: boolean, given: Shape): Session {
  const random = new Random(BigInt(seed) + (1n << 40n));
  const chance = (percent: number): boolean => random.below(100) < percent;
  const pick = (from: readonly Ending[]): Ending => from[random.below(from.length)] as Ending;
  const natural = (percent: number, others: readonly Ending[]): Ending =>
    chance(percent) ? 'natural' : pick(others);
  const ending = natural(50, ['exit', 'throw', 'releaseAll, exit', 'exit in exit']);
  const layer = ending === 'natural' && chance(40);
  // Memory that is mapped at its release stays with the driver, and would count as a leak.
  const without = [...given.without, ...(layer ? ['enqueueMapBuffer', 'enqueueMapImage'] : [])];
  const { length } = given;
  const programs = Array.from({ length: PROGRAMS }, (_, index): Planned => {
    const worker = threads && chance(30);
    return {
      index,
      seed: seed * PROGRAMS + index,
      shape: { length, without },
      worker,
      ending: worker
        ? natural(30, ['exit', 'throw', 'terminate', 'terminate', 'releaseAll, exit'])
        : 'natural',
      cut: length / 3 + random.below((length * 2) / 3),
    };
  });
  return { seed, programs, ending, layer, copies: chance(12) };
}
