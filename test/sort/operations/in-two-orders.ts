import type { ExecutionContext } from 'ava';
import type { Sorter } from '../../../src/index.js';
import type { Dtype } from '../../../src/keys/dtype.js';
import { caseInput } from '../../../src/sort/cases/input.js';
import { Reference } from '../../../src/sort/cases/reference.js';
import { type OperationCases, startCase } from '../../../src/sort/operations/case.js';
import { type Distribution, keysOf, SEED } from '../../distributions.js';

/** Checks the cases of an operation with n keys of each distribution, ascending and descending. */
export async function passInTwoOrders(
  t: ExecutionContext,
  sorter: Sorter,
  { checked }: OperationCases,
  [dtype, distributions, n]: readonly [Dtype, readonly Distribution[], number],
): Promise<void> {
  for (const distribution of distributions) {
    const keys = keysOf(dtype, distribution, n);
    const bytes = new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength);
    const reference = new Reference(dtype, bytes);
    for (const order of [
      { descending: false, nan: 'last' },
      { descending: true, nan: 'first' },
    ] as const) {
      const options = {
        ...{ algorithm: 'auto', isStable: true, ...order },
        ...{ call: { dtype }, sort: { dtype, ...order } },
      };
      for (const one of checked) {
        const check = await startCase(one, sorter, caseInput(reference, reference, 1), options);
        t.is(check(), undefined, `${one.name} ${distribution} ${order.nan} seed ${SEED}`);
      }
    }
  }
}
