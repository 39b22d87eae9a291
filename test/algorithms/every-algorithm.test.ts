/**
 * Every registered algorithm at critical sizes: none, few, and one more or less than the capacity of a row, a group, a
 * tile, a block and several of them. Checks order, permutation and stability at once: positions are compared with those
 * of a stable sort, and keys with the input at these positions.
 */
import type { ExecutionContext } from 'ava';
import type { AlgorithmFactory, AlgorithmShape } from '../../src/algorithms/algorithm.js';
import { ODD_EVEN_MAX } from '../../src/algorithms/odd-even.js';
import type { Tuning } from '../../src/algorithms/parameters.js';
import { ALGORITHMS } from '../../src/algorithms/registry.js';
import { ROW_MAX } from '../../src/algorithms/row-sort.js';
import { tuningFor } from '../../src/algorithms/tuning.js';
import type { Device } from '../../src/device/device.js';
import { keysOf, SEED } from '../distributions.js';
import { forEachOpened, testIf } from '../each-device.js';
import { bytesOf, type SortCase, sortBytes } from './sorts.js';

const FULL = process.env.CLSORT_TEST_FULL !== undefined;

const SIZES = [
  ...[0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 3001],
  ...[8191, 8192, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 2 ** 20 - 1, 2 ** 20, 2 ** 20 + 3],
];
/** Maximum number of keys on simulators and slow drivers. */
const SMALL = 3001;

/** Tuning with which a few keys occupy several groups. */
const MANY_GROUPS: Readonly<Record<string, Tuning>> = {
  bitonic: { block: 8 },
  merge: { tile: 64 },
  tiled: { radixBits: 4 },
  segmented: { form: 'groups', groupSize: 16, keysPerItem: 2, radixBits: 4 },
};

/** Algorithms that need a feature or a resource that some devices lack; the others must run on every device. */
const OPTIONAL = new Set(['onesweep', 'persistent', 'hybrid-radix']);

const SHAPE: AlgorithmShape = { keyBits: 32, valueBytes: 4 };

/** Half of the keys are random, the others have few values, so that many are equal. */
function keysWithTies(n: number): Uint32Array {
  const keys = keysOf('u32', 'uniform', n) as Uint32Array;
  return keys.map((key, i) => (i % 2 === 0 ? key & 0xf000_000f : key));
}

/** Positions of a stable sort by some bits. A key and its position together form one number of at most 53 bits. */
function stablePositions(keys: Uint32Array, [begin, end]: readonly [number, number]): Uint32Array {
  const span = 2 ** 21;
  const compared = keys.map((key) => Math.floor(key / 2 ** begin) % 2 ** (end - begin));
  return Uint32Array.from(
    Float64Array.from(compared, (key, i) => key * span + i).sort(),
    (both) => both % span,
  );
}

/** Keys of a tile, for the algorithms whose tile depends on tuning. */
function tileOf(factory: AlgorithmFactory, device: Device, n: number): number {
  const { groupSize, keysPerItem } = tuningFor(factory, device, SHAPE, n);
  return Number(groupSize ?? 0) * Number(keysPerItem ?? 0);
}

/** Reason why the algorithm does not support n keys on the device, or undefined. */
function refusalOf(factory: AlgorithmFactory, device: Device, n: number): string | undefined {
  const answers = [factory.available(device, SHAPE), factory.tune?.(device, SHAPE, n)];
  return answers.find((answer) => typeof answer === 'string');
}

/** The size and form of a sort. */
interface Case {
  readonly n: number;
  readonly bits?: readonly [begin: number, end: number];
  readonly tuning?: Tuning;
  /** Tests keys alone and pairs, and sorts in place. */
  readonly everyForm?: boolean;
}

async function expectSorted(
  t: ExecutionContext,
  factory: AlgorithmFactory,
  device: Device,
  { n, bits = [0, 32], tuning, everyForm = FULL }: Case,
): Promise<void> {
  const keys = keysWithTies(n);
  const values = keys.toReversed();
  const positions = stablePositions(keys, bits);
  const sorted = positions.map((i) => keys[i] as number);
  const moved = positions.map((i) => values[i] as number);
  const options = { bits, ...(tuning && { tuning }) };
  const expect = async (form: SortCase, expected: ArrayBufferView) => {
    const got = await sortBytes(device, factory, bytesOf(keys), { ...options, ...form });
    const what = JSON.stringify({ n, ...options, ...form, values: form.values?.width, seed: `${SEED}` });
    t.is(got.status, 0, what);
    t.is(Buffer.compare(got.keys, bytesOf(sorted)), 0, `keys of ${what}`);
    t.is(Buffer.compare(got.values, bytesOf(expected)), 0, `values of ${what}`);
  };
  await expect({ indices: 4 }, positions);
  if (!everyForm) return;
  await expect({ indices: 8 }, BigUint64Array.from(positions, BigInt));
  await expect({ inPlace: true }, new Uint32Array());
  await expect({ values: { bytes: bytesOf(values), width: 4 }, inPlace: true }, moved);
}

await forEachOpened((title, device, small) => {
  /** Maximum number of keys for algorithms with a limit, or for those that are too slow on a simulator. */
  const most: Readonly<Record<string, number>> = {
    row: ROW_MAX,
    'odd-even': small ? 65 : ODD_EVEN_MAX,
    'single-workgroup': small ? 100 : 1024, // fewer where the compiler allows small groups only
    split: small ? 1025 : Number.POSITIVE_INFINITY,
  };
  const limit = ({ name }: AlgorithmFactory) =>
    Math.min(most[name] ?? Number.POSITIVE_INFINITY, small ? SMALL : Number.POSITIVE_INFINITY);

  for (const factory of ALGORITHMS) {
    /** Declares a test of some cases, without those that the algorithm may omit on this device. */
    const check = (text: string, cases: readonly Case[]) => {
      const refusals = cases.map(({ n }) => OPTIONAL.has(factory.name) && refusalOf(factory, device, n));
      const able = refusals.every(Boolean) ? refusals.find(Boolean) || 'no size is within its limits' : true;
      const claim = title(`${factory.name} sorts ${text}: order, permutation and stability`);
      testIf(able, claim, async (t) => {
        for (const [i, one] of cases.entries()) {
          if (refusals[i]) t.log(refusals[i]);
          else await expectSorted(t, factory, device, one);
        }
      });
    };

    for (const n of SIZES.filter((size) => size <= limit(factory))) check(`${n} keys`, [{ n }]);

    const tile = tileOf(factory, device, SMALL);
    const around = [1, 5].flatMap((tiles) => [tiles * tile - 1, tiles * tile, tiles * tile + 1]);
    if (tile > 0) {
      check(
        'one and five tiles and one key more or less',
        around.filter((n) => n <= limit(factory)).map((n) => ({ n })),
      );
    }

    // Small enough for a simulator that checks every access, and more than one group and one pass.
    const tuning = MANY_GROUPS[factory.name];
    const n = Math.min(300, limit(factory));
    check('300 keys or fewer on nine bits, alone, with positions and with values', [
      { n, bits: [3, 12], ...(tuning && { tuning }), everyForm: true },
    ]);
  }
});
