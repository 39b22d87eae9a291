/** Calls on a failing device: another algorithm, smaller chunks, fall back to the host, and errors. */
import test from 'ava';
import {
  AbortedError,
  BuildError,
  DeviceLostError,
  InputError,
  MemoryError,
  MismatchError,
  UnsupportedError,
} from '../../../src/index.js';
import { fakeSorter } from '../fake-backend.js';

const random = (n: number): Uint32Array =>
  Uint32Array.from({ length: n }, (_, i) => Math.imul(i + 1, 2654435761) >>> 7);

const KEYS = random(900);
const SORTED = KEYS.toSorted();
const ONES = KEYS.map(() => 1);

/** Algorithms of the sorts that a fake device received, in order. */
const sortsOf = ({ backend }: ReturnType<typeof fakeSorter>['session']): string[] =>
  backend.sorts.map(({ plan }) => plan.algorithm);

const codesOf = (warnings: readonly { code: string }[]): string[] => warnings.map(({ code }) => code);

/** Names of the algorithms that a fake device plans, best first. */
function planned({ backend }: ReturnType<typeof fakeSorter>['session'], n: number): string[] {
  const request = { n, dtype: 'u32', bits: [0, 32], valueBytes: 0, algorithm: 'auto' } as const;
  return [...backend.plans(request)].map(({ algorithm }) => algorithm);
}

test('an algorithm is compiled once, by the first call that needs it', async (t) => {
  const { sorter, session } = fakeSorter();
  for (let i = 0; i < 3; i++) t.deepEqual(await sorter.sort(KEYS), SORTED);
  const [best = ''] = planned(session, KEYS.length);
  t.deepEqual(session.backend.compiled, [best]);
  t.deepEqual(sortsOf(session), [best, best, best]);
});

test('the first calls of operations of several steps return what later calls return', async (t) => {
  const { sorter } = fakeSorter();
  const others = random(1800).subarray(450);
  const inOthers = new Set(others);
  for (let i = 0; i < 2; i++) {
    t.deepEqual(
      await sorter.isIn(KEYS, others),
      Uint8Array.from(KEYS, (key) => Number(inOthers.has(key))),
    );
    const only = [...KEYS.subarray(0, 450), ...others.subarray(450)];
    t.deepEqual(await sorter.setXor(KEYS, others), Uint32Array.from(only).sort());
    const { left, right } = await sorter.join(KEYS, others);
    t.deepEqual(
      left,
      Uint32Array.from({ length: 450 }, (_, j) => 450 + j),
    );
    t.deepEqual(
      right,
      Uint32Array.from({ length: 450 }, (_, j) => j),
    );
    t.is(await sorter.nth(KEYS, 450), SORTED[450] as number);
    t.deepEqual(await sorter.lexsort([ONES, ONES, KEYS]), await sorter.argsort(KEYS));
  }
});

test('an algorithm that does not compile is replaced by the next one, with one warning', async (t) => {
  const { sorter, session, warnings } = fakeSorter();
  const [first = '', second = ''] = planned(session, KEYS.length);
  session.backend.broken.set(first, new BuildError('does not compile'));
  t.deepEqual(await sorter.sort(KEYS), SORTED);
  t.deepEqual(sortsOf(session), [second]);
  t.deepEqual(codesOf(warnings), ['ERR_CLSORT_BUILD']);
  await t.throwsAsync(sorter.sort(KEYS, { algorithm: first as 'auto' }), { instanceOf: BuildError });
});

test('a device without an algorithm that compiles is an UnsupportedError that lists the causes', async (t) => {
  const { sorter, session } = fakeSorter();
  const names = planned(session, KEYS.length);
  for (const name of names)
    session.backend.broken.set(name, new MismatchError(`${name} failed its self-test`));
  const error = await t.throwsAsync(sorter.sort(KEYS), { instanceOf: UnsupportedError });
  for (const name of names) t.true(error?.message.includes(`${name} failed its self-test`), name);
  t.deepEqual(sortsOf(session), []);
});

test('after two refused results the host sorts and warns', async (t) => {
  for (const place of ['host', 'device'] as const) {
    const { sorter, session, warnings } = fakeSorter();
    session.backend.faultOf = ({ engine }) => (engine === 'host' ? undefined : { spoils: 'lost elements' });
    const keys = place === 'host' ? KEYS : await sorter.upload(KEYS);
    const sorted = await sorter.sort(keys);
    t.deepEqual(sorted instanceof Uint32Array ? sorted : await sorted.read(), SORTED);
    const names = sortsOf(session);
    t.is(names.length, 3);
    t.is(new Set(names).size, 3);
    t.is(names.at(-1), 'host');
    t.deepEqual(codesOf(warnings), new Array(3).fill('ERR_CLSORT_MISMATCH'));
    t.regex(
      warnings[2]?.message ?? '',
      /cannot use any algorithm on NVIDIA A10: .* lost elements; falling back to the host/,
    );
  }
});

test("with onMismatch 'throw' a refused result rejects without a retry", async (t) => {
  const { sorter, session, warnings } = fakeSorter();
  session.backend.faultOf = () => ({ spoils: 'lost elements' });
  await t.throwsAsync(sorter.sort(KEYS, { onMismatch: 'throw' }), {
    instanceOf: MismatchError,
    message: /cannot use the result: .* lost elements/,
  });
  t.is(session.backend.sorts.length, 1);
  t.is(warnings.length, 0);
});

test('a sort that does not fit device memory is retried in chunks of half the size', async (t) => {
  const { sorter, session, warnings } = fakeSorter();
  const keys = random(20_000);
  const full = new MemoryError('no room');
  session.backend.faultOf = ({ n }) => (n > 6000 ? { throws: full } : undefined);
  t.deepEqual(await sorter.sort(keys), keys.toSorted());
  t.deepEqual(
    warnings.map(({ message }) => message),
    [10_000, 5000].map((n) => `no room; continuing with chunks of ${n} keys`),
  );
  session.backend.faultOf = () => ({ throws: full });
  await t.throwsAsync(sorter.sort(keys), { instanceOf: MemoryError });
});

test('a device that is out of resources for a few keys counts as lost', async (t) => {
  const { sorter, session } = fakeSorter();
  for (const [status, instanceOf] of [
    [-5, DeviceLostError],
    [-4, MemoryError],
  ] as const) {
    const throws = new MemoryError('out of resources', { details: { status } });
    session.backend.faultOf = () => ({ throws });
    await t.throwsAsync(sorter.sort(KEYS), { instanceOf });
  }
});

test('a device that was chosen by default falls back to the host when its memory is full', async (t) => {
  const { sorter, session, warnings } = fakeSorter(100);
  session.backend.faultOf = () => ({ throws: new MemoryError('no room') });
  t.deepEqual(await sorter.sort(KEYS), SORTED);
  t.deepEqual(codesOf(warnings), ['ERR_CLSORT_MEMORY']);
  t.regex(warnings[0]?.message ?? '', /falling back to the host/);
  using array = await sorter.upload(KEYS);
  await t.throwsAsync(sorter.sort(array), { instanceOf: MemoryError });
});

test('device arrays and pending calls are lost with their device, and new arrays work', async (t) => {
  const { sorter, session } = fakeSorter();
  const array = await sorter.upload(KEYS);
  const [waiting, dependant] = [sorter.sort(array), sorter.sort(sorter.sort(array))];
  const gathered = sorter.gather(array, sorter.argsort(array));
  session.lose();
  await t.throwsAsync(waiting, { instanceOf: DeviceLostError });
  await t.throwsAsync(dependant, { instanceOf: InputError, message: /cannot use an input/ });
  await t.throwsAsync(gathered, { instanceOf: InputError, message: /cannot use an input/ });
  await t.throwsAsync(array.read(), { instanceOf: DeviceLostError });
  t.deepEqual(await sorter.sort(KEYS), SORTED);
  using again = await sorter.upload(KEYS);
  t.deepEqual(await (await sorter.sort(again)).read(), SORTED);
});

test('a failed call frees its memory', async (t) => {
  const { sorter, session } = fakeSorter();
  using array = await sorter.upload(KEYS);
  const { used } = sorter.memory();
  for (const fault of [{ throws: new TypeError('a bug') }, { fails: new TypeError('a bug') }]) {
    session.backend.faultOf = () => fault;
    await t.throwsAsync(sorter.sort(array), { instanceOf: TypeError });
    await t.throwsAsync(sorter.topK(array, 3), { instanceOf: TypeError });
    await t.throwsAsync(sorter.sort(KEYS), { instanceOf: TypeError });
    await new Promise(setImmediate);
    t.is(sorter.memory().used, used);
  }
});

test('each call of a chain is enqueued immediately and waits once', async (t) => {
  const { sorter, session } = fakeSorter();
  using array = await sorter.upload(KEYS);
  await sorter.argsort(array); // compiles
  const { queue } = session.backend;
  const before = queue.waits;
  const chain = sorter.gather(array, sorter.argsort(array));
  t.is(session.backend.sorts.length, 2, 'enqueued when the call returns');
  await chain;
  t.is(queue.waits, before + 2);
});

test('a signal that fires during a sort aborts its call', async (t) => {
  const { sorter, session } = fakeSorter();
  const controller = new AbortController();
  session.backend.faultOf = () => {
    controller.abort();
    return undefined;
  };
  await t.throwsAsync(sorter.sort(KEYS, { signal: controller.signal }), { instanceOf: AbortedError });
  t.deepEqual(await sorter.sort(KEYS), SORTED);
});
