/** Which of a backend's plans a call takes. */
import test from 'ava';
import type { Backend } from '../../../src/sort/backend/backend.js';
import { PlanSelector } from '../../../src/sort/calls/plan-selector.js';
import type { SortSettings } from '../../../src/sort/model/options.js';
import type { PlanRequest } from '../../../src/sort/model/plan.js';
import { MismatchError } from '../../../src/util/errors.js';

interface Candidates {
  /** Names of algorithms: all there are, best first, and those that pay, are ready and can be prepared. */
  readonly all: readonly string[];
  readonly paying?: readonly string[];
  readonly ready?: readonly string[];
  readonly good?: readonly string[];
}

/** The chosen plan, how often plans were asked whether they pay, and those compiled in the background. */
async function selectPlan({ all, paying = all, ready = all, good = all }: Candidates, algorithm = 'auto') {
  let asked = 0;
  const later: string[] = [];
  const backend = {
    plans: () => all.map((name) => ({ engine: 'device', algorithm: name, n: 5 })),
    trusts: () => true,
    pays: (plan: { algorithm: string }) => {
      asked++;
      return paying.includes(plan.algorithm);
    },
    isReady: (plan: { algorithm: string }) => ready.includes(plan.algorithm),
    prepare: async (plan: { algorithm: string }) => {
      later.push(plan.algorithm);
      if (!good.includes(plan.algorithm)) throw new MismatchError(`${plan.algorithm} failed its self-test`);
    },
  };
  const settings = { algorithm, onWarning: () => undefined } as unknown as SortSettings;
  const selector = new PlanSelector({
    backend: backend as unknown as Backend,
    settings,
    onWarning: () => undefined,
    compiler: { prepare: (_, plan) => void backend.prepare(plan) },
  });
  const plan = await selector.plan({ n: 5, algorithm } as PlanRequest, settings);
  return { taken: plan.algorithm, asked, later };
}

test('a plan without a recent gain gives way to the next one once that is compiled', async (t) => {
  const all = ['first', 'second', 'third'];
  t.deepEqual(await selectPlan({ all }), { taken: 'first', asked: 1, later: [] });
  const paying = ['second', 'third'];
  t.deepEqual(await selectPlan({ all, paying }), { taken: 'second', asked: 1, later: [] });
  // It is compiled in the background.
  t.deepEqual(await selectPlan({ all, paying, ready: ['first'] }), {
    taken: 'first',
    asked: 1,
    later: ['second'],
  });
  t.deepEqual(await selectPlan({ all: ['first'], paying: [] }), { taken: 'first', asked: 1, later: [] });
  // No plan is asked whether it pays before it is compiled.
  t.deepEqual(await selectPlan({ all, paying, ready: [], good: paying }), {
    taken: 'second',
    asked: 0,
    later: ['first', 'second'],
  });
});

test('an algorithm that is requested by name is used even without a recent gain', async (t) => {
  t.deepEqual(await selectPlan({ all: ['first'], paying: [] }, 'first'), {
    taken: 'first',
    asked: 0,
    later: [],
  });
});
