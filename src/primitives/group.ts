import type { Device } from '../device/device.js';
import type { Program } from '../device/program.js';

/** Work-items of a group where nothing else is known. */
export const GROUP_SIZE = 256;

/** Compiles a program for the largest power-of-two group that all its kernels may have. */
export async function buildForGroups(
  device: Device,
  file: string,
  kernels: readonly string[],
  defines: Readonly<Record<string, number>>,
): Promise<{ program: Program; groupSize: number }> {
  let groupSize = 2 ** Math.floor(Math.log2(Math.min(GROUP_SIZE, device.capabilities.maxWorkGroup)));
  for (;;) {
    const program = await device.program(file, { ...defines, GROUP_SIZE: groupSize });
    const limit = Math.min(...kernels.map((name) => program.kernel(name).workGroupLimit));
    if (limit >= groupSize || groupSize === 1) return { program, groupSize };
    groupSize = 2 ** Math.floor(Math.log2(limit));
  }
}

/** Groups for a walk over n keys: enough to fill the device, and so many that no work-item loops too long. */
export function walkingGroups({ capabilities }: Device, n: number, groupSize: number): number {
  const needed = Math.ceil(n / (16 * groupSize));
  const filling = capabilities.computeUnits * 32;
  const loops = Math.min(capabilities.quirks.maxLoopIterations, 2 ** 16) / 2;
  return Math.max(1, Math.min(needed, filling), Math.ceil(n / (groupSize * loops)));
}
