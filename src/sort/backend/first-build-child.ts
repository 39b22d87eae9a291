/** Main program of the child process of `first-build.ts`: builds kernels of a sort and of primitives on a device, and runs two. */
import { algorithmNamed } from '../../algorithms/registry.js';
import { Device } from '../../device/device.js';
import { devices } from '../../device/platform/platform.js';
import { buildCompaction } from '../../primitives/compact.js';
import { buildScan } from '../../primitives/prefix-scan.js';
import { enqueueReduce } from '../../primitives/reduce.js';
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

/** Sums one key. A driver may compile a kernel before its first run: zink on lavapipe ends the process in that of f32. */
async function reduce(device: Device, dtype: 'u32' | 'f32'): Promise<void> {
  const keys = device.allocatePersistent(4);
  device.queue.write(keys, new Uint32Array(1));
  await enqueueReduce(device, { keys, n: 1, dtype, op: 'sum' });
  await device.queue.finish();
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
    reduce(device, 'u32').then(() => reduce(device, 'f32')),
    buildScan(device, { dtype, op: 'sum' }),
    buildCompaction(device, { dtype, by: 'mask' }),
  ]);
}

const tell = (message: FirstBuildMessage) => new Promise((resolve) => process.send?.(message, resolve));

endWithParent();
await tell('started');
await build(process.argv[2] ?? '').catch(() => undefined);
await tell('built');
