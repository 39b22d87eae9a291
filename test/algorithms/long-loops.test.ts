/**
 * Some drivers silently end loops after a number of iterations. Every size that an algorithm supports there must be
 * sorted correctly, above all the largest one.
 */
import test from 'ava';
import type { AlgorithmFactory, AlgorithmShape } from '../../src/algorithms/algorithm.js';
import { ALGORITHMS } from '../../src/algorithms/registry.js';
import type { Device } from '../../src/device/device.js';
import { Random } from '../../src/util/random.js';
import { forEachDevice } from '../each-device.js';
import { bytesOf, sortBytes } from './sorts.js';

/** Larger sizes are not sorted here: they take long, and every work-item of these algorithms has one tile or block. */
const MAX_KEYS = 2 ** 18 + 1;

/** Algorithms whose groups wait for each other; not for drivers that end the wait. */
const OPTIONAL = new Set(['onesweep', 'persistent', 'hybrid-radix']);

/** The maximum number of keys that an algorithm accepts; 0 for none. */
async function maxSupportedKeys(
  factory: AlgorithmFactory,
  device: Device,
  { shape, bits }: { shape: AlgorithmShape; bits: readonly [number, number] },
): Promise<number> {
  const supports = async (n: number): Promise<boolean> => {
    if (typeof factory.available(device, shape) === 'string') return false;
    const tuned = factory.tune?.(device, shape, n) ?? shape;
    if (typeof tuned === 'string') return false;
    const { valueBytes } = shape;
    const algorithm = await factory.create(device, tuned);
    return algorithm.supports({ dtype: 'u32', n, bits, valueBytes }) === true;
  };
  let [low, high] = [0, MAX_KEYS];
  if (await supports(MAX_KEYS)) return MAX_KEYS;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await supports(middle)) low = middle;
    else high = middle;
  }
  return low;
}

forEachDevice((title, open, _small, name) => {
  if (name !== 'rusticl' && name !== 'clover') {
    test(title('the driver runs loops of any length'), async (t) => {
      t.is((await open()).capabilities.quirks.maxLoopIterations, Number.POSITIVE_INFINITY);
    });
    return;
  }
  for (const factory of ALGORITHMS.filter(({ stable }) => stable)) {
    const { radixBits } = factory.parameters;
    const isOpen = radixBits?.kind === 'whole' && radixBits.option === true;
    const widths = isOpen ? [8, 11].filter((bits) => bits <= radixBits.max) : [8];
    for (const width of widths) {
      for (const indices of [undefined, 4] as const) {
        const what = indices ? 'positions' : 'keys';
        test.serial(
          title(`${factory.name} is correct at its largest size of ${what} on ${width} bits`),
          async (t) => {
            const device = await open();
            const bits = [0, width] as const;
            const tuning = isOpen && { radixBits: width };
            const shape = { keyBits: 32 as const, valueBytes: indices ?? 0, ...(tuning && { tuning }) };
            const n = await maxSupportedKeys(factory, device, { shape, bits });
            t.log(`${n} keys`);
            if (n === 0) {
              t.true(OPTIONAL.has(factory.name));
              return;
            }
            const random = new Random(1);
            const keys = Uint32Array.from({ length: n }, () => random.u32() >>> (32 - width));
            const options = { bits, ...(indices && { indices }), ...(tuning && { tuning }) };
            const got = await sortBytes(device, factory, bytesOf(keys), options);
            const positions = Uint32Array.from(keys, (_, i) => i).sort(
              (a, b) => (keys[a] ?? 0) - (keys[b] ?? 0) || a - b,
            );
            t.is(Buffer.compare(got.keys, bytesOf(positions.map((i) => keys[i] ?? 0))), 0, 'keys');
            if (indices) t.is(Buffer.compare(got.values, bytesOf(positions)), 0, 'positions');
          },
        );
      }
    }
  }
});
