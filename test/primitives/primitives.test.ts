/** Reduce, histogram and gather against a loop on the host. */
import test from 'ava';
import type { Device } from '../../src/device/device.js';
import { StatusWords } from '../../src/device/status-words.js';
import type { Dtype } from '../../src/keys/dtype.js';
import { encode, keyCodec } from '../../src/keys/key-codec.js';
import { Gathers } from '../../src/primitives/gather.js';
import { enqueueGlobalHistogram, type HistogramWork } from '../../src/primitives/histogram.js';
import { enqueueReduce, enqueueReduceAsRun, type ReduceWork } from '../../src/primitives/reduce.js';
import { UnsupportedError, UsageError } from '../../src/util/errors.js';
import type { MaybePromise } from '../../src/util/maybe-promise.js';
import { keysOf } from '../distributions.js';
import { forEachDevice } from '../each-device.js';
import { patterns } from '../reference.js';
import { withKeys } from '../with-keys.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

const finished = async <T>(device: Device, enqueued: MaybePromise<() => T>): Promise<T> => {
  const read = await enqueued;
  await device.queue.finish();
  return read();
};

/** The form of all devices, and that of drivers that end long loops. */
const FORMS = {
  reduce: (device: Device, work: ReduceWork) =>
    finished<number | bigint>(device, enqueueReduce(device, work)),
  'reduce as a run': (device: Device, work: ReduceWork) =>
    finished<number | bigint>(device, enqueueReduceAsRun(device, work)),
};

const histogram = (device: Device, work: HistogramWork) =>
  finished<Uint32Array>(device, enqueueGlobalHistogram(device, work));

const ones = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => (i % 7) - 3 + i / 1024);

forEachDevice((title, device, small) => {
  const sizes = [0, 1, 2, 3, 31, 33, 255, 257, 513, 2049, ...(small ? [] : [65_537, 2 ** 20 + 3])];

  for (const [form, reduce] of Object.entries(FORMS)) {
    test.serial(title(`${form} sums any number of u32 and i32 keys in 64 bits`), async (t) => {
      const opened = await device();
      for (const dtype of ['u32', 'i32'] as const) {
        for (const n of sizes.filter((size) => size > 0)) {
          const keys = keysOf(dtype, 'uniform', n) as Uint32Array;
          let expected = 0n;
          for (const key of keys) expected += BigInt(key);
          const sum = await withKeys(opened, keys, (buffer) =>
            reduce(opened, { keys: buffer, n, dtype, op: 'sum' }),
          );
          t.is(sum, expected, `${dtype} ${n}`);
        }
      }
    });

    test.serial(title(`${form} sums u64 and i64 modulo 2^64`), async (t) => {
      const opened = await device();
      for (const dtype of ['u64', 'i64'] as const) {
        const keys = keysOf(dtype, 'uniform', 700) as BigUint64Array;
        const sum = keys.reduce((a, b) => a + b, 0n);
        const expected = dtype === 'u64' ? BigInt.asUintN(64, sum) : BigInt.asIntN(64, sum);
        t.is(
          await withKeys(opened, keys, (buffer) =>
            reduce(opened, { keys: buffer, n: 700, dtype, op: 'sum' }),
          ),
          expected,
        );
      }
    });

    test.serial(title(`${form} sums f32 within the documented error and keeps infinity`), async (t) => {
      const opened = await device();
      for (const n of sizes.filter((size) => size > 1)) {
        const keys = ones(n);
        const exact = keys.reduce((a, b) => a + b, 0);
        const magnitude = keys.reduce((a, b) => a + Math.abs(b), 0);
        const sum = await withKeys(opened, keys, (buffer) =>
          reduce(opened, { keys: buffer, n, dtype: 'f32', op: 'sum' }),
        );
        t.true(
          Math.abs(Number(sum) - exact) <= 2 * Math.log2(n) * 2 ** -24 * magnitude,
          `${n}: ${sum} for ${exact}`,
        );
      }
      const infinite = Float32Array.of(1, Number.POSITIVE_INFINITY, 2, 3, 4);
      const sum = await withKeys(opened, infinite, (buffer) =>
        reduce(opened, { keys: buffer, n: 5, dtype: 'f32', op: 'sum' }),
      );
      t.is(sum, Number.POSITIVE_INFINITY);
    });

    test.serial(title(`${form} sums f64 on devices with fp64 and rejects on others`), async (t) => {
      const opened = await device();
      const keys = Float64Array.from({ length: 300 }, (_, i) => i / 4);
      const run = withKeys(opened, keys, (buffer) =>
        reduce(opened, { keys: buffer, n: 300, dtype: 'f64', op: 'sum' }),
      );
      if (opened.capabilities.fp64)
        t.is(
          await run,
          keys.reduce((a, b) => a + b, 0),
        );
      else await t.throwsAsync(run, { instanceOf: UnsupportedError, message: /fp64/ });
    });

    test.serial(
      title(`min and max by ${form} of every width return NaN if present; -0 is below +0`),
      async (t) => {
        const opened = await device();
        for (const dtype of [
          'u8',
          'i16',
          'u32',
          'i32',
          'f32',
          'u64',
          'i64',
          'f64',
        ] as const satisfies Dtype[]) {
          const keys = keysOf(dtype, 'uniform', 600) as Uint32Array;
          const numbers = Array.from(keys).filter((key) => !Number.isNaN(key));
          const clean = (keys.constructor as Uint32ArrayConstructor).from(numbers);
          for (const op of ['min', 'max'] as const) {
            const expected = numbers.reduce((a, b) => ((op === 'min' ? b < a : b > a) ? b : a));
            const got = await withKeys(opened, clean, (buffer) =>
              reduce(opened, { keys: buffer, n: clean.length, dtype, op }),
            );
            t.is(got, expected, `${op} ${dtype}`);
          }
        }
        for (const op of ['min', 'max'] as const) {
          const find = (keys: Float32Array) =>
            withKeys(opened, keys, (buffer) =>
              reduce(opened, { keys: buffer, n: keys.length, dtype: 'f32', op }),
            );
          t.is(await find(Float32Array.of(1, Number.NaN, -1)), Number.NaN);
          t.is(await find(Float32Array.of(0, -0, 0)), op === 'min' ? -0 : 0);
        }
      },
    );
  }

  test.serial(
    title('a histogram in global memory counts any number of keys by bits and by edges'),
    async (t) => {
      const opened = await device();
      for (const n of sizes) {
        for (const keys of [
          keysOf('u32', 'uniform', n) as Uint32Array,
          new Uint32Array(n).fill(0x1234_5678),
        ]) {
          for (const bits of [
            [3, 15],
            [31, 32],
          ] as const) {
            const bins = 2 ** (bits[1] - bits[0]);
            const expected = new Uint32Array(bins);
            for (const key of keys) {
              const bin = (key >>> bits[0]) & (bins - 1);
              expected[bin] = (expected[bin] ?? 0) + 1;
            }
            const counts = await withKeys(opened, keys, (buffer) =>
              histogram(opened, { keys: buffer, n, dtype: 'u32', binning: { bits } }),
            );
            t.is(Buffer.compare(bytesOf(counts), bytesOf(expected)), 0, `${n} [${bits}]`);
          }
        }
      }
      const codec = keyCodec('f32');
      const codeOf = (x: number) => encode(codec, patterns(bytesOf(Float32Array.of(x)), 'f32')[0] ?? 0n);
      const keys = Float32Array.of(-1, 0, 0.5, 1, 1.5, 2, 3, Number.NaN, 2.5);
      const binning = { edges: [codeOf(0), codeOf(1), codeOf(2), codeOf(3)] };
      const counts = await withKeys(opened, keys, (buffer) =>
        histogram(opened, { keys: buffer, n: keys.length, dtype: 'f32', binning }),
      );
      t.deepEqual(counts, Uint32Array.of(2, 2, 3)); // the last bin holds its upper edge; -1 and NaN are in none
      await t.throwsAsync(
        histogram(opened, { keys: opened.buffer(4), n: 1, dtype: 'u32', binning: { bits: [3, 3] } }),
        { instanceOf: UsageError },
      );
    },
  );

  test.serial(title('gather moves elements of 1 to 16 bytes'), async (t) => {
    const opened = await device();
    const n = 300;
    const order = Array.from({ length: n }, (_, i) => (i * 7) % n);
    const indices = Uint32Array.from(order);
    for (const elementBytes of small ? [1, 4, 12] : Array.from({ length: 16 }, (_, i) => i + 1)) {
      const input = bytesOf(keysOf('u8', 'uniform', n * elementBytes));
      const gathers = await Gathers.of(opened, elementBytes);
      const output = opened.buffer(n * elementBytes);
      const got = await withKeys(opened, input, (from) =>
        withKeys(opened, indices, async (by) => {
          gathers.enqueue({
            input: from,
            indices: by,
            output,
            n,
            length: n,
            slot: StatusWords.zeroed(opened),
          });
          const read = new Uint8Array(n * elementBytes);
          opened.queue.read(output, read);
          await opened.queue.finish();
          return read;
        }),
      );
      output.release();
      const expected = order.flatMap((from) => [
        ...input.subarray(from * elementBytes, (from + 1) * elementBytes),
      ]);
      t.is(Buffer.compare(got, Uint8Array.from(expected)), 0, `${elementBytes} bytes`);
    }
    await t.throwsAsync(async () => Gathers.of(opened, 17), { instanceOf: UsageError });
  });
});
