/** The steps of reductions and scans against a loop on the host. */
import test from 'ava';
import type { Device } from '../../src/device/device.js';
import type { Buffer as DeviceBuffer } from '../../src/device/memory/buffer.js';
import { withBuffers } from '../../src/explain/buffers.js';
import type { Dtype, KeyArray } from '../../src/keys/dtype.js';
import { REDUCE_STEPS, type ReduceStep, Reduction } from '../../src/lab/reduce.js';
import { SCAN_STEPS, Scan, type ScanStep, type ScanWork } from '../../src/lab/scan.js';
import { UnsupportedError, UsageError } from '../../src/util/errors.js';
import { keysOf } from '../distributions.js';
import { forEachDevice } from '../each-device.js';
import { withKeys } from '../with-keys.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

async function reduce(
  device: Device,
  { keys, n, dtype, step }: { keys: DeviceBuffer; n: number; dtype: Dtype; step: ReduceStep },
): Promise<number | bigint> {
  const reduction = await Reduction.create(device, { dtype, op: 'sum' });
  const result = new Uint8Array(8);
  const bytes = reduction.partialBytes(n, step);
  device.pool.withBuffers([bytes, bytes], (from, to) => {
    device.queue.read(reduction.enqueue(device.queue, { keys, n, partials: [from, to] }, step), result);
  });
  await device.queue.finish();
  return reduction.value(result);
}

async function scan(
  device: Device,
  { dtype, step, ...work }: Omit<ScanWork, 'sums'> & { dtype: Dtype; step?: ScanStep },
): Promise<void> {
  const made = await Scan.create(device, { dtype, ...(step && { step }) });
  device.pool.withBuffers(made.sumBytes(work.n), (...sums) => made.enqueue(device.queue, { ...work, sums }));
  await device.queue.finish();
}

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
            reduce(opened, { keys: buffer, n, dtype, step }),
          );
          t.is(sum, expected, `${dtype} ${n}`);
        }
      }
    });
  }

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
});
