import test from 'ava';
import * as host from '../../src/native-host/host-functions.js';
import * as cl from '../../src/opencl/index.js';
import { deviceNames } from './devices.js';
import { CALLS } from './fuzz/calls.js';
import { generate } from './fuzz/generate.js';
import { attempt, describe, type Hunt, shrink } from './fuzz/hunt.js';
import type { Traits } from './fuzz/model.js';
import { innerSteps, type Program, textOf } from './fuzz/program.js';

const TRAITS: Traits = {
  name: 'pocl',
  version: 300,
  images: true,
  svm: true,
  outOfOrder: true,
  singleThreaded: false,
};
const SHAPE = { length: 60, without: [] };

const textOfProgram = ({ steps }: Program): string => steps.map(textOf).join('\n');

const hunt = (device: string, shape = SHAPE): Hunt => ({ device, env: {}, shape, patience: 120_000 });

test('the fuzzer knows every exported function', (t) => {
  const functions = Object.entries({ ...cl, ...host }).filter(
    ([, of]) => typeof of === 'function' && !/^(abstract )?class\b/.test(String(of)),
  );
  t.deepEqual(
    Object.keys(CALLS)
      .filter((name) => !name.includes('.')) // a method
      .sort(),
    functions.map(([name]) => name).sort(),
  );
});

test('equal seeds generate equal programs, and different seeds different ones', (t) => {
  const texts = [5, 5, 6].map((seed) => textOfProgram(generate(seed, TRAITS, SHAPE)));
  t.is(texts[0], texts[1]);
  t.not(texts[0], texts[2]);
});

test('generated programs reach every call, with code in arguments and in callbacks', (t) => {
  const called = new Set<string>();
  let inner = 0;
  for (let seed = 0; seed < 800; seed++) {
    for (const step of generate(seed, TRAITS, { ...SHAPE, length: 120 }).steps) {
      called.add(step.call);
      inner += step.arguments.flatMap(innerSteps).length;
    }
  }
  t.deepEqual(
    Object.keys(CALLS).filter((name) => CALLS[name]?.weight !== 0 && !called.has(name)),
    [],
  );
  t.true(inner > 400, `${inner} inner calls`);
});

test('calls and code in arguments can be excluded from generated programs', (t) => {
  for (let seed = 0; seed < 20; seed++) {
    const { steps } = generate(seed, TRAITS, { length: 120, without: ['enqueueFillBuffer', '$trap'] });
    t.false(steps.some(({ call }) => call === 'enqueueFillBuffer'));
    t.notRegex(textOfProgram({ seed, steps }), /\/\* (getter|proxy) of/);
  }
});

for (const device of deviceNames) {
  const shape = { length: 40, without: [] };

  test(`${device}: a crash is found, reported with its seed and reduced to few calls`, async (t) => {
    const planted: Hunt = { ...hunt(device, shape), plant: { call: 'flush', how: 'crash' } };
    let { finding } = await attempt(planted, 1);
    for (let seed = 2; !finding && seed < 30; seed++) ({ finding } = await attempt(planted, seed));
    if (!finding) return t.fail('no crash was found');
    t.regex(finding.signature, /^SIGABRT/);
    const smallest = await shrink(planted, finding, performance.now() + 60_000);
    const text = describe(smallest, planted);
    t.regex(text, new RegExp(`--replay ${finding.seed}`));
    t.regex(text, /= flush\(/);
    const left = Object.values(smallest.keep ?? {}).reduce((sum, ids) => sum + ids.length, 0);
    t.true(left > 0 && left <= 20, text);
  });

  test(`${device}: a violated property and a process that hangs are found`, async (t) => {
    const call = 'createContext';
    const wrong = await attempt({ ...hunt(device, shape), plant: { call, how: 'violation' } }, 1);
    t.is(wrong.finding?.signature, 'on purpose');
    const hung = await attempt({ ...hunt(device, shape), patience: 5000, plant: { call, how: 'hang' } }, 1);
    t.is(hung.finding?.signature, 'hang');
    t.regex(hung.finding?.last ?? '', /createContext/);
  });

  test(`${device}: three seeds find no fault`, async (t) => {
    for (let seed = 100; seed < 103; seed++) {
      const { finding, succeeded, refused } = await attempt(hunt(device), seed);
      t.is(finding && describe(finding, hunt(device)), undefined);
      t.true(succeeded > refused, `${succeeded} succeeded, ${refused} were refused`);
    }
  });
}
