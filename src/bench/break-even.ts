/** Measures the number of elements in host memory from which a device is faster than the host engine, by operation. */
import { BREAK_EVEN_OPERATIONS, type BreakEven, type BreakEvenOperation } from '../algorithms/tuning-rows.js';
import { generate } from '../io/operations/gen.js';
import { Sorter } from '../sort/api/sorter.js';
import { SEED } from './sorts.js';
import { timing } from './statistics.js';

/** Exponents of two of the measured sizes. */
const SIZES = [10, 12, 14, 16, 18, 20, 22] as const;

/** Calls of each engine per size. They alternate, and the first ones are the warm-up. */
const WARM_UPS = 3;
const CALLS = 7;

type Keys = Uint32Array | BigUint64Array;

/** Random keys of one width, and what operations take beside them. */
interface Input {
  readonly keys: Keys;
  readonly sorted: Keys;
  readonly positions: Uint32Array;
  readonly mask: Uint8Array;
  readonly offsets: Uint32Array;
}

const CALL_OF: Record<BreakEvenOperation, (sorter: Sorter, input: Input) => Promise<unknown>> = {
  sort: (sorter, { keys }) => sorter.sort<Keys>(keys),
  argsort: (sorter, { keys }) => sorter.argsort<Keys>(keys),
  sortPairs: (sorter, { keys, positions }) => sorter.sortPairs<Keys, Uint32Array>(keys, positions),
  segmentedSort: (sorter, { keys, offsets }) => sorter.segmentedSort<Keys>(keys, offsets),
  topK: (sorter, { keys }) => sorter.topK<Keys>(keys, 100),
  unique: (sorter, { keys }) => sorter.unique<Keys>(keys),
  reduce: (sorter, { keys }) => sorter.reduce<Keys, 'max'>(keys, 'max'),
  scan: (sorter, { keys }) => sorter.scan<Keys>(keys),
  histogram: (sorter, { keys }) => sorter.histogram(keys, { bitRange: [24, 32] }),
  gather: (sorter, { keys, positions }) => sorter.gather<Keys>(keys, positions),
  filter: (sorter, { keys, mask }) => sorter.filter<Keys>(keys, mask),
  searchSorted: (sorter, { keys, sorted }) => sorter.searchSorted<Keys>(sorted, keys),
  merge: (sorter, { sorted }) => sorter.merge<Keys>(sorted, sorted.slice()),
};

async function inputOf(host: Sorter, keyBits: 32 | 64, n: number): Promise<Input> {
  const random = (dtype: 'u32' | 'u64' | 'u8', seed: number) =>
    generate({ dtype, count: n, distribution: 'uniform', seed }).buffer as ArrayBuffer;
  const keys =
    keyBits === 32 ? new Uint32Array(random('u32', SEED)) : new BigUint64Array(random('u64', SEED));
  return {
    keys,
    sorted: await host.sort<Keys>(keys),
    positions: new Uint32Array(random('u32', SEED + 1)).map((word) => word % n),
    mask: new Uint8Array(random('u8', SEED + 2)).map((byte) => byte & 1),
    offsets: Uint32Array.from({ length: n / 256 + 1 }, (_, i) => 256 * i),
  };
}

/** Returns whether the device is faster than the host engine, from typed array to new typed array. */
async function isDeviceFaster(
  call: (sorter: Sorter) => Promise<unknown>,
  sorters: readonly Sorter[],
): Promise<boolean> {
  const seconds = sorters.map((): number[] => []);
  for (let round = -WARM_UPS; round < CALLS; round++) {
    for (const [i, sorter] of sorters.entries()) {
      const started = performance.now();
      await call(sorter);
      if (round >= 0) seconds[i]?.push((performance.now() - started) / 1000);
    }
  }
  const [device = 0, host = 0] = seconds.map((all) => timing(all).median);
  return device < host;
}

/**
 * Measures the break-even sizes of a device for 32- and 64-bit keys, in powers of four. The size is infinite if the
 * device is not faster at the two largest measured sizes.
 *
 * @param id device to open
 * @param more returns false when the time is up; operations that are not measured by then are left out
 */
export async function measureBreakEvens(id: string, more: () => boolean): Promise<BreakEven[]> {
  await using device = await Sorter.open({ device: id, onWarning: () => undefined });
  await using host = await Sorter.open({ device: 'host' });
  const found: BreakEven[] = [];
  for (const keyBits of [32, 64] as const) {
    const inputs = new Map<number, Input>();
    for (const operation of BREAK_EVEN_OPERATIONS) {
      let keys = Number.POSITIVE_INFINITY;
      for (let i = 0, wins = 0; i < SIZES.length && wins < 2; i++) {
        if (!more()) return found;
        const n = 2 ** (SIZES[i] as number);
        const input = inputs.get(n) ?? (await inputOf(host, keyBits, n));
        inputs.set(n, input);
        // A single win may be chance.
        wins = (await isDeviceFaster((sorter) => CALL_OF[operation](sorter, input), [device, host]))
          ? wins + 1
          : 0;
        keys = wins === 0 ? Number.POSITIVE_INFINITY : wins === 1 ? n : keys;
      }
      found.push({ operation, keyBits, keys });
    }
  }
  return found;
}
