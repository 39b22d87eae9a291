import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { type AlgorithmShape, tunedShape } from '../../src/algorithms/algorithm.js';
import { checkTuning, choice, onOff, whole } from '../../src/algorithms/parameters.js';
import { ALGORITHMS, algorithmNamed, plannedOn } from '../../src/algorithms/registry.js';
import { knownTunings } from '../../src/algorithms/tuning.js';
import { searchedAlgorithms } from '../../src/bench/tune.js';
import type { Device } from '../../src/device/device.js';
import { UsageError } from '../../src/util/errors.js';
import { packageRoot } from '../../src/util/paths.js';

const some = {
  name: 'some',
  parameters: { chunk: whole(1, 8), rank: choice(['masks', 'ptx']), lines: onOff() },
};

test('an unknown parameter throws and suggests the closest name', (t) => {
  const error = t.throws(() => checkTuning(some, { chnk: 4 }), { instanceOf: UsageError });
  t.is(
    error?.message,
    `expected one of chunk, rank, lines for tuning of algorithm 'some' but got "chnk". Did you mean "chunk"?`,
  );
  t.throws(() => checkTuning(some, { constructor: 1 }), { message: /but got "constructor"/ });
  t.throws(() => checkTuning({ name: 'none', parameters: {} }, { chunk: 4 }), { message: /no parameter/ });
});

test('an invalid parameter value throws and lists the valid values', (t) => {
  for (const value of [0, 9, 1.5, '4', Number.NaN]) {
    t.throws(() => checkTuning(some, { chunk: value }), { message: /whole number from 1 to 8/ });
  }
  t.throws(() => checkTuning(some, { rank: 'magic' }), {
    message: /one of masks, ptx for rank of .* but got "magic"/,
  });
  t.throws(() => checkTuning(some, { lines: 1 }), { message: /one of false, true/ });
  t.notThrows(() => checkTuning(some, { chunk: 8, rank: 'ptx', lines: false }));
});

test('every algorithm rejects an unknown parameter before it compiles', (t) => {
  const device = {} as Device; // not used before the parameters are checked
  for (const factory of ALGORITHMS) {
    const shape: AlgorithmShape = { keyBits: 32, valueBytes: 0, tuning: { radixBitz: 4 } };
    t.throws(() => tunedShape(factory, device, shape, 10), { instanceOf: UsageError, message: /radixBitz/ });
  }
});

test('all shipped parameters and all values that a tuning search tries are valid', (t) => {
  for (const factory of ALGORITHMS) {
    for (const tuning of knownTunings(factory.name)) t.notThrows(() => checkTuning(factory, tuning));
    for (const [name, { axis = [] }] of Object.entries(factory.parameters)) {
      for (const value of axis) t.notThrows(() => checkTuning(factory, { [name]: value }));
    }
    const searched = Object.values(factory.parameters).some(({ axis }) => axis);
    t.is(searched, factory.search !== undefined, factory.name);
  }
});

test('the planner and the tuning search consider the algorithms that suit the device type', (t) => {
  const device = (type: string) => ({ capabilities: { type } }) as Device;
  const planned = (type: string) => plannedOn(device(type)).map(({ name }) => name);
  t.deepEqual(planned('cpu'), ['single-workgroup', 'serial', 'tiled', 'amd', 'merge', 'bitonic']);
  const gpu = [
    'single-workgroup',
    'persistent',
    'hybrid-radix',
    'onesweep',
    'tiled',
    'amd',
    'merge',
    'bitonic',
  ];
  t.deepEqual(planned('gpu'), gpu);
  t.deepEqual(planned('accelerator'), gpu);
  t.deepEqual(searchedAlgorithms(device('cpu')), ['serial', 'single-workgroup']);
  t.deepEqual(searchedAlgorithms(device('gpu')), [
    'onesweep',
    'hybrid-radix',
    'tiled',
    'persistent',
    'single-workgroup',
  ]);
});

test('amd reports its scan chain and padded size, and rejects a chain that is too short', (t) => {
  const shape: AlgorithmShape = { keyBits: 32, valueBytes: 0 };
  const amd = algorithmNamed('amd');
  t.deepEqual(amd.facts?.(shape, 100), { scan: 3, padded: 16_384 });
  t.deepEqual(amd.facts?.({ ...shape, tuning: { scan: 5 } }, 100), { scan: 5, padded: 16_384 });
  t.throws(() => amd.facts?.({ ...shape, tuning: { scan: 3 } }, 20_000), { instanceOf: UsageError });
});

test('bench-device rejects unknown parameters before it measures', (t) => {
  const script = join(packageRoot, 'dist/scripts/bench-device.js');
  const args = ['--algorithms', 'serial', '--tuning', '{"radixBit":4}'];
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  t.not(status, 0);
  t.regex(stderr, /"radixBit". Did you mean "radixBits"/);
});
