import { REDUCE_STEPS, type ReduceStep, Reduction, SUBGROUPS } from '../../lab/reduce.js';
import type { StepMaker, Task } from './task.js';

function hostSum(keys: Uint32Array): bigint {
  // Sums of 16-bit halves are exact in doubles for up to 2^37 keys.
  let [low, high] = [0, 0];
  for (const key of keys) {
    low += key & 0xffff;
    high += key >>> 16;
  }
  return BigInt(low) + (BigInt(high) << 16n);
}

/** Returns the task of summing u32 keys in 64 bits. */
export function reduceTasks(keys: Uint32Array): Task[] {
  const n = keys.length;
  const expected = hostSum(keys);
  const maker = (step: ReduceStep): StepMaker => ({
    step,
    async make(device) {
      const reduction = await Reduction.create(device, {
        dtype: 'u32',
        op: 'sum',
        subGroups: step === SUBGROUPS,
      });
      return {
        // A reduction may leave its result in either buffer, so both have the same size.
        ...{ resultBytes: 8, scratchBytes: [reduction.partialBytes(n, step)] },
        enqueue: ([input = missing()], result, [other = result]) =>
          reduction.enqueue(device.queue, { keys: input, n, partials: [other, result] }, step),
        right: (bytes) => reduction.value(bytes) === expected,
      };
    },
  });
  const order: readonly ReduceStep[] = [...REDUCE_STEPS, SUBGROUPS];
  const steps = order.map(maker);
  return [{ ladder: 'reduce', task: 'sum', inputs: [keys], bytes: n * 4, host: () => hostSum(keys), steps }];
}

const missing = (): never => {
  throw new Error('cannot run the reduction: it has no input buffer');
};
