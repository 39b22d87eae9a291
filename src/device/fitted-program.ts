/** Programs with the largest work-groups that the device and its compiler allow. */
import { powerAtMost } from '../util/powers.js';
import type { Device, KnownDevice } from './device.js';
import type { Program } from './programs/program.js';

/** A compiled program and its work-group size. */
export interface FittedProgram {
  readonly program: Program;
  readonly groupSize: number;
}

/**
 * Compiles a program for the largest power-of-two work-group that all its kernels allow. A compiler may allow a
 * kernel less than the device allows in general.
 *
 * @param kernels names of the kernels whose limits count
 * @param maxGroupSize size to start with
 * @param defines returns the macros for a group size, which is one of them
 * @param options further compiler options
 * @param limitsAreReliable whether kernels report their limits correctly; else the limits are ignored. Default: true
 * @throws BuildError when the program does not compile
 */
export async function buildFittedProgram(
  device: Device,
  file: string,
  kernels: readonly string[],
  maxGroupSize: number,
  defines: (groupSize: number) => Readonly<Record<string, number>>,
  options: readonly string[] = [],
  limitsAreReliable = true,
): Promise<FittedProgram> {
  let groupSize = powerAtMost(Math.min(maxGroupSize, device.capabilities.maxWorkGroup));
  for (;;) {
    const program = await device.program(file, defines(groupSize), options);
    const limits = kernels.map((name) => program.kernel(name).workGroupLimit);
    const limit = limitsAreReliable ? Math.min(...limits) : groupSize;
    if (limit >= groupSize || groupSize === 1) return { program, groupSize };
    groupSize = powerAtMost(limit);
  }
}

/** Returns how many elements fit the local memory of a group: a power of two, at most `maxElements`. */
export function localElements({ capabilities }: KnownDevice, bytesEach: number, maxElements: number): number {
  return Math.min(maxElements, powerAtMost(capabilities.localBytes / bytesEach));
}

/** Rounds `n` up to a multiple of `groupSize`. */
export const roundUpToGroups = (n: number, groupSize: number): number => Math.ceil(n / groupSize) * groupSize;
