/** The sort of segments: mixes of lengths, including adversarial ones, against a plain sort of each segment. */
import type { ExecutionContext } from 'ava';
import { type AlgorithmShape, tunedShape } from '../../src/algorithms/algorithm.js';
import type { Tuning } from '../../src/algorithms/parameters.js';
import { segmentedSort } from '../../src/algorithms/segmented.js';
import type { Device } from '../../src/device/device.js';
import type { Buffer } from '../../src/device/memory/buffer.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import { UnsupportedError } from '../../src/util/errors.js';
import { Random } from '../../src/util/random.js';
import { SEED } from '../distributions.js';
import { forEachOpened, testIf } from '../each-device.js';
import { FULL } from '../pairwise.js';
import { offsetsOf } from './sorts.js';

const POISON = 0xa5a5a5a5;

/** Tiles of 32 keys and runs of 256: a few hundred keys reach every kernel. */
const SMALL_TILES: Tuning = { form: 'groups', groupSize: 16, keysPerItem: 2, radixBits: 4 };

/** The same with runs of 48 keys that look back. */
const SWEEP: Tuning = { ...SMALL_TILES, sweepGroupSize: 16, sweepKeysPerItem: 3 };

interface Mix {
  readonly lengths: readonly number[];
  readonly bits?: readonly [begin: number, end: number];
  readonly inPlace?: boolean;
  readonly fromSegment?: boolean;
  /** Whether the algorithm receives the length of the longest segment. */
  readonly known?: boolean;
  /** Whether all segments have that length, so that the algorithm, which must support it, receives no offsets. */
  readonly areRows?: boolean;
  /** Maximum number of distinct keys. */
  readonly values?: number;
}

/** Sorts keys with their positions from poisoned memory, and compares with a stable sort of each segment. */
async function expectSegments(
  t: ExecutionContext,
  device: Device,
  tuning: Tuning,
  {
    lengths,
    bits = [0, 32],
    inPlace = false,
    fromSegment = false,
    areRows = false,
    known = areRows,
    values = 2 ** 32,
  }: Mix,
): Promise<void> {
  const what = JSON.stringify({
    lengths: lengths.slice(0, 50),
    bits,
    inPlace,
    fromSegment,
    known,
    areRows,
    values,
    tuning,
  });
  const offsets = offsetsOf(lengths);
  const n = offsets.at(-1) as number;
  const random = new Random(n + lengths.length);
  const keys = Uint32Array.from({ length: n }, () => random.below(values));
  const shape = tunedShape(
    segmentedSort,
    device,
    { keyBits: 32, valueBytes: 4, tuning },
    n,
  ) as AlgorithmShape;
  const algorithm = await segmentedSort.create(device, shape);
  t.is(algorithm.supports({ dtype: 'u32', n, bits, valueBytes: 4 }), true);
  if (areRows && !algorithm.sortsRows?.(n, lengths[0] as number)) {
    t.fail(`not by rows: ${what}`);
    return;
  }
  const { queue } = device;
  const made: Buffer[] = [];
  const poisoned = (bytes: number): Buffer => {
    const buffer = device.buffer(Math.max(4, Math.ceil(bytes / 4) * 4));
    made.push(buffer);
    queue.fill(buffer, POISON);
    return buffer;
  };
  const input = poisoned(n * 4);
  const output = inPlace ? input : poisoned(n * 4);
  const outputValues = poisoned(n * 4);
  const begins = poisoned(offsets.byteLength);
  queue.write(input, keys);
  queue.write(begins, offsets);
  const count = { count: lengths.length, ...(known && { longest: Math.max(...lengths) }) };
  const sizes = algorithm.scratch(n, { inPlace, bits, segments: count });
  const scratch = Object.fromEntries(Object.entries(sizes).map(([name, bytes]) => [name, poisoned(bytes)]));
  const segments = { ...count, ...(!areRows && { offsets: begins }), fromSegment };
  const codec = keyCodec('u32', {});
  algorithm.enqueue(queue, { n, input, output, outputValues, indices: true, codec, bits, segments, scratch });
  const [sorted, moved] = [new Uint32Array(n), new Uint32Array(n)];
  queue.read(output, sorted);
  queue.read(outputValues, moved);
  await queue.finish();
  for (const buffer of made) buffer.release();

  const expectedKeys = new Uint32Array(n);
  const expected = new Uint32Array(n);
  const span = 2 ** 21;
  for (const [s, length] of lengths.entries()) {
    const first = offsets[s] as number;
    const both = Float64Array.from(keys.subarray(first, first + length), (key, i) => {
      return (Math.floor(key / 2 ** bits[0]) % 2 ** (bits[1] - bits[0])) * span + i;
    }).sort();
    for (let i = 0; i < length; i++) {
      const at = (both[i] as number) % span;
      expected[first + i] = fromSegment ? at : first + at;
      expectedKeys[first + i] = keys[first + at] as number;
    }
  }
  t.deepEqual(sorted, expectedKeys, `keys of ${what}`);
  t.deepEqual(moved, expected, `positions of ${what}`);
}

/** Lengths for a random mix, of one kind each, so that every kernel runs alone and beside others. */
function randomMix(random: Random, maxKeys: number): Mix {
  const kinds = [0, 1, 2, 3, 8, 9, 32, 33, 64, 65, 200, 513, 1025, 5000];
  const own = kinds.filter(() => random.below(3) === 0);
  const lengths: number[] = [];
  const segments = random.below(40);
  for (let n = 0; lengths.length < segments && n < maxKeys; n += lengths.at(-1) as number) {
    const upTo = own[random.below(Math.max(1, own.length))] ?? 17;
    lengths.push(Math.min(maxKeys - n, random.below(2) === 0 ? upTo : random.below(upTo + 1)));
  }
  const begin = random.below(4) === 0 ? random.below(32) : 0;
  return {
    lengths: lengths.length > 0 ? lengths : [0],
    bits: [begin, random.below(2) === 0 ? 32 : Math.min(32, begin + 1 + random.below(31))],
    inPlace: random.below(2) === 0,
    fromSegment: random.below(2) === 0,
    known: random.below(2) === 0,
    values: [2, 300, 2 ** 32][random.below(3)] as number,
  };
}

const powers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => 2 ** (from + i)).flatMap((length) => [
    length - 1,
    length,
    length + 1,
  ]);

await forEachOpened((title, device, small) => {
  const { maxLoopIterations } = device.capabilities.quirks;
  const serial = Number.isFinite(maxLoopIterations) ? 'the driver ends long loops' : true;
  const forms: readonly (readonly [string, Tuning, true | string])[] = [
    ['single work-items', { form: 'serial' }, serial],
    ['work-groups', { form: 'groups' }, true],
    ['work-groups with small tiles', SMALL_TILES, true],
    ['single-pass sweeps', SWEEP, serial],
    ...(segmentedSort.bounds ?? [])
      .slice(0, small ? 2 : undefined)
      .map((longest) => [`tiles of ${longest} keys`, { form: 'groups', longest }, true] as const),
  ];
  const maxKeys = small ? 1500 : 40_000;
  const adversarial: Record<string, number[]> = {
    'empty segments': [0, 0, 0],
    'segments of one key': Array(small ? 100 : 10_000).fill(1),
    'segments of up to 9 keys': Array.from({ length: small ? 100 : 5000 }, (_, i) => i % 10),
    'segments of up to 70 keys': Array.from({ length: small ? 60 : 6000 }, (_, i) => (i * 37) % 71),
    'segments within one key of a power of two': powers(1, small ? 8 : 14),
    'segments within one key of a run': small
      ? [255, 256, 257]
      : [65_535, 65_536, 65_537, 3, 8191, 8192, 8193],
    'a long segment among short ones': [3, 0, 1, maxKeys, 2, 0, 7],
    'a long segment at each end': [maxKeys >> 1, 1, 1, 0, maxKeys >> 1],
  };
  for (const [form, tuning, able] of forms) {
    const bound = Number(tuning.longest ?? Number.POSITIVE_INFINITY);
    const isBounded = Number.isFinite(bound);
    const bounded = (lengths: readonly number[]) => lengths.map((length) => Math.min(length, bound));
    for (const [name, all] of Object.entries(adversarial)) {
      const lengths = bounded(all);
      testIf(able, title(`${form} sort ${name}`), async (t) => {
        for (const known of isBounded ? [true] : [false, true]) {
          await expectSegments(t, device, tuning, { lengths, known });
        }
        const own = { inPlace: true, bits: [7, 31], values: 300, known: isBounded } as const;
        await expectSegments(t, device, tuning, { lengths, ...own });
      });
    }

    // Without sweeps, rows longer than a tile need offsets unless a single group runs the passes.
    const longest = tuning === SMALL_TILES ? 32 : Math.min(bound, 2048);
    testIf(
      form === 'single work-items' ? 'single work-items need offsets' : able,
      title(`${form} sort rows of equal length`),
      async (t) => {
        for (const each of [1, 2, 8, 9, 31, 32, 33, 64, 65, 128, 130, 256, 512, 600, 1024, 2048].filter(
          (each) => each <= longest,
        )) {
          for (const rows of small ? [1, 5] : [1, 5, each > 600 ? 20 : 130]) {
            const lengths = Array(rows).fill(each);
            await expectSegments(t, device, tuning, { lengths, areRows: true });
            const own = { bits: [7, 31], inPlace: true, fromSegment: true, values: 300 } as const;
            await expectSegments(t, device, tuning, { lengths, areRows: true, ...own });
          }
        }
      },
    );

    if (isBounded && bound > 64) {
      testIf(able, title(`${form} sort rows of more than 64 keys without cl/segment_rows.cl`), async (t) => {
        const rowsOnly = { ...tuning, rows: 'none' };
        for (const each of [65, bound - 1, bound]) {
          for (const rows of small ? [1, 5] : [1, 5, 130]) {
            const lengths = Array(rows).fill(each);
            await expectSegments(t, device, rowsOnly, { lengths, areRows: true });
            const own = { bits: [7, 31], inPlace: true, fromSegment: true, values: 300 } as const;
            await expectSegments(t, device, rowsOnly, { lengths, areRows: true, ...own });
          }
        }
        for (const lengths of [[3], [bound, 70]]) {
          await t.throwsAsync(expectSegments(t, device, rowsOnly, { lengths, known: true }), {
            instanceOf: UnsupportedError,
            message: /^expected rows of more than 64 keys but got offsets/,
          });
        }
      });
    }

    const share = small ? 12 : 400;
    const mixes = FULL && !small ? 10_000 : share;
    testIf(able, title(`${form} sort segments of random lengths`), async (t) => {
      t.timeout(3_600_000);
      const random = new Random(SEED);
      for (let i = 0; i < mixes; i++) {
        const mix = randomMix(random, small ? 1200 : 6000);
        const known = isBounded || mix.known === true;
        await expectSegments(t, device, tuning, { ...mix, lengths: bounded(mix.lengths), known });
      }
    });
  }
});
