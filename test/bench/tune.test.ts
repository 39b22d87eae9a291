import test from 'ava';
import type { Tuning } from '../../src/algorithms/parameters.js';
import { ALGORITHMS } from '../../src/algorithms/registry.js';
import {
  axesOf,
  gain,
  search,
  type Trial,
  TUNABLE,
  tuneCases,
  variedParameters,
} from '../../src/bench/tune.js';

const AXES = { size: [1, 2, 4, 8, 16], bits: [4, 6, 8] };
const START = { size: 2, bits: 8, rank: 'masks' };

const ok = (median: number, mad = 0): Trial => ({ result: 'ok', time: { median, mad } });
const always = () => true;

/** Fastest at size 8 and 6 bits. */
const cost = ({ size, bits }: Tuning): number =>
  1 + Math.abs(Math.log2(Number(size)) - 3) + Math.abs(Number(bits) - 6);

test('the search finds the fastest value of each parameter and leaves the fixed ones unchanged', async (t) => {
  const found = await search(AXES, START, { attempt: async (tuning) => ok(cost(tuning)), more: always });
  t.deepEqual(found?.tuning, { size: 8, bits: 6, rank: 'masks' });
  t.deepEqual(found?.before, { median: 5, mad: 0 });
  t.deepEqual(found?.after, { median: 1, mad: 0 });
  t.is(found && gain(found), 0.8);
});

test('the search also starts from known parameters that single steps may not reach', async (t) => {
  const cost = ({ size, bits }: Tuning) =>
    size === 16 && bits === 4 ? 1 : 2 + Number(size) + 8 - Number(bits);
  const tried: Tuning[] = [];
  const found = await search(AXES, START, {
    attempt: async (tuning) => ok(cost(tuning)),
    more: always,
    known: [{ size: 16, bits: 4, rank: 'ptx', spinLimit: 3 }],
    onTried: (tuning) => tried.push(tuning),
  });
  t.deepEqual(tried[1], { size: 16, bits: 4, rank: 'masks' }, 'only what is there and can be varied');
  t.deepEqual(found?.tuning, { size: 16, bits: 4, rank: 'masks' });
  const alone = await search(AXES, START, { attempt: async (tuning) => ok(cost(tuning)), more: always });
  t.not(alone?.tuning.size, 16);
});

test('parameters that sort wrong never win and are reported', async (t) => {
  const attempt = async (tuning: Tuning): Promise<Trial> =>
    tuning.size === 8 ? { result: 'wrong', reason: 'not in order' } : ok(cost(tuning));
  const found = await search(AXES, START, { attempt, more: always });
  t.not(found?.tuning.size, 8);
  t.is(found?.tuning.bits, 6);
  t.true((found?.wrong.length ?? 0) > 0);
  t.true(found?.wrong.every(({ size }) => size === 8));
});

test('parameters that the device does not support are skipped', async (t) => {
  const attempt = async (tuning: Tuning): Promise<Trial> =>
    Number(tuning.size) > 4 ? { result: 'unsupported', reason: 'too large' } : ok(cost(tuning));
  const found = await search(AXES, START, { attempt, more: always });
  t.deepEqual(found?.tuning, { size: 4, bits: 6, rank: 'masks' });
  t.deepEqual(found?.wrong, []);
});

test('a gain within the noise is ignored', async (t) => {
  const attempt = async (tuning: Tuning) => ok(tuning === START ? 1 : 0.9, 0.05);
  const found = await search(AXES, START, { attempt, more: always });
  t.is(found?.tuning, START);
  t.is(found && gain(found), 0);
});

test('a gain that a second measurement does not confirm is ignored', async (t) => {
  let first = true;
  const attempt = async (tuning: Tuning) => {
    const slow = first && tuning === START;
    first = false;
    return ok(slow ? 2 : 1);
  };
  const found = await search(AXES, START, { attempt, more: always });
  t.is(found?.tuning, START);
});

test('the search ends when time is up and returns the best parameters so far', async (t) => {
  let left = 3;
  const found = await search(AXES, START, {
    attempt: async (tuning) => ok(cost(tuning)),
    more: () => left-- > 0,
  });
  t.true((found?.tried ?? 0) <= 4);
  t.true((found && gain(found) >= 0) ?? false);
});

test('the search returns nothing if the present parameters do not work', async (t) => {
  const reasons: string[] = [];
  const found = await search(AXES, START, {
    attempt: async () => ({ result: 'unsupported', reason: 'no such device' }),
    more: always,
    onTried: (_, tried) => tried.result === 'unsupported' && reasons.push(tried.reason),
  });
  t.is(found, undefined);
  t.deepEqual(reasons, ['no such device']);
});

test('only parameters that affect the sort are varied', (t) => {
  const names = (algorithm: string, valueBytes: number) => {
    const one = tuneCases([algorithm]).find(({ which }) => which.valueBytes === valueBytes);
    return Object.keys(one ? axesOf(one) : {}).filter((name) =>
      ['checkedLanes', 'valuesAfter'].includes(name),
    );
  };
  t.deepEqual(names('onesweep', 0), ['checkedLanes']);
  t.deepEqual(names('onesweep', 4), ['valuesAfter']);
  t.deepEqual(names('tiled', 0), []);
  t.deepEqual(names('tiled', 4), ['valuesAfter']);
});

test('the search for wide varies its own parameters and not those of its onesweep passes', (t) => {
  const cases = tuneCases(['hybrid-radix']);
  t.deepEqual(
    cases.map(({ which, n }) => [which.keyBits, which.valueBytes, n]),
    [0, 4].flatMap((valueBytes) => [
      [64, valueBytes, 2 ** 25],
      [64, valueBytes, 2 ** 24],
    ]),
  );
  const own = [
    ...['finishSize', 'finishKeys', 'finishGroups'],
    ...['maxDigits', 'minDigits', 'crowd', 'sample', 'bucket'],
  ];
  for (const one of cases) {
    t.deepEqual(Object.keys(axesOf(one)), own);
    t.deepEqual(variedParameters(one, { groupSize: 384, bucket: 512, rank: 'ptx', crowd: 8 }), {
      bucket: 512,
      crowd: 8,
    });
  }
});

test('the tuning cases of an algorithm cover separate ranges of sizes', (t) => {
  for (const [algorithm, { sizes }] of Object.entries(TUNABLE)) {
    t.true(
      ALGORITHMS.some(({ name }) => name === algorithm),
      algorithm,
    );
    const cases = tuneCases([algorithm]).filter(
      ({ which }) => which.keyBits === 64 && which.valueBytes === 0,
    );
    t.is(cases.length, sizes.length);
    for (const { which, n } of cases) {
      t.true(n > (which.over ?? 0) && n <= (which.n ?? Number.POSITIVE_INFINITY), `${algorithm} ${n}`);
      const others = cases.filter((other) => other.n !== n);
      t.true(others.every((other) => n <= (other.which.over ?? 0) || n > (other.which.n ?? Infinity)));
    }
  }
  t.deepEqual(
    tuneCases(['serial'], [{ keyBits: 16, valueBytes: 8 }]).map(({ which }) => [
      which.keyBits,
      which.valueBytes,
    ]),
    TUNABLE.serial?.sizes.map(() => [16, 8]),
    'or only the requested shapes',
  );
  t.is(tuneCases(['serial', 'single-workgroup'])[0]?.algorithm, 'serial', 'the most important first');
});
