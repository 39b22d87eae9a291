/** Reduce, scan, histogram and gather, each form of each kernel against a loop on the host. */
import test from 'ava';
import type { Device } from '../../src/device/device.js';
import type { Buffer as DeviceBuffer } from '../../src/device/memory/buffer.js';
import { withBuffers } from '../../src/explain/buffers.js';
import type { Dtype, KeyArray } from '../../src/keys/dtype.js';
import { encode, keyCodec } from '../../src/keys/key-codec.js';
import { createGather } from '../../src/primitives/gather.js';
import { HISTOGRAM_STEPS, histogram } from '../../src/primitives/histogram.js';
import { REDUCE_STEPS, reduce } from '../../src/primitives/reduce.js';
import { SCAN_STEPS, Scan, scan } from '../../src/primitives/scan.js';
import { InputError, UnsupportedError, UsageError } from '../../src/util/errors.js';
import { keysOf } from '../distributions.js';
import { forEachDevice } from '../each-device.js';
import { patterns } from '../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

async function withKeys<T>(
  device: Device,
  keys: ArrayBufferView,
  use: (buffer: ReturnType<Device['buffer']>) => Promise<T>,
): Promise<T> {
  const buffer = device.buffer(Math.max(4, keys.byteLength));
  try {
    device.queue.write(buffer, keys);
    return await use(buffer);
  } finally {
    buffer.release();
  }
}

const ones = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => (i % 7) - 3 + i / 1024);

forEachDevice((title, device, small) => {
  const sizes = [0, 1, 2, 3, 31, 33, 255, 257, 513, 2049, ...(small ? [] : [65_537, 2 ** 20 + 3])];

  for (const step of REDUCE_STEPS) {
    test.serial(title(`reduce ${step} sums any number of u32 and i32 keys in 64 bits`), async (t) => {
      const opened = await device();
      for (const dtype of ['u32', 'i32'] as const) {
        for (const n of sizes) {
          const keys = keysOf(dtype, 'uniform', n) as Uint32Array;
          let expected = 0n;
          for (const key of keys) expected += BigInt(key);
          const sum = await withKeys(opened, keys, (buffer) =>
            reduce(opened, { keys: buffer, n, dtype, op: 'sum', step }),
          );
          t.is(sum, expected, `${dtype} ${n}`);
        }
      }
    });
  }

  test.serial(title('reduce sums u64 and i64 modulo 2^64'), async (t) => {
    const opened = await device();
    for (const dtype of ['u64', 'i64'] as const) {
      const keys = keysOf(dtype, 'uniform', 700) as BigUint64Array;
      const sum = keys.reduce((a, b) => a + b, 0n);
      const expected = dtype === 'u64' ? BigInt.asUintN(64, sum) : BigInt.asIntN(64, sum);
      t.is(
        await withKeys(opened, keys, (buffer) => reduce(opened, { keys: buffer, n: 700, dtype, op: 'sum' })),
        expected,
      );
    }
  });

  test.serial(title('reduce sums f32 within the documented error and keeps infinity'), async (t) => {
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

  test.serial(title('reduce sums f64 on devices with fp64 and rejects on others'), async (t) => {
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

  test.serial(title('min and max of every width return NaN if present; -0 is below +0'), async (t) => {
    const opened = await device();
    for (const dtype of ['u8', 'i16', 'u32', 'i32', 'f32', 'u64', 'i64', 'f64'] as const satisfies Dtype[]) {
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
      await t.throwsAsync(find(new Float32Array()), { instanceOf: InputError });
    }
  });

  for (const step of SCAN_STEPS) {
    test.serial(title(`scan ${step} is correct for any n, exclusive and in-place inclusive`), async (t) => {
      const opened = await device();
      for (const n of sizes.filter((size) => size > 0)) {
        const values = keysOf('u32', 'uniform', n) as Uint32Array;
        for (const inclusive of [false, true]) {
          let sum = 0;
          const expected = values.map((value) => {
            const before = sum;
            sum = (sum + value) >>> 0;
            return inclusive ? sum : before;
          });
          const output = opened.buffer(n * 4);
          const got = await withKeys(opened, values, async (input) => {
            const into = inclusive ? input : output;
            await scan(opened, { input, output: into, n, inclusive, dtype: 'u32', step });
            const read = new Uint32Array(n);
            opened.queue.read(into, read);
            await opened.queue.finish();
            return read;
          });
          output.release();
          t.is(Buffer.compare(bytesOf(got), bytesOf(expected)), 0, `${n} ${inclusive}`);
        }
      }
    });
  }

  test.serial(
    title('the single pass is correct whether or not groups publish their sums in time'),
    async (t) => {
      const opened = await device();
      if (Number.isFinite(opened.capabilities.quirks.maxLoopIterations)) {
        const refused = Scan.create(opened, { dtype: 'u32', step: 'single_pass' });
        await t.throwsAsync(refused, { instanceOf: UnsupportedError, message: /ends long loops/ });
        return;
      }
      const n = 5003;
      const values = keysOf('u32', 'uniform', n) as Uint32Array;
      let sum = 0;
      const expected = values.map((value) => (sum = (sum + value) >>> 0));
      for (const looks of [undefined, 0, 1]) {
        const lab = { groupSize: 32, ...(looks !== undefined && { looks }) };
        const made = await Scan.create(opened, { dtype: 'u32', step: 'single_pass', lab });
        t.true(made.tiles(n).every((tiles) => tiles > 16));
        const got = await withBuffers(opened, [n * 4, n * 4, ...made.sumBytes(n)], async (buffers) => {
          const [input, output, ...sums] = buffers as [DeviceBuffer, DeviceBuffer, ...DeviceBuffer[]];
          opened.queue.write(input, values);
          const work = { input, n, inclusive: true, sums };
          t.throws(() => made.enqueue(opened.queue, { ...work, output: input }), { instanceOf: UsageError });
          made.enqueue(opened.queue, { ...work, output });
          const read = new Uint32Array(n);
          opened.queue.read(output, read);
          await opened.queue.finish();
          return read;
        });
        t.deepEqual(got, expected, `${looks}`);
      }
    },
  );

  test.serial(title('scan sums u64 modulo 2^64, and floats exactly if sums need no rounding'), async (t) => {
    const opened = await device();
    const run = async <A extends KeyArray>(values: A, dtype: Dtype): Promise<A> =>
      withKeys(opened, values, async (buffer) => {
        await scan(opened, { input: buffer, output: buffer, n: values.length, inclusive: true, dtype });
        const read = values.slice() as A;
        opened.queue.read(buffer, read);
        await opened.queue.finish();
        return read;
      });
    const wide = keysOf('u64', 'uniform', 3000) as BigUint64Array;
    let sum = 0n;
    t.deepEqual(
      await run(wide, 'u64'),
      wide.map((value) => (sum = BigInt.asUintN(64, sum + value))),
    );
    const floats = Float32Array.from({ length: 3000 }, (_, i) => i % 5);
    let total = 0;
    t.deepEqual(
      await run(floats, 'f32'),
      floats.map((value) => (total += value)),
    );
    const doubles = Float64Array.from({ length: 3000 }, (_, i) => 2 ** 34 * (i % 5) + (i % 3) / 4);
    if (opened.capabilities.fp64) {
      let exact = 0;
      t.deepEqual(
        await run(doubles, 'f64'),
        doubles.map((value) => (exact += value)),
      );
    } else {
      await t.throwsAsync(run(doubles, 'f64'), { instanceOf: UnsupportedError });
    }
    await t.throwsAsync(run(new Uint8Array(4), 'u8'), { instanceOf: UnsupportedError });
  });

  for (const step of HISTOGRAM_STEPS) {
    test.serial(
      title(`histogram ${step} counts any number of keys by bits and by edges without overflow`),
      async (t) => {
        const opened = await device();
        const wide = step === 'global' ? 12 : step === 'waves' ? 8 : 6;
        for (const n of sizes) {
          for (const keys of [
            keysOf('u32', 'uniform', n) as Uint32Array,
            new Uint32Array(n).fill(0x1234_5678),
          ]) {
            for (const bits of [
              [3, 3 + wide],
              [31, 32],
            ] as const) {
              const bins = 2 ** (bits[1] - bits[0]);
              const expected = new Uint32Array(bins);
              for (const key of keys) {
                const bin = (key >>> bits[0]) & (bins - 1);
                expected[bin] = (expected[bin] ?? 0) + 1;
              }
              const counts = await withKeys(opened, keys, (buffer) =>
                histogram(opened, { keys: buffer, n, dtype: 'u32', binning: { bits }, step }),
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
          histogram(opened, { keys: buffer, n: keys.length, dtype: 'f32', binning, step }),
        );
        t.deepEqual(counts, Uint32Array.of(2, 2, 3)); // the last bin holds its upper edge; -1 and NaN are in none
        await t.throwsAsync(
          histogram(opened, { keys: opened.buffer(4), n: 1, dtype: 'u32', binning: { bits: [3, 3] }, step }),
          { instanceOf: UsageError },
        );
      },
    );
  }

  for (const indexBits of [32, 64] as const) {
    test.serial(title(`gather moves elements of 1 to 16 bytes by ${indexBits}-bit indices`), async (t) => {
      const opened = await device();
      const n = 300;
      const order = Array.from({ length: n }, (_, i) => (i * 7) % n);
      const indices = indexBits === 32 ? Uint32Array.from(order) : BigUint64Array.from(order, BigInt);
      for (const elementBytes of small ? [1, 4, 12] : Array.from({ length: 16 }, (_, i) => i + 1)) {
        const input = bytesOf(keysOf('u8', 'uniform', n * elementBytes));
        const gather = await createGather(opened, { elementBytes, indexBits });
        const output = opened.buffer(n * elementBytes);
        const got = await withKeys(opened, input, (from) =>
          withKeys(opened, indices, async (by) => {
            gather({ input: from, indices: by, output, n, length: n });
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
      await t.throwsAsync(async () => createGather(opened, { elementBytes: 17 }), { instanceOf: UsageError });
    });
  }
});
