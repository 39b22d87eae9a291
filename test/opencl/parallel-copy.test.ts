/** Host memory that threads copy to other host memory. */
import test from 'ava';
import { copyAsync, joinAsync } from '../../src/native-host/host-functions.js';
import { Random } from '../../src/util/random.js';
import { rejected } from './devices.js';

const resizableBytes = (bytes: number): Uint8Array => {
  const Resizable = ArrayBuffer as unknown as new (bytes: number, options: object) => ArrayBuffer;
  return new Uint8Array(new Resizable(bytes, { maxByteLength: 2 * bytes }));
};

test('copyAsync copies each piece to its destination and writes nothing else', async (t) => {
  const random = new Random(11);
  const lengths = [
    [],
    [0],
    [1, 0, 0, 7],
    [2 ** 16 - 1, 1, 2 ** 16, 2 ** 16 + 1, 0],
    [3 * 2 ** 20 + 5],
    Array.from({ length: 1500 }, () => random.below(400)),
    Array.from({ length: 40 }, () => random.below(2 ** 17)),
  ];
  for (const each of lengths) {
    for (const threads of [1, 2, 8, 64]) {
      const from = each.map((bytes) => Uint8Array.from({ length: bytes }, () => random.below(256)));
      const margin = 3;
      const to = each.map((bytes) => new Uint8Array(bytes + 2 * margin).fill(7));
      await copyAsync(
        from,
        to.map((own) => own.subarray(margin)),
        threads,
      );
      for (const [i, own] of to.entries()) {
        const expected = new Uint8Array(own.length).fill(7);
        expected.set(from[i] as Uint8Array, margin);
        t.is(Buffer.compare(own, expected), 0, `number ${i} of ${each.length}, ${threads} threads`);
      }
    }
  }
});

test('copyAsync accepts any memory but resizable, and rejects wrong arguments', async (t) => {
  const from = [Float64Array.of(1, 2), new DataView(new ArrayBuffer(5)), Uint16Array.of(3).buffer];
  const shared = new Uint8Array(new SharedArrayBuffer(16));
  const to = [shared, new ArrayBuffer(5), new Uint8Array(9).subarray(7)];
  await copyAsync(from, to, 2);
  t.deepEqual([...new Float64Array(shared.buffer)], [1, 2]);
  t.deepEqual([...(to[2] as Uint8Array)], [3, 0]);
  const resizable = resizableBytes(8);
  const plain = new Uint8Array(8);
  for (const [a, b, threads, message] of [
    [[resizable], [plain], 1, /resizable/],
    [[plain], [resizable], 1, /resizable/],
    [[plain], [plain.subarray(1)], 1, /at least 8 bytes but got 7/],
    [[plain], [], 1, /argument 2: expected 1 destinations but got 0/],
    [[plain], [plain], 0, /at least one thread/],
    [[plain], [plain], 65, /64/],
    [[plain], [null], 1, /memory|Buffer/],
    [plain, null, 1, /list|array/i],
  ] as const) {
    const error = await rejected(copyAsync(a as never, b as never, threads));
    t.is(error.name, 'CL_INVALID_VALUE', String(message));
    t.regex(error.reason ?? '', message);
  }
});

test('joinAsync concatenates pieces of memory, and rejects wrong arguments', async (t) => {
  const random = new Random(12);
  const lengths = [
    [],
    [0, 0],
    [5],
    [2 ** 16 - 1, 0, 1, 2 ** 16, 2 ** 16 + 1],
    Array.from({ length: 3000 }, () => random.below(300)),
    Array.from({ length: 40 }, () => random.below(2 ** 17)),
  ];
  for (const each of lengths) {
    for (const threads of [1, 3, 64]) {
      const from = each.map((bytes, i) => {
        const own = i % 3 === 2 ? resizableBytes(bytes) : new Uint8Array(bytes + 1).subarray(1);
        for (let k = 0; k < bytes; k++) own[k] = random.below(256);
        return own;
      });
      const all = Buffer.concat(from);
      const margin = 3;
      const to = new Uint8Array(all.length + 2 * margin).fill(7);
      const joined = joinAsync(from, to.subarray(margin, margin + all.length), threads);
      // Resizable pieces have been read by now.
      for (const { buffer } of from) {
        const { resizable, resize } = buffer as { resizable?: boolean; resize?(bytes: number): void };
        if (resizable) resize?.call(buffer, 0);
      }
      await joined;
      t.is(Buffer.compare(to.subarray(margin, margin + all.length), all), 0, `${each.length}, ${threads}`);
      t.true([...to.subarray(0, margin), ...to.subarray(margin + all.length)].every((byte) => byte === 7));
    }
  }
  const shared = new Uint8Array(new SharedArrayBuffer(11));
  await joinAsync(
    [Uint16Array.of(3).buffer, new DataView(new ArrayBuffer(1)), Float64Array.of(1)],
    shared,
    1,
  );
  t.deepEqual([...shared.subarray(0, 3)], [3, 0, 0]);
  t.deepEqual([...new Float64Array(shared.slice(3).buffer)], [1]);
  const plain = new Uint8Array(8);
  const detached = new Uint8Array(8);
  structuredClone(null, { transfer: [detached.buffer] });
  for (const [from, to, threads, message] of [
    [[plain], resizableBytes(8), 1, /resizable/],
    [[plain], plain.subarray(1), 1, /argument 2: expected memory that holds all elements but got 7 bytes/],
    [
      [plain, plain],
      new Uint8Array(15),
      1,
      /argument 2: expected memory that holds all elements but got 15 bytes/,
    ],
    [[plain], new Uint8Array(9), 1, /argument 2: expected 8 bytes but got 9/],
    [[detached], plain, 1, /argument 2: expected 0 bytes but got 8/],
    [[plain], plain, 0, /at least one thread/],
    [[plain], plain, 65, /64/],
    [[plain, null], plain, 1, /element 2: expected a Buffer/],
    [[plain], null, 1, /Buffer/],
    [plain, plain, 1, /list|array/i],
  ] as const) {
    const error = await rejected(joinAsync(from as never, to as never, threads));
    t.is(error.name, 'CL_INVALID_VALUE', String(message));
    t.regex(error.reason ?? '', message);
  }
});

test('transferring memory during copyAsync or joinAsync does no harm', async (t) => {
  const from = Array.from({ length: 64 }, () => new Uint8Array(2 ** 18).fill(5));
  const to = from.map(({ length }) => new Uint8Array(length));
  const copied = copyAsync(from, to, 4);
  structuredClone(null, { transfer: from.slice(0, 32).map(({ buffer }) => buffer) });
  structuredClone(null, { transfer: to.slice(16, 48).map(({ buffer }) => buffer) });
  await copied;
  const again = from.slice(32);
  const all = new Uint8Array(again.length * 2 ** 18);
  const joined = joinAsync(again, all, 4);
  structuredClone(null, { transfer: [...again.map(({ buffer }) => buffer), all.buffer] });
  await joined;
  for (const [i, { length }] of to.entries()) t.is(length, i < 16 || i >= 48 ? 2 ** 18 : 0);
  t.true(to.slice(48).every((own) => own.every((byte) => byte === 5)));
});
