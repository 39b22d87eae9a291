/** Programs whose groups are as large as the device and its compiler let them be. */
import { powerAtMost } from '../util/powers.js';
import type { Device, KnownDevice } from './device.js';
import type { Program } from './program.js';

/** A compiled program and the work-items of its groups. */
export interface FittedProgram {
  readonly program: Program;
  readonly groupSize: number;
}

/**
 * Compiles a program for the largest power-of-two group, `most` to begin with, that all its kernels may
 * have: a compiler may allow some kernel less than the device allows in general.
 *
 * @param defines macros for a group size, which is one of them
 * @param limitsAreReliable whether kernels tell how large their groups may be: what is told else is worth nothing
 * @throws BuildError
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

/** Most elements, a power of two, that fit the local memory of a group; at most `most`. */
export function localElements({ capabilities }: KnownDevice, bytesEach: number, maxElements: number): number {
  return Math.min(maxElements, powerAtMost(capabilities.localBytes / bytesEach));
}

/** n rounded up to whole groups. */
export const roundUpToGroups = (n: number, groupSize: number): number => Math.ceil(n / groupSize) * groupSize;
