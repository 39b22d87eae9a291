import * as cl from '../../opencl/index.js';
import { toNumber } from '../platform/platform.js';

export interface StageName {
  readonly stage: string;
  readonly pass?: number;
}

/** Device time of one command. */
export interface StageTime extends StageName {
  /** Device seconds from start to end; null if the device reports no times. */
  readonly seconds: number | null;
  /** Device seconds from the start of the first command to the end of this one; null as above. */
  readonly ended?: number | null;
}

/** A command with its event, or with the seconds that the host measured; null if it was not timed. */
type RecordedCommand = StageName & ({ readonly event: cl.Event } | { readonly seconds: number | null });

/** The commands of a queue in order, with the time of each. */
export class Profile {
  /** Whether each command keeps an event. Without events only names are recorded. */
  readonly timed: boolean;
  readonly #recorded: RecordedCommand[] = [];

  constructor(timed: boolean) {
    this.timed = timed;
  }

  /**
   * Adds a command.
   *
   * @param event omitted if commands are not timed
   */
  add(name: StageName, event?: cl.Event): void {
    this.#recorded.push(event ? { ...name, event } : { ...name, seconds: null });
  }

  addHostStage(stage: string, seconds: number): void {
    this.#recorded.push({ stage, seconds: this.timed ? seconds : null });
  }

  /**
   * Returns the times of all commands and clears the profile. All commands must be done.
   *
   * @param isReliable whether the driver reports real times
   */
  take(isReliable: boolean): StageTime[] {
    let first: number | undefined;
    return this.#recorded.splice(0).map((one) => {
      if ('seconds' in one) return one;
      const { event, ...name } = one;
      const times = isReliable ? timesOf(event) : null;
      cl.releaseAsync(event);
      first ??= times?.start;
      return {
        ...name,
        seconds: times && (times.end - times.start) * 1e-9,
        ended: times && first !== undefined ? (times.end - first) * 1e-9 : null,
      };
    });
  }
}

/** Returns start and end in nanoseconds of the device's clock; null if the driver reports none. */
function timesOf(event: cl.Event): { start: number; end: number } | null {
  try {
    const start = toNumber(cl.getEventProfilingInfo(event, cl.PROFILING_COMMAND_START));
    const end = toNumber(cl.getEventProfilingInfo(event, cl.PROFILING_COMMAND_END));
    return end > start ? { start, end } : null;
  } catch {
    return null; // CL_PROFILING_INFO_NOT_AVAILABLE: the stage table shows n/a
  }
}

/** Returns when a command ended, in nanoseconds of the device's clock; null if the device reports no times. */
export function endTimeOf(event: cl.Event): number | null {
  try {
    return toNumber(cl.getEventProfilingInfo(event, cl.PROFILING_COMMAND_END));
  } catch {
    return null;
  }
}
