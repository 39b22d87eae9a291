/** Host memory that threads copy to other host memory. */
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { Random } from '../../src/util/random.js';
import { thrown } from './devices.js';

const resizableBytes = (bytes: number): Uint8Array => {
  const Resizable = ArrayBuffer as unknown as new (bytes: number, options: object) => ArrayBuffer;
  return new Uint8Array(new Resizable(bytes, { maxByteLength: 2 * bytes }));
};

test('each piece of memory comes to its place, and nothing else is written', async (t) => {
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
      await cl.copyAsync(
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

test('memory of any kind is copied, and any but resizable one', async (t) => {
  const from = [Float64Array.of(1, 2), new DataView(new ArrayBuffer(5)), Uint16Array.of(3).buffer];
  const shared = new Uint8Array(new SharedArrayBuffer(16));
  const to = [shared, new ArrayBuffer(5), new Uint8Array(9).subarray(7)];
  await cl.copyAsync(from, to, 2);
  t.deepEqual([...new Float64Array(shared.buffer)], [1, 2]);
  t.deepEqual([...(to[2] as Uint8Array)], [3, 0]);
  const resizable = resizableBytes(8);
  const plain = new Uint8Array(8);
  for (const [a, b, threads, message] of [
    [[resizable], [plain], 1, /resizable/],
    [[plain], [resizable], 1, /resizable/],
    [[plain], [plain.subarray(1)], 1, /has 7 bytes/],
    [[plain], [], 1, /lists of one length/],
    [[plain], [plain], 0, /at least one thread/],
    [[plain], [plain], 65, /64/],
    [[plain], [null], 1, /memory|Buffer/],
    [plain, null, 1, /list|array/i],
  ] as const) {
    const error = thrown(() => cl.copyAsync(a as never, b as never, threads));
    t.is(error.name, 'CL_INVALID_VALUE', String(message));
    t.regex(error.reason ?? '', message);
  }
});

test('memory that is transferred meanwhile does no harm', async (t) => {
  const from = Array.from({ length: 64 }, () => new Uint8Array(2 ** 18).fill(5));
  const to = from.map(({ length }) => new Uint8Array(length));
  const copied = cl.copyAsync(from, to, 4);
  structuredClone(null, { transfer: from.slice(0, 32).map(({ buffer }) => buffer) });
  structuredClone(null, { transfer: to.slice(16, 48).map(({ buffer }) => buffer) });
  await copied;
  for (const [i, { length }] of to.entries()) t.is(length, i < 16 || i >= 48 ? 2 ** 18 : 0);
  t.true(to.slice(48).every((own) => own.every((byte) => byte === 5)));
});
