import type { Device } from '../device/device.js';
import { buildFittedProgram, type FittedProgram } from '../device/fitted-program.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';

/** Default work-items per group. */
export const GROUP_SIZE = 256;

/** Options for inspecting a program, for `clsort explain` and `clsort bench ladder`. */
export interface LabOptions {
  /** Most work-items of a group; default 256. */
  readonly groupSize?: number;
  /** Kernels store the content of local memory after each level, see cl/trace.clh. Default false. */
  readonly trace?: boolean;
  /** Unsuccessful polls of another group's state before a group computes the value itself; default 16,384. */
  readonly looks?: number;
}

/** Compiled programs. */
const built = new Memo<FittedProgram>();

/** Builds a program once per device, as `buildFittedProgram`. @throws BuildError */
export function buildForGroups(
  device: Device,
  file: string,
  kernels: readonly string[],
  defines: Readonly<Record<string, number>>,
  { groupSize: maxGroupSize = GROUP_SIZE, trace = false }: LabOptions = {},
  options: readonly string[] = [],
): MaybePromise<FittedProgram> {
  const chosen = [maxGroupSize, trace, ...options];
  const name = `${file} ${kernels} ${Object.keys(defines)} ${Object.values(defines)} ${chosen}`;
  const definesFor = (groupSize: number) => ({
    ...defines,
    ...(trace && { TRACE: 1 }),
    GROUP_SIZE: groupSize,
  });
  return built.get(device, name, () =>
    buildFittedProgram(device, file, kernels, maxGroupSize, definesFor, options),
  );
}

/**
 * Returns the groups of a grid-stride loop over n keys: enough to fill the device and to bound each work-item's loop.
 */
export function gridStrideGroups({ capabilities }: Device, n: number, groupSize: number): number {
  const needed = Math.ceil(n / (16 * groupSize));
  const filling = capabilities.computeUnits * 32;
  const loops = Math.min(capabilities.quirks.maxLoopIterations, 2 ** 16) / 2;
  return Math.max(1, Math.min(needed, filling), Math.ceil(n / (groupSize * loops)));
}
