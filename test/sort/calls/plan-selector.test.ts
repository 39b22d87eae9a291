/** Which of a backend's plans a call takes. */
import test from 'ava';
import type { Backend } from '../../../src/sort/backend/backend.js';
import { PlanSelector } from '../../../src/sort/calls/plan-selector.js';
import type { SortSettings } from '../../../src/sort/model/options.js';
import type { PlanRequest } from '../../../src/sort/model/plan.js';
import { MismatchError } from '../../../src/util/errors.js';

/** The chosen plan, and those that were compiled for it. */
async function selectPlan(good: readonly string[]) {
  const compiled: string[] = [];
  const backend = {
    plans: () => ['first', 'second', 'third'].map((algorithm) => ({ engine: 'device', algorithm, n: 5 })),
    trusts: () => true,
    prepare: async ({ algorithm }: { algorithm: string }) => {
      compiled.push(algorithm);
      if (!good.includes(algorithm)) throw new MismatchError(`${algorithm} failed its self-test`);
    },
  };
  const settings = { algorithm: 'auto', onWarning: () => undefined } as unknown as SortSettings;
  const selector = new PlanSelector({
    backend: backend as unknown as Backend,
    settings,
    onWarning: () => undefined,
  });
  const plan = await selector.plan({ n: 5, algorithm: 'auto' } as PlanRequest, settings);
  return { taken: plan.algorithm, compiled };
}

test('the first plan that works is taken', async (t) => {
  t.deepEqual(await selectPlan(['first']), { taken: 'first', compiled: ['first'] });
  t.deepEqual(await selectPlan(['second', 'third']), { taken: 'second', compiled: ['first', 'second'] });
});
