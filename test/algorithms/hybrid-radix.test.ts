/**
 * Wide keys sorted by few of their digits: the plan that the device computes, each kernel against a plain model, and
 * whole sorts of keys with adversarial prefixes.
 */
import type { ExecutionContext } from 'ava';
import type { Stage } from '../../src/algorithms/algorithm.js';
import { hybridRadix } from '../../src/algorithms/hybrid-radix.js';
import type { Tuning } from '../../src/algorithms/parameters.js';
import type { Device } from '../../src/device/device.js';
import type { Dtype } from '../../src/keys/dtype.js';
import { Random } from '../../src/util/random.js';
import { DISTRIBUTIONS, keysOf, SEED } from '../distributions.js';
import { forEachOpened, testIf } from '../each-device.js';
import { pick, referenceArgsort } from '../reference.js';
import { bytesOf, positionBytes, type SortCase, sortBytes } from './sorts.js';

const SHAPE = { keyBits: 64, valueBytes: 0 } as const;
/** Maximum number of keys of a counted bucket, and of a tile of `hybrid_finish`. */
const [BUCKET, TILE] = [24, 32];
const SAMPLE = 4096;
const CROWD = 8;
/** With these parameters few keys occupy many groups, and large buckets arise early. */
const TUNING: Tuning = {
  groupSize: 64,
  keysPerItem: 4,
  histogramSize: 64,
  histogramColumns: 1,
  lookBack: 2,
  spinLimit: 2 ** 32 - 1,
  minDigits: 3,
  maxDigits: 5,
  sample: SAMPLE,
  crowd: CROWD,
  bucket: BUCKET,
  finishSize: 16,
  finishKeys: TILE / 16,
  finishGroups: 3,
};

/** Words of the plan, as in cl/hybrid_plan.clh. */
interface Plan {
  readonly passes: readonly number[];
  readonly low: number;
  readonly listed: number;
}

function readPlan(words: Uint32Array): Plan {
  const [first = 0, low = 0, listed = 0] = words;
  return { passes: Array.from(words.subarray(3 + first, 11), (word) => word & 255), low, listed };
}

/** The digits by which keys are sorted; all of them are in the sample. */
function modelPlan(codes: readonly bigint[], inPlace: boolean): Omit<Plan, 'listed'> {
  const n = codes.length;
  const shifts = Array.from({ length: 8 }, (_, i) => 8 * i);
  const digit = (code: bigint, shift: number) => (code >> BigInt(shift)) & 255n;
  const varying = shifts.filter((shift) => new Set(codes.map((code) => digit(code, shift))).size > 1);
  const ends = (moves: number) => !inPlace || moves % 2 === 0;
  const allowed = Math.floor(Math.min(4 + (n * CROWD) / 2, n / 8));
  for (let count = 3; count <= 5 && count + 1 < varying.length; count++) {
    const passes = varying.slice(-count);
    const low = passes[0] ?? 0;
    const prefixes = new Set(codes.map((code) => code >> BigInt(low)));
    if (ends(count + 1) && n - prefixes.size <= allowed) return { passes, low };
  }
  const chosen = [...varying];
  for (const shift of shifts) {
    if (chosen.length > 0 && ends(chosen.length)) break;
    if (!chosen.includes(shift)) chosen.push(shift);
  }
  return { passes: chosen.sort((a, b) => a - b), low: 0 };
}

const random = (seed: number) => {
  const source = new Random(SEED + BigInt(seed));
  return {
    word: () => (BigInt(source.u32()) << 32n) | BigInt(source.u32()),
    below: (n: number) => source.below(n),
  };
};

const upTo = (n: number, make: (i: number) => bigint): BigUint64Array =>
  BigUint64Array.from({ length: n }, (_, i) => BigInt.asUintN(64, make(i)));

/** Keys of which all, few or many have equal prefixes. */
const ADVERSE: Readonly<Record<string, (n: number) => BigUint64Array>> = {
  'that differ in the last bit only': (n) => {
    const { below } = random(1);
    return upTo(n, () => 0xdead_beef_0123_4566n | BigInt(below(2)));
  },
  'of two values': (n) => {
    const { below } = random(2);
    return upTo(n, () => (below(2) ? 0x0123_4567_89ab_cdefn : 0xfedc_ba98_7654_3210n));
  },
  'in one bucket': (n) => {
    const { word } = random(3);
    return upTo(n, () => (0x1234_56n << 40n) | (word() >> 24n));
  },
  'in one bucket except one': (n) => {
    const { word } = random(4);
    return upTo(n, (i) => (i === n - 2 ? 7n : (0x1234_56n << 40n) | (word() >> 24n)));
  },
  'that count up from 0': (n) => upTo(n, (i) => BigInt(i)),
  'that count down to 1': (n) => upTo(n, (i) => BigInt(n - i)),
  'that count down in the upper 32 bits': (n) => upTo(n, (i) => BigInt(n - i) << 32n),
  'that alternate between a random and a fixed prefix': (n) => {
    const { word } = random(5);
    return upTo(n, (i) => (i % 2 === 0 ? word() : (0x77_7777n << 40n) | (word() >> 24n)));
  },
  'of which one in twenty is zero': (n) => {
    const { word, below } = random(6);
    return upTo(n, () => (below(20) === 0 ? 0n : word()));
  },
  'of a random walk': (n) => {
    const { below } = random(7);
    let sum = 2n ** 62n;
    return upTo(n, () => {
      sum += BigInt(below(1001) - 500) << 20n;
      return sum;
    });
  },
};

await forEachOpened((title, device, small) => {
  const able = hybridRadix.available(device, SHAPE);
  const maxKeys = small ? 700 : 3001;

  /**
   * Sorts and compares with the reference.
   * @returns the words that each stage wrote
   */
  async function expectSorted(
    t: ExecutionContext,
    keys: ArrayBufferView,
    what: string,
    { dtype = 'u64', ...options }: SortCase = {},
  ): Promise<Map<string, Uint32Array>> {
    const bytes = bytesOf(keys);
    const positions = referenceArgsort(bytes, dtype, {
      ...options.order,
      ...(options.bits && { bits: options.bits }),
    });
    const seen = new Map<string, Uint32Array>();
    const result = await sortBytes(device, hybridRadix, bytes, {
      dtype,
      ...options,
      tuning: { ...TUNING, ...options.tuning },
      onStage: (stage) => readStage(device, stage, seen),
    });
    const description = `${what}, ${JSON.stringify({ dtype, ...options, values: options.values?.width, seed: `${SEED}` })}`;
    t.is(result.status, 0, description);
    t.is(Buffer.compare(result.keys, pick(bytes, 8, positions)), 0, `keys of ${description}`);
    if (options.indices) {
      t.is(
        Buffer.compare(result.values, positionBytes(positions, options.indices)),
        0,
        `positions of ${description}`,
      );
    }
    if (options.values) {
      const moved = pick(options.values.bytes, options.values.width, positions);
      t.is(Buffer.compare(result.values, moved), 0, `values of ${description}`);
    }
    return seen;
  }

  for (const [name, make] of Object.entries(ADVERSE)) {
    testIf(able, title(`hybrid-radix sorts keys ${name} by the expected plan`), async (t) => {
      const keys = make(maxKeys);
      for (const inPlace of [false, true]) {
        const seen = await expectSorted(t, keys, name, { inPlace });
        const plan = readPlan(seen.get('hybrid_plan plan') ?? new Uint32Array());
        t.deepEqual(
          { passes: plan.passes, low: plan.low },
          modelPlan([...keys], inPlace),
          `${name}, ${inPlace}`,
        );
      }
      await expectSorted(t, keys, name, { indices: 4 });
    });
  }

  testIf(able, title('each kernel of hybrid-radix matches its model'), async (t) => {
    const { word, below } = random(20);
    // Buckets of one key up to the largest counted size, and larger ones; their lower bits have few values.
    const sizes = [1, 2, 3, BUCKET - 1, BUCKET, BUCKET + 1, TILE, 2 * TILE, 1, 100, 1, BUCKET + 1];
    const keys = sizes.flatMap((size) => {
      const prefix = word() & ~0xff_ffff_ffffn;
      return Array.from({ length: size }, () => prefix | BigInt(below(40) << 8));
    });
    while (keys.length < 700) keys.push(word());
    const shuffled = BigUint64Array.from(
      keys
        .map((key) => [word(), key] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, key]) => key),
    );
    const seen = await expectSorted(t, shuffled, 'buckets', { tuning: { crowd: 2 ** 16, sample: 16 } });
    const plan = readPlan(seen.get('hybrid_plan plan') ?? new Uint32Array());
    t.deepEqual([plan.low, plan.passes], [40, [40, 48, 56]]);

    const words = (name: string): bigint[] => [
      ...new BigUint64Array((seen.get(name) ?? new Uint32Array()).buffer),
    ];
    const byPrefix = [...shuffled].sort((a, b) => (a >> 40n < b >> 40n ? -1 : a >> 40n > b >> 40n ? 1 : 0));
    t.deepEqual(
      words('onesweep_pass alternate').map((key) => key >> 40n),
      byPrefix.map((key) => key >> 40n),
    );

    const sorted = [...shuffled].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const buckets: [number, number][] = [];
    for (const [i, key] of byPrefix.entries()) {
      const last = buckets.at(-1);
      if (last && (byPrefix[last[0]] ?? 0n) >> 40n === key >> 40n) last[1] = i + 1;
      else buckets.push([i, i + 1]);
    }
    const large = buckets.filter(([first, last]) => last - first > BUCKET);
    t.is(large.length, 5, 'some buckets are too large for counting');
    const finished = seen.get('hybrid_finish plan')?.[2] ?? 0;
    const list = Array.from({ length: finished }, (_, i) => {
      const all = seen.get('hybrid_finish list');
      return [all?.[2 * i] ?? 0, all?.[2 * i + 1] ?? 0];
    });
    t.deepEqual(
      list.sort(([a = 0], [b = 0]) => a - b),
      large,
    );
    const placed = words('hybrid_finish keys');
    for (const [first, last] of buckets) {
      if (last - first <= BUCKET) t.deepEqual(placed.slice(first, last), sorted.slice(first, last));
    }
    t.deepEqual(words('hybrid_rest keys'), sorted);
  });

  testIf(
    able,
    title('hybrid-radix sorts buckets of every size around the tile and the counting limit'),
    async (t) => {
      const { word, below } = random(30);
      const limits = [1, BUCKET, TILE, TILE + BUCKET, 2 * TILE].flatMap((size) => [size - 1, size, size + 1]);
      for (const size of limits.filter((one) => one > 0)) {
        // The lower bits have few values, so that the order of equal keys is visible; neighbours differ in the last bit
        // of the prefix.
        const keys = upTo(
          Math.min(maxKeys, 12 * size + 40),
          (i) => (BigInt(Math.floor(i / size)) << 40n) | (BigInt(below(3)) << 3n),
        );
        const scattered = Float64Array.from(keys, () => below(2 ** 30));
        const order = [...keys.keys()].sort((a, b) => (scattered[a] ?? 0) - (scattered[b] ?? 0));
        const mixed = BigUint64Array.from(order, (i) => keys[i] ?? 0n);
        // Distant keys make all digits vary.
        mixed.set(
          upTo(6, () => word()),
          Math.floor(mixed.length / 2) - 6 > 0 ? Math.floor(mixed.length / 2) - 6 : 0,
        );
        const tuning = { crowd: 2 ** 16, sample: 16 };
        await expectSorted(t, mixed, `buckets of ${size}`, { indices: 4, tuning });
      }
    },
  );

  testIf(able, title('hybrid-radix sorts a large bucket that the sample misses'), async (t) => {
    const { word } = random(40);
    for (const share of [3, 8, 40]) {
      // The bucket's digits two, three and four differ: an odd number of passes ends in another array than an even one.
      for (const digits of [2, 3, 4]) {
        const low = BigInt(64 - 8 * digits);
        const keys = upTo(maxKeys, (i) => (i % share === 1 ? (0x4242n << 48n) | (word() >> low) : word()));
        const tuning = { sample: 8, crowd: 2 ** 16 };
        await expectSorted(t, keys, `one of ${share}, ${digits} digits`, { tuning });
        await expectSorted(t, keys, `one of ${share}, ${digits} digits`, { tuning, indices: 4 });
      }
    }
  });

  testIf(
    able,
    title('hybrid-radix counts buckets that extend beyond the window of a work-group'),
    async (t) => {
      const { word, below } = random(70);
      const counted = 70;
      for (const size of [33, 40, 64, 65, counted - 1, counted, counted + 1]) {
        for (const prefix of [0n, 0x77_7777n, 0xff_ffffn]) {
          const keys = upTo(700, (i) =>
            i % 7 === 0 && i < 7 * size ? (prefix << 40n) | BigInt(below(9)) : word(),
          );
          const tuning = { crowd: 2 ** 16, sample: 1024, bucket: counted };
          const seen = await expectSorted(t, keys, `a bucket of ${size}`, { indices: 4, tuning });
          t.is(readPlan(seen.get('hybrid_plan plan') ?? new Uint32Array()).low, 40, `${size}`);
          t.is(seen.get('hybrid_finish plan')?.[2], size > counted ? 1 : 0, `${size}`);
        }
      }
    },
  );

  testIf(
    able,
    title('hybrid-radix sorts every 64-bit dtype in every order and with values of every width'),
    async (t) => {
      const dtypes: readonly Dtype[] = ['u64', 'i64', 'f64'];
      for (const dtype of dtypes) {
        for (const distribution of ['uniform', 'special'] as const) {
          const keys = keysOf(dtype, distribution, Math.min(maxKeys, 1500));
          for (const descending of [false, true]) {
            for (const nan of ['first', 'last'] as const) {
              const order = { descending, nan };
              const seen = await expectSorted(t, keys, distribution, { dtype, order, indices: 4 });
              const { low } = readPlan(seen.get('hybrid_plan plan') ?? new Uint32Array());
              t.is(low > 0, distribution === 'uniform', `${dtype} ${distribution}`);
            }
          }
        }
        const keys = keysOf(dtype, 'uniform', 500);
        for (const width of [1, 2, 4, 8]) {
          const values = { bytes: bytesOf(keysOf('u64', 'uniform', 500)).slice(0, 500 * width), width };
          await expectSorted(t, keys, 'with values', { dtype, values });
          await expectSorted(t, keys, 'with values', { dtype, values, inPlace: true });
        }
        await expectSorted(t, keys, 'positions', { dtype, indices: 8 });
      }
    },
  );

  testIf(able, title('the sample of hybrid-radix detects equal prefixes at every second key'), async (t) => {
    const { word } = random(50);
    // A sample of one key per stretch at a fixed position would see one kind of key only.
    for (const odd of [0, 1]) {
      const keys = upTo(2048, (i) => (i % 2 === odd ? word() : (0x42_4242_4242n << 24n) | (word() >> 40n)));
      const seen = await expectSorted(t, keys, 'intervals', { tuning: { sample: 256 } });
      t.is(readPlan(seen.get('hybrid_plan plan') ?? new Uint32Array()).low, 0, `${odd}`);
    }
  });

  testIf(able, title('the sample of hybrid-radix detects runs of equal keys'), async (t) => {
    const { word } = random(80);
    const runs = BigUint64Array.from({ length: 2048 / 32 }, word);
    const keys = upTo(2048, (i) => runs[Math.floor(i / 32)] ?? 0n);
    const seen = await expectSorted(t, keys, 'runs', { tuning: { sample: 128 } });
    t.is(readPlan(seen.get('hybrid_plan plan') ?? new Uint32Array()).low, 0);
  });

  testIf(
    able,
    title('a single work-group of hybrid-radix sorts many tiles and a large bucket'),
    async (t) => {
      const { word } = random(60);
      const keys = upTo(300, (i) => (i % 8 === 0 ? (0x77_7777n << 40n) | (word() >> 24n) : word()));
      const tuning = { sample: 16, crowd: 2 ** 16, finishGroups: 1 };
      const seen = await expectSorted(t, keys, 'many tiles', { tuning, indices: 4 });
      t.is(seen.get('hybrid_finish plan')?.[2], 1, 'a large bucket');
    },
  );

  testIf(able, title('hybrid-radix sorts on bit windows, in place and out of place'), async (t) => {
    const keys = keysOf('u64', 'uniform', 600);
    for (const bits of [
      [0, 64],
      [3, 64],
      [0, 61],
      [8, 64],
      [5, 12],
      [20, 60],
      [9, 9],
    ] as const) {
      for (const inPlace of [false, true]) await expectSorted(t, keys, 'window', { bits, inPlace });
      await expectSorted(t, keys, 'window', { bits, indices: 4 });
      const values = { bytes: bytesOf(keysOf('u32', 'uniform', 600)), width: 4 };
      await expectSorted(t, keys, 'window', { bits, values, inPlace: true });
    }
  });

  testIf(able, title('hybrid-radix sorts every distribution'), async (t) => {
    for (const distribution of DISTRIBUTIONS) {
      for (const dtype of ['u64', 'f64'] as const) {
        await expectSorted(t, keysOf(dtype, distribution, maxKeys), distribution, { dtype });
      }
    }
  });

  testIf(able, title('hybrid-radix sorts few keys and empty arrays'), async (t) => {
    for (const n of [0, 1, 2, 3, 15, 16, 17, TILE, TILE + 1, 255, 256, 257]) {
      await expectSorted(t, keysOf('u64', 'uniform', n), `${n} keys`, { inPlace: true });
      await expectSorted(t, keysOf('u64', 'uniform', n), `${n} keys`, { indices: 4 });
    }
  });

  testIf(true, title('hybrid-radix rejects 32-bit keys and 2^30 keys or more'), (t) => {
    t.is(hybridRadix.available(device, { keyBits: 32, valueBytes: 0 }), 'for keys of 64 bits');
    t.is(hybridRadix.tune?.(device, SHAPE, 2 ** 30), 'for fewer than 2^30 keys');
  });
});

/** Reads the words of every buffer of a stage, by kernel and name; later launches overwrite earlier ones. */
function readStage({ queue }: Device, { kernel, buffers }: Stage, seen: Map<string, Uint32Array>): void {
  for (const [name, buffer] of Object.entries(buffers)) {
    if (['state', 'counts'].includes(name) || (name === 'control' && kernel !== 'hybrid_plan')) continue;
    const words = new Uint32Array(buffer.bytes / 4);
    queue.read(buffer, words);
    seen.set(`${kernel} ${name}`, words);
  }
}
