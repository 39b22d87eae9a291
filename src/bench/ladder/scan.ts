import { SCAN_STEPS, Scan, type ScanStep } from '../../lab/scan.js';
import { type StepMaker, same, type Task } from './task.js';

function hostScan(keys: Uint32Array): Uint32Array {
  const out = new Uint32Array(keys.length);
  let sum = 0;
  for (let i = 0; i < keys.length; i++) {
    out[i] = sum;
    sum = (sum + (keys[i] as number)) | 0;
  }
  return out;
}

/**
 * Returns the task of exclusive prefix sums of u32 keys. All steps but the single pass recurse over the sums of their
 * tiles.
 */
export function scanTasks(keys: Uint32Array): Task[] {
  const n = keys.length;
  const expected = hostScan(keys);
  const order: ScanStep[] = [...SCAN_STEPS, 'hillis_steele', 'single_pass'];
  const steps = order.map(
    (step): StepMaker => ({
      step,
      async make(device) {
        const scan = await Scan.create(device, { dtype: 'u32', step });
        return {
          ...{ resultBytes: n * 4, scratchBytes: scan.sumBytes(n) },
          enqueue([input], output, sums) {
            if (input) scan.enqueue(device.queue, { input, output, n, sums });
            return output;
          },
          right: (bytes) => same(bytes, expected),
        };
      },
    }),
  );
  return [
    { ladder: 'scan', task: 'prefix sums', inputs: [keys], bytes: n * 8, host: () => hostScan(keys), steps },
  ];
}
