/** Main program of the child process of `first-build.ts`: builds kernels of a sort and of primitives on a device. */
import { algorithmNamed } from '../../algorithms/registry.js';
import { Device } from '../../device/device.js';
import { devices } from '../../device/platform/platform.js';
import { buildCompaction } from '../../primitives/compact.js';
import { buildScan } from '../../primitives/prefix-scan.js';
import { buildReduceOnce } from '../../primitives/reduce.js';
import { endWithParent } from '../../util/end-with-parent.js';
import type { FirstBuildMessage } from './first-build.js';
import { devicePlans } from './planner.js';

/** A sort of average size. */
const REQUEST = { n: 2 ** 20, dtype: 'u32', bits: [0, 32], valueBytes: 0, algorithm: 'auto' } as const;

async function buildSort(device: Device): Promise<void> {
  for (const { algorithm, shape } of devicePlans(device, REQUEST)) {
    if (!shape) continue;
    await algorithmNamed(algorithm).create(device, shape);
    return;
  }
}

async function build(name: string): Promise<void> {
  // Platforms have another order in each process.
  const info = devices().find((one) => `${one.platform}\n${one.name}\n${one.driver}` === name);
  if (!info) return;
  const device = await Device.open(info.id);
  const dtype = 'u32';
  // An error of the compiler is not the end of its process: the call that needs the kernels reports it.
  await Promise.allSettled([
    buildSort(device),
    buildReduceOnce(device, { dtype, op: 'sum' }),
    buildScan(device, { dtype, op: 'sum' }),
    buildCompaction(device, { dtype, by: 'mask' }),
  ]);
}

const tell = (message: FirstBuildMessage) => new Promise((resolve) => process.send?.(message, resolve));

endWithParent();
await tell('started');
await build(process.argv[2] ?? '').catch(() => undefined);
await tell('built');
