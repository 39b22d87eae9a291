/** Main program of the child process of `first-build.ts`: builds the kernels that a sort on a device would use. */
import { algorithmNamed } from '../../algorithms/registry.js';
import { Device } from '../../device/device.js';
import { devices } from '../../device/platform/platform.js';
import { endWithParent } from '../../util/end-with-parent.js';
import type { FirstBuildMessage } from './first-build.js';
import { devicePlans } from './planner.js';

/** A sort of average size. */
const REQUEST = { n: 2 ** 20, dtype: 'u32', bits: [0, 32], valueBytes: 0, algorithm: 'auto' } as const;

async function build(name: string): Promise<void> {
  // Platforms have another order in each process.
  const info = devices().find((one) => `${one.platform}\n${one.name}\n${one.driver}` === name);
  if (!info) return;
  const device = await Device.open(info.id);
  for (const { algorithm, shape } of devicePlans(device, REQUEST)) {
    if (!shape) continue;
    await algorithmNamed(algorithm).create(device, shape);
    return;
  }
}

const tell = (message: FirstBuildMessage) => new Promise((resolve) => process.send?.(message, resolve));

endWithParent();
await tell('started');
// An error of the compiler is not the end of its process: the sort reports it.
await build(process.argv[2] ?? '').catch(() => undefined);
await tell('built');
