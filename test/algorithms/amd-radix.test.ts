/**
 * The AMD-style pipeline: each kernel against the model, then the whole sort. Each defect of the published sample has
 * its test here.
 */
import test from 'ava';
import type { Stage } from '../../src/algorithms/algorithm.js';
import { amdGeometry } from '../../src/algorithms/amd-geometry.js';
import { amdRadix } from '../../src/algorithms/amd-radix.js';
import { amdPassModel } from '../../src/algorithms/amd-radix-model.js';
import { enqueueWithScratch } from '../../src/algorithms/run.js';
import type { Device } from '../../src/device/device.js';
import { type Dtype, dtypeInfo } from '../../src/keys/dtype.js';
import { encode, keyCodec, type Order } from '../../src/keys/key-codec.js';
import { forEachDevice } from '../each-device.js';

const random = (n: number, seed = 1): Uint32Array => {
  let state = seed;
  return Uint32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state ^ Math.imul(state >>> 15, 0x2c1b3c6d)) >>> 0;
  });
};

interface Case {
  readonly dtype?: Dtype;
  readonly order?: Order;
  readonly bits?: readonly [number, number];
  readonly scan?: 3 | 5;
  readonly values?: Uint32Array;
  readonly indices?: boolean;
  readonly inPlace?: boolean;
  readonly onStage?: (stage: Stage, device: Device) => void;
}

/** Sorts the bit patterns in `keys` and returns the output. */
async function run(device: Device, keys: Uint32Array, options: Case = {}) {
  const {
    dtype = 'u32',
    order = {},
    bits = [0, 32],
    scan,
    values,
    indices = false,
    inPlace = false,
  } = options;
  const valueBytes = values || indices ? 4 : 0;
  const algorithm = await amdRadix.create(device, {
    keyBits: 32,
    valueBytes,
    ...(scan && { tuning: { scan } }),
  });
  const { queue } = device;
  const bytes = keys.byteLength;
  const input = device.buffer(bytes);
  const output = inPlace ? input : device.buffer(bytes);
  const inputValues = values ? device.buffer(bytes) : undefined;
  const outputValues = valueBytes ? device.buffer(bytes) : undefined;
  queue.write(input, keys);
  if (values && inputValues) queue.write(inputValues, values);
  // Poison makes a position that is never written visible.
  if (!inPlace) queue.fill(output, 0xdeadbeef);
  if (outputValues) queue.fill(outputValues, 0xdeadbeef);
  const { release } = enqueueWithScratch(algorithm, queue, {
    n: keys.length,
    input,
    output,
    ...(inputValues && { inputValues }),
    ...(outputValues && { outputValues }),
    indices,
    codec: keyCodec(dtype, order),
    bits,
    ...(options.onStage && { onStage: (stage: Stage) => options.onStage?.(stage, device) }),
  });
  const sorted = new Uint32Array(keys.length);
  const moved = new Uint32Array(outputValues ? keys.length : 0);
  queue.read(output, sorted);
  if (outputValues) queue.read(outputValues, moved);
  await queue.finish();
  release();
  for (const buffer of new Set([input, output, inputValues, outputValues])) buffer?.release();
  return { keys: sorted, values: moved };
}

/** Positions of the keys in stable order of their codes. */
function referenceOrder(
  keys: Uint32Array,
  dtype: Dtype,
  order: Order,
  [begin, end]: readonly [number, number],
) {
  const codec = keyCodec(dtype, order);
  const mask = (1n << BigInt(end - begin)) - 1n;
  const codes = Float64Array.from(keys, (key) =>
    Number((encode(codec, BigInt(key)) >> BigInt(begin)) & mask),
  );
  return Uint32Array.from(keys.keys()).sort((a, b) => (codes[a] ?? 0) - (codes[b] ?? 0) || a - b);
}

const gather = (from: Uint32Array, order: Uint32Array): Uint32Array => order.map((i) => from[i] ?? 0);

forEachDevice((title, device, small) => {
  const large = small ? 20_000 : 65_537;

  for (const scan of [3, 5] as const) {
    test(title(`the output of every kernel matches the model (chain of ${scan})`), async (t) => {
      const keys = random(scan === 3 ? 16_000 : 40_000, 7);
      const dtype = 'i32';
      const codec = keyCodec(dtype, { descending: true });
      const seen: { stage: Stage; data: Record<string, Uint32Array> }[] = [];
      await run(await device(), keys, {
        dtype,
        order: { descending: true },
        scan,
        onStage: (stage, { queue }) => {
          const data = Object.fromEntries(
            Object.entries(stage.buffers).map(([name, buffer]) => [name, new Uint32Array(buffer.bytes / 4)]),
          );
          for (const [name, buffer] of Object.entries(stage.buffers)) {
            const into = data[name];
            if (into) queue.read(buffer, into);
          }
          seen.push({ stage, data });
        },
      });
      const { runs, blocks } = amdGeometry(keys.length, scan);
      let codes = Array.from(keys, (key) => Number(encode(codec, BigInt(key))));
      for (let pass = 0; pass < 4; pass++) {
        const digits = codes.map((code) => (code >>> (8 * pass)) & 255);
        const model = amdPassModel(digits, 255, scan);
        const after = (kernel: string, buffer: string, length: number): Uint32Array => {
          const found = seen.find((s) => s.stage.kernel === kernel && s.stage.pass === pass);
          const data = found?.data[buffer];
          if (!data) throw new Error(`${kernel} of pass ${pass} left no ${buffer}`);
          return data.subarray(0, length);
        };
        const tableWords = blocks * 256;
        t.deepEqual(after('histogram', 'buckets', tableWords), model.buckets);
        t.deepEqual(after('ScanArraysdim2', 'scannedBuckets', tableWords), model.scannedInRuns);
        t.deepEqual(after('ScanArraysdim2', 'sumBuffer', 256 * runs), model.runTotals);
        if (scan === 5) {
          t.deepEqual(after('prefixSum', 'sumBuffer', 256 * runs), model.runPrefixes);
          t.deepEqual(after('prefixSum', 'binTotals', 256), model.binTotals);
          t.deepEqual(after('blockAddition', 'scannedBuckets', tableWords), model.scannedInBins);
        }
        t.deepEqual(after('ScanArraysdim1', 'binTotals', 256), model.binBases);
        t.deepEqual(after('fixOffset', 'scannedBuckets', tableWords), model.scannedBuckets);
        const next = new Array<number>(codes.length);
        for (const [i, code] of codes.entries()) next[model.places[i] ?? 0] = code;
        codes = next;
        const moved = after('permute', 'keys', keys.length);
        const expected =
          pass < 3
            ? Uint32Array.from(codes)
            : gather(keys, referenceOrder(keys, dtype, { descending: true }, [0, 32]));
        t.deepEqual(moved, expected);
      }
    });
  }

  for (const n of [1, 2, 255, 256, 257, 16383, 16384, 16385, ...(small ? [] : [65_536, 65_537, 81_920])]) {
    test(title(`sorts ${n} random keys: order and permutation`), async (t) => {
      const keys = random(n, n);
      t.deepEqual((await run(await device(), keys)).keys, keys.toSorted());
    });
  }

  if (!small) {
    test(title('positions are wider than 16 bits: a sort of 2^20 keys loses none'), async (t) => {
      const keys = random(2 ** 20, 5);
      t.deepEqual((await run(await device(), keys)).keys, keys.toSorted());
    });
  }

  test(title('keys with bit 31 set follow those without'), async (t) => {
    const keys = Uint32Array.from({ length: large }, (_, i) => (i % 2 ? 0x80000000 + i : i));
    t.deepEqual((await run(await device(), keys)).keys, keys.toSorted());
  });

  test(title('equal keys overflow no counter and keep their order'), async (t) => {
    for (const key of [0, 0xffffffff, 0x01010101]) {
      const keys = new Uint32Array(large).fill(key);
      const { keys: sorted, values } = await run(await device(), keys, { indices: true });
      t.deepEqual(sorted, keys);
      t.deepEqual(values, Uint32Array.from(keys.keys()));
    }
  });

  test(title('the chains of 3 and 5 kernels agree on the same input'), async (t) => {
    const keys = random(16_384, 11);
    const three = await run(await device(), keys, { scan: 3, indices: true });
    t.deepEqual(await run(await device(), keys, { scan: 5, indices: true }), three);
    t.deepEqual(three.keys, keys.toSorted());
  });

  test(title('keys of the largest code stay before the padding, with their values'), async (t) => {
    const keys = Uint32Array.from({ length: 16_500 }, (_, i) => (i % 3 ? 0xffffffff : i));
    const values = random(keys.length, 3);
    const order = referenceOrder(keys, 'u32', {}, [0, 32]);
    const result = await run(await device(), keys, { values });
    t.deepEqual(result.keys, gather(keys, order));
    t.deepEqual(result.values, gather(values, order));
  });

  const floats = Uint32Array.from(
    { length: 17_000 },
    (_, i) =>
      [0x7fc00001, 0xffc00002, 0x80000000, 0, 0x7f800000, 0xff800000, 0x3f800000, 0xbf800000, 1, 0x80000001][
        i % 10
      ] ?? 0,
  );
  for (const descending of [false, true]) {
    for (const nan of ['first', 'last'] as const) {
      test(title(`f32 with NaN ${nan}, ${descending ? 'descending' : 'ascending'}, is stable`), async (t) => {
        const order = referenceOrder(floats, 'f32', { descending, nan }, [0, 32]);
        const result = await run(await device(), floats, {
          dtype: 'f32',
          order: { descending, nan },
          indices: true,
        });
        t.deepEqual(result.values, order);
        t.deepEqual(result.keys, gather(floats, order));
      });
    }
  }

  for (const bits of [
    [0, 0],
    [0, 8],
    [3, 14],
    [24, 32],
    [8, 32],
    [31, 32],
    [32, 32],
  ] as const) {
    test(title(`sorts stably on bits [${bits}) only, in place and out of place`), async (t) => {
      const keys = random(17_001, 9);
      const expected = gather(keys, referenceOrder(keys, 'u32', {}, bits));
      t.deepEqual((await run(await device(), keys, { bits })).keys, expected);
      t.deepEqual((await run(await device(), keys, { bits, inPlace: true })).keys, expected);
    });
  }

  test(title('each of a hundred consecutive short sorts is complete after its wait'), async (t) => {
    const wrong: string[] = [];
    for (let round = 0; round < (small ? 30 : 100); round++) {
      const keys = random(1 + ((round * 37) % 300), round + 1);
      const { keys: sorted } = await run(await device(), keys);
      if (Buffer.compare(Buffer.from(sorted.buffer), Buffer.from(keys.toSorted().buffer)) !== 0) {
        wrong.push(`round ${round} of ${keys.length} keys`);
      }
    }
    t.deepEqual(wrong, []);
  });

  test(title('amd rejects 3-byte values and more than 2^32 keys'), async (t) => {
    const opened = await device();
    t.regex(String(amdRadix.available(opened, { keyBits: 32, valueBytes: 3 })), /3 bytes/);
    const algorithm = await amdRadix.create(opened, { keyBits: 32, valueBytes: 0 });
    const ask = (n: number) => algorithm.supports({ dtype: 'u32', n, bits: [0, 32], valueBytes: 0 });
    t.is(ask(2 ** 32), true);
    t.regex(String(ask(2 ** 32 + 1)), /2\^32/);
    t.is(dtypeInfo('u32').width, algorithm.shape.keyBits);
  });
});
