/** Segments that CPU devices sort in the lanes of vectors, keys alone and with values, against a stable sort of each segment by its codes. */
import type { ExecutionContext } from 'ava';
import { segmentedSort } from '../../src/algorithms/segmented.js';
import type { Device } from '../../src/device/device.js';
import type { Buffer } from '../../src/device/memory/buffer.js';
import { bytesOf, newArray } from '../../src/keys/array.js';
import type { Dtype } from '../../src/keys/dtype.js';
import { encode, keyCodec, type Order } from '../../src/keys/key-codec.js';
import { Random } from '../../src/util/random.js';
import { SEED } from '../distributions.js';
import { forEachOpened, testIf } from '../each-device.js';

interface Mix {
  readonly lengths: readonly number[];
  readonly order?: Order;
  readonly bits?: readonly [begin: number, end: number];
  readonly inPlace?: boolean;
  readonly known?: boolean;
  /** Number of distinct bytes of keys. */
  readonly values?: number;
  /** What travels with the keys: values of this many bytes, or positions. Default: nothing. */
  readonly along?: 1 | 2 | 4 | 8 | 'positions' | 'places';
}

const WORDS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array } as const;

async function expectSegments(
  t: ExecutionContext,
  device: Device,
  dtype: Dtype,
  { lengths, order = {}, bits, inPlace = false, known = false, values = 256, along }: Mix,
): Promise<void> {
  const offsets = Uint32Array.of(0, ...lengths);
  for (let i = 1; i < offsets.length; i++) offsets[i] = (offsets[i] as number) + (offsets[i - 1] as number);
  const n = offsets.at(-1) as number;
  const codec = keyCodec(dtype, order);
  const { width, bytes } = codec.dtype;
  const keys = newArray(dtype, n);
  const random = new Random(n + lengths.length);
  const raw = bytesOf(keys);
  for (let i = 0; i < raw.length; i++) raw[i] = random.below(values);

  const valueBytes = along === undefined ? 0 : typeof along === 'number' ? along : 4;
  const indices = typeof along === 'string';
  const moved = new Uint8Array(n * valueBytes);
  for (let i = 0; i < moved.length; i++) moved[i] = random.below(256);

  const shape = { keyBits: width, valueBytes, tuning: { form: 'serial' } } as const;
  const algorithm = await segmentedSort.create(device, shape);
  const window = bits ?? ([0, width] as const);
  const { queue } = device;
  const made: Buffer[] = [];
  const poisoned = (size: number): Buffer => {
    const buffer = device.buffer(Math.max(4, Math.ceil(size / 4) * 4));
    made.push(buffer);
    queue.fill(buffer, 0xa5a5a5a5);
    return buffer;
  };
  const input = poisoned(keys.byteLength);
  const output = inPlace ? input : poisoned(keys.byteLength);
  const begins = poisoned(offsets.byteLength);
  const inputValues = poisoned(moved.length);
  const outputValues = inPlace && !indices ? inputValues : poisoned(moved.length);
  queue.write(input, keys);
  if (moved.length > 0) queue.write(inputValues, moved);
  queue.write(begins, offsets);
  const count = { count: lengths.length, ...(known && { longest: Math.max(...lengths) }) };
  const sizes = algorithm.scratch(n, { inPlace, bits: window, segments: count });
  const scratch = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, poisoned(size)]));
  const segments = { ...count, offsets: begins, fromSegment: along === 'places' };
  const work = { n, input, output, codec, bits: window, segments, scratch };
  const beside = valueBytes === 0 ? {} : indices ? { outputValues, indices } : { inputValues, outputValues };
  algorithm.enqueue(queue, { ...work, ...beside });
  const sorted = newArray(dtype, n);
  queue.read(output, sorted);
  const arrived = new Uint8Array(moved.length);
  if (arrived.length > 0) queue.read(outputValues, arrived);
  await queue.finish();
  for (const buffer of made) buffer.release();

  const Words = WORDS[bytes as keyof typeof WORDS];
  const wordsOf = (array: ArrayBufferView): (number | bigint)[] =>
    Array.from<number | bigint>(new Words(array.buffer as ArrayBuffer, array.byteOffset, n));
  const [before, after] = [wordsOf(keys), wordsOf(sorted)];
  const mask = (1n << BigInt(window[1] - window[0])) - 1n;
  const expected = lengths.flatMap((length, s) => {
    const first = offsets[s] as number;
    const coded = before.slice(first, first + length).map((key, i) => {
      return { key, code: (encode(codec, BigInt(key)) >> BigInt(window[0])) & mask, place: i, first };
    });
    return coded.sort((a, b) => (a.code < b.code ? -1 : Number(a.code > b.code)));
  });
  const what = JSON.stringify({ lengths: lengths.slice(0, 40), order, bits, inPlace, known, values, along });
  t.deepEqual(
    after,
    expected.map(({ key }) => key),
    `${dtype}: ${what}`,
  );
  const from = expected.map(({ place, first }) => (along === 'places' ? place : first + place));
  const wanted = indices
    ? bytesOf(Uint32Array.from(from))
    : Uint8Array.from(
        from.flatMap((at) => Array.from(moved.subarray(at * valueBytes, (at + 1) * valueBytes))),
      );
  t.deepEqual(arrived, valueBytes === 0 ? new Uint8Array() : wanted, `values beside ${dtype}: ${what}`);
}

const ORDERS: readonly Order[] = [
  {},
  { descending: true },
  { nan: 'first' },
  { descending: true, nan: 'first' },
];

await forEachOpened((title, device, small) => {
  const { maxLoopIterations } = device.capabilities.quirks;
  const able = Number.isFinite(maxLoopIterations) ? 'the driver ends long loops' : true;

  for (const dtype of ['u8', 'i16', 'f16', 'bf16', 'u32', 'f32', 'i64', 'f64'] as const) {
    testIf(able, title(`vector lanes sort segments of ${dtype} keys in every order`), async (t) => {
      const lengths = Array.from({ length: small ? 18 : 40 }, (_, i) => (i * 7) % 45);
      for (const order of ORDERS) {
        await expectSegments(t, device, dtype, { lengths, order, known: true });
        await expectSegments(t, device, dtype, { lengths: Array(17).fill(32), order, inPlace: true });
      }
    });
  }

  testIf(able, title('vector lanes sort rows of equal length'), async (t) => {
    const most = small ? 49 : 150;
    for (let length = 1; length <= most; length += small ? 6 : 1) {
      await expectSegments(t, device, 'u32', { lengths: Array(19).fill(length), known: length % 2 === 0 });
    }
    for (const length of small ? [] : [255, 256, 257, 1000, 4095, 4096, 4097]) {
      await expectSegments(t, device, 'u32', { lengths: Array(16).fill(length) });
      await expectSegments(t, device, 'u64', { lengths: Array(16).fill(length), values: 3, known: true });
    }
  });

  testIf(able, title('vector lanes sort short segments among long ones'), async (t) => {
    const random = new Random(SEED);
    const longest = small ? [9, 40, 90] : [9, 70, 600, 5000];
    for (const most of longest) {
      const drawn = Array.from({ length: small ? 20 : 50 }, () => random.below(random.below(most) + 1));
      await expectSegments(t, device, 'u32', { lengths: drawn, inPlace: true });
      const long = [...Array(15).fill(20), most, ...drawn];
      await expectSegments(t, device, 'f32', { lengths: long, known: true, values: 2 });
    }
    if (!small) await expectSegments(t, device, 'u32', { lengths: [3, 66_000, ...Array(40).fill(30)] });
  });

  for (const dtype of ['u8', 'i16', 'f16', 'bf16', 'u32', 'f32', 'i64'] as const) {
    testIf(
      able,
      title(`vector lanes sort ${dtype} keys with values and with positions in every order`),
      async (t) => {
        const lengths = Array.from({ length: small ? 18 : 40 }, (_, i) => (i * 7) % 45);
        for (const [i, order] of ORDERS.entries()) {
          const values = [2, 256, 3, 17][i] as number; // equal keys show whether the sort is stable
          for (const along of ['positions', 'places', 1, 2, 4, 8] as const) {
            await expectSegments(t, device, dtype, { lengths, order, values, along, known: along === 2 });
          }
          const rows = { lengths: Array(17).fill(32), order, values, inPlace: true };
          await expectSegments(t, device, dtype, { ...rows, along: 4 });
          await expectSegments(t, device, dtype, { ...rows, along: 'places' });
        }
      },
    );
  }

  testIf(able, title('vector lanes sort rows of equal length with values'), async (t) => {
    const most = small ? 49 : 150;
    for (let length = 1; length <= most; length += small ? 12 : 3) {
      const rows = { lengths: Array(19).fill(length), known: length % 2 === 0 };
      await expectSegments(t, device, 'u32', { ...rows, along: 'positions', values: 3 });
      await expectSegments(t, device, 'u16', { ...rows, along: 4, inPlace: true });
      await expectSegments(t, device, 'u8', { ...rows, along: 8 });
    }
    for (const length of small ? [] : [255, 256, 257, 1000, 2047, 2048, 2049]) {
      await expectSegments(t, device, 'u32', { lengths: Array(16).fill(length), along: 4, values: 2 });
      await expectSegments(t, device, 'u16', {
        lengths: Array(16).fill(length),
        along: 'places',
        known: true,
      });
    }
  });

  testIf(able, title('vector lanes sort short segments among long ones with values'), async (t) => {
    const random = new Random(SEED);
    for (const most of small ? [9, 40, 90] : [9, 70, 600, 5000]) {
      const drawn = Array.from({ length: small ? 20 : 50 }, () => random.below(random.below(most) + 1));
      await expectSegments(t, device, 'u32', { lengths: drawn, inPlace: true, along: 8 });
      const long = [...Array(15).fill(20), most, ...drawn];
      await expectSegments(t, device, 'f32', { lengths: long, known: true, values: 2, along: 'positions' });
      await expectSegments(t, device, 'u8', { lengths: long, inPlace: true, along: 1 });
    }
    if (small) return;
    await expectSegments(t, device, 'u32', { lengths: [3, 66_000, ...Array(40).fill(30)], along: 'places' });
  });

  testIf(able, title('keys that are equal within the bit window keep their input order'), async (t) => {
    for (const bits of [
      [3, 32],
      [0, 24],
    ] as const) {
      await expectSegments(t, device, 'u32', { lengths: Array(20).fill(30), bits, values: 2 });
      await expectSegments(t, device, 'u32', { lengths: Array(20).fill(30), bits, values: 2, along: 4 });
    }
  });
});
