/** Variants that are compiled in the background. */
import test from 'ava';
import type { Backend, Session } from '../../../src/sort/backend/backend.js';
import { CallScheduler } from '../../../src/sort/calls/call-scheduler.js';
import { BackgroundCompiler } from '../../../src/sort/calls/sort-batcher.js';
import type { Plan } from '../../../src/sort/model/plan.js';
import { BuildError } from '../../../src/util/errors.js';

test('each variant is compiled once for each backend, even if it fails', async (t) => {
  const compiled: string[] = [];
  const backendOf = (name: string) =>
    ({
      prepare: async ({ algorithm }: Plan) => {
        await new Promise((resolve) => setImmediate(resolve));
        compiled.push(`${name} ${algorithm}`);
        if (algorithm === 'broken') throw new BuildError('does not compile');
      },
    }) as unknown as Backend;
  const [one, another] = [backendOf('one'), backendOf('another')];
  const scheduler = new CallScheduler();
  const compiler = new BackgroundCompiler(
    { run: (use: (backend: Backend) => unknown) => use(one) } as unknown as Session,
    scheduler,
  );
  const failures: unknown[] = [];
  for (const algorithm of ['good', 'broken', 'good', 'broken']) {
    compiler.prepare(one, { algorithm, shape: { keyBits: 64, valueBytes: 0 } } as Plan, (error) =>
      failures.push(error),
    );
  }
  compiler.prepare(another, { algorithm: 'broken' } as Plan);
  while (!scheduler.isIdle) await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(compiled, ['one good', 'one broken', 'another broken']);
  t.is(failures.length, 1);
  t.true(failures[0] instanceof BuildError);
  compiler.prepare(one, { algorithm: 'broken', shape: { keyBits: 8, valueBytes: 0 } } as Plan, (error) =>
    failures.push(error),
  );
  await scheduler.close();
  t.is(compiled.length, 3, 'close does not wait');
  while (!scheduler.isIdle) await new Promise((resolve) => setImmediate(resolve));
  t.is(compiled.length, 4);
  t.is(failures.length, 1, 'a failure after that is not reported');
});
