/** Every operation of the host engine yields to the event loop and can be aborted. */
import ava from 'ava';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { copySteps, inSlices, runSync, runYielding } from '../../../src/sort/host/steps.js';
import { AbortedError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';
import { abortOnStart } from './abort-on-start.js';

const test = ava.serial; // they would wait for each other

const N = 2 ** 20;
const u32 = keysOf('u32', 'uniform', N) as Uint32Array;
const f64 = keysOf('f64', 'uniform', N) as Float64Array;
const positions = Uint32Array.from(u32, (key) => key % N);
/** For the sorts of the addon, which are fast. */
const largeU32 = keysOf('u32', 'uniform', 4 * N) as Uint32Array;
const largeF64 = keysOf('f64', 'uniform', 4 * N) as Float64Array;
const largeU64 = keysOf('u64', 'uniform', 4 * N) as BigUint64Array;
const offsets = Uint32Array.from({ length: 1025 }, (_, i) => i * (largeU32.length / 1024));
/** For operations that take almost no time per key. */
const many = new Float64Array(2 ** 24);
const manyWords = new BigUint64Array(many.buffer);

type Signal = { signal?: AbortSignal };

const OPERATIONS: Readonly<Record<string, (sorter: Sorter, options: Signal) => Promise<unknown>>> = {
  sort: (sorter, options) => sorter.sort(largeF64, options),
  'sort u8': (sorter, options) => sorter.sort(new Uint8Array(many.buffer), options),
  argsort: (sorter, options) => sorter.argsort(largeU64, options),
  'a verified argsort': (sorter, options) => sorter.argsort(u32, { ...options, verify: true }),
  sortInPlace: (sorter, options) => sorter.sortInPlace(largeU32.slice(), options),
  'pairs of 12 bytes': (sorter, options) =>
    sorter.sortPairs(largeU32, new Uint32Array(3 * largeU32.length), options),
  topK: (sorter, options) => sorter.topK(u32, 100_000, options),
  lexsort: (sorter, options) => sorter.lexsort([positions, u32], options),
  segmentedSort: (sorter, options) => sorter.segmentedSort(largeU32, offsets, options),
  unique: (sorter, options) => sorter.unique(f64, options),
  'sum u64': (sorter, options) => sorter.reduce(manyWords, 'sum', options),
  'max u64': (sorter, options) => sorter.reduce(manyWords, 'max', options),
  'min f64': (sorter, options) => sorter.reduce(many, 'min', options),
  'scan f64': (sorter, options) => sorter.scan(many, options),
  'histogram by value': (sorter, options) =>
    sorter.histogram(u32, { ...options, bins: 100, range: [0, 2 ** 32] }),
  'histogram by digit': (sorter, options) => sorter.histogram(manyWords, { ...options, bitRange: [0, 12] }),
  gather: (sorter, options) => sorter.gather(u32, positions, options),
};

for (const [name, run] of Object.entries(OPERATIONS)) {
  test(`${name}: the operation yields to the event loop and is aborted by a signal`, async (t) => {
    await using sorter = await Sorter.open({ device: 'host' });
    const controller = new AbortController();
    const signal = abortOnStart(controller, 'enough');
    setImmediate(() => setImmediate(() => controller.abort('enough'))); // the JavaScript engine has started by then
    const error = await t.throwsAsync(run(sorter, { signal }), {
      instanceOf: AbortedError,
    });
    t.is(error?.cause, 'enough');
  });
}

test('steps visit each element once and return their result', async (t) => {
  for (const n of [0, 1, 99, 100, 101, 1000]) {
    const seen: number[] = [];
    const steps = function* () {
      yield* inSlices(
        n,
        (start, end) => seen.push(...Array.from({ length: end - start }, (_, i) => start + i)),
        100,
      );
      return n;
    };
    t.is(runSync(steps()), n);
    t.is(await runYielding(steps()), n);
    const once = Array.from({ length: n }, (_, i) => i);
    t.deepEqual(seen, [...once, ...once]);
  }
  const from = Uint8Array.from({ length: 9_000_000 }, (_, i) => i % 251);
  const to = new Uint8Array(from.length);
  runSync(copySteps(from, to));
  t.is(Buffer.compare(from, to), 0);
});
