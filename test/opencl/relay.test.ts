/** Bytes that threads copy from buffer to buffer. */
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { Random } from '../../src/util/random.js';
import { where } from '../where.js';
import { type Opened, opened, rejected, thrown } from './devices.js';

for (const from of opened) {
  for (const to of opened) {
    const title = (claim: string): string => `${from.name} to ${to.name}: ${claim}`;
    const basic = [from, to].some(({ device }) =>
      /^basic/.test(String(cl.getDeviceInfo(device, cl.DEVICE_NAME))),
    );
    // PoCL's basic device runs commands on any waiting thread.
    const maxThreads = basic ? 1 : 4;

    test.serial(
      title('a relay copies the bytes of one buffer to the other and writes nothing else'),
      async (t) => {
        const random = new Random(7);
        for (const bytes of [0, 1, 63, 4096, 100_001, 3 * 2 ** 20 + 5]) {
          for (const [piece, slots, threads] of [
            [64, [2, 3], 1],
            [4096, [3, 2], maxThreads],
            [2 ** 20, [1, 1], maxThreads],
            // Through one ring: any memory is accessible here.
            [64, [5], 1],
            [4096, [2], 1],
            [4096, [8], maxThreads],
            [2 ** 20, [1], 1],
          ] as const) {
            if (bytes / piece > 2000) continue;
            const data = Uint8Array.from({ length: bytes + 16 }, () => random.below(256));
            const source = cl.createBuffer(from.context, cl.MEM_READ_WRITE, data.byteLength);
            const target = cl.createBuffer(to.context, cl.MEM_READ_WRITE, bytes + 32);
            cl.enqueueWriteBuffer(from.queue, source, true, 0, data.byteLength, data);
            cl.enqueueWriteBuffer(to.queue, target, true, 0, bytes + 32, new Uint8Array(bytes + 32).fill(7));
            const result = BigInt64Array.of(5n, 5n);
            await cl.relayAsync(
              [from.queue, to.queue],
              [source, target],
              BigUint64Array.of(8n, 16n),
              bytes,
              slots.map((count) => new Uint8Array(count * piece)) as [Uint8Array, Uint8Array] | [Uint8Array],
              piece,
              result,
              threads,
            );
            t.deepEqual([...result], [0n, 0n]);
            const all = new Uint8Array(bytes + 32);
            cl.enqueueReadBuffer(to.queue, target, true, 0, all.byteLength, all);
            const expected = new Uint8Array(bytes + 32).fill(7);
            expected.set(data.subarray(8, 8 + bytes), 16);
            t.is(Buffer.compare(all, expected), 0, `${bytes} bytes in pieces of ${piece}, ${slots} slots`);
            cl.releaseMemObject(source);
            cl.releaseMemObject(target);
          }
        }
      },
    );
  }
}

for (const { name, device, context, queue, userEvents } of opened) {
  where(
    userEvents,
    'no user events',
    test.serial,
  )(`${name}: a relay through one ring overwrites no bytes that are still to be sent`, async (t) => {
    const [piece, bytes] = [4096, 20 * 4096 - 3];
    const random = new Random(8);
    const data = Uint8Array.from({ length: bytes }, () => random.below(256));
    const [source, target] = [0, 1].map(() => cl.createBuffer(context, cl.MEM_READ_WRITE, bytes)) as [
      cl.MemObject,
      cl.MemObject,
    ];
    cl.enqueueWriteBuffer(queue, source, true, 0, bytes, data);
    const late = cl.createCommandQueue(context, device);
    const begun = cl.createUserEvent(context);
    cl.enqueueBarrierWithWaitList(late, [begun]);
    const result = new BigInt64Array(2);
    const ring = new Uint8Array(4 * piece);
    const all = [[queue, late] as const, [source, target] as const, new BigUint64Array(2), bytes] as const;
    const relayed = cl.relayAsync(...all, [ring], piece, result, 1);
    await setTimeout(50);
    cl.setUserEventStatus(begun, cl.COMPLETE);
    await relayed;
    t.deepEqual([...result], [0n, 0n]);
    const came = new Uint8Array(bytes);
    cl.enqueueReadBuffer(late, target, true, 0, bytes, came);
    t.is(Buffer.compare(came, data), 0);
    for (const one of [source, target]) cl.releaseMemObject(one);
    cl.releaseEvent(begun);
    cl.releaseCommandQueue(late);
  });
}

where(opened.length > 1, 'there is one platform')(
  'a queue and a buffer of two platforms are rejected',
  (t) => {
    const [one, other] = opened as unknown as readonly [Opened, Opened];
    const buffers = [one, other].map(({ context }) => cl.createBuffer(context, cl.MEM_READ_WRITE, 64)) as [
      cl.MemObject,
      cl.MemObject,
    ];
    const relay = (mixed: [cl.MemObject, cl.MemObject]) =>
      cl.relayAsync(
        [one.queue, other.queue],
        mixed,
        new BigUint64Array(2),
        16,
        [new Uint8Array(64), new Uint8Array(64)],
        16,
        new BigInt64Array(2),
        1,
      );
    t.is(thrown(() => relay([buffers[1], buffers[0]])).code, cl.INVALID_CONTEXT.code);
    for (const buffer of buffers) cl.releaseMemObject(buffer);
  },
);

for (const { name, context, queue } of opened) {
  test.serial(`${name}: invalid arguments are rejected`, async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const right: Parameters<typeof cl.relayAsync> = [
      ...([[queue, queue], [buffer, buffer], BigUint64Array.of(0n, 32n), 32] as const),
      ...([[new Uint8Array(64), new Uint8Array(64)], 16, new BigInt64Array(2), 1] as const),
    ];
    const wrong: readonly (readonly [number, unknown, number])[] = [
      [0, [queue], -30],
      [0, [queue, buffer], -36],
      [1, [buffer, queue], -38],
      [2, BigUint64Array.of(0n), -30],
      [2, BigUint64Array.of(0n, 40n), -30],
      [2, BigUint64Array.of(40n, 0n), -30],
      [3, -1, -30],
      [3, 65, -30],
      [4, [], -30],
      [4, [new Uint8Array(8)], -30],
      [4, [new Uint8Array(64), new Uint8Array(64), new Uint8Array(64)], -30],
      [4, [new Uint8Array(8), new Uint8Array(64)], -30],
      [4, [new Uint8Array(64), new Uint8Array(8)], -30],
      [5, 0, -30],
      [6, new BigInt64Array(1), -30],
      [7, 0, -30],
      [7, 65, -30],
    ];
    for (const [at, value, code] of wrong) {
      const given = right.with(at, value as never) as typeof right;
      t.is((await rejected(cl.relayAsync(...given))).code, code, `argument ${at}`);
    }
    cl.releaseMemObject(buffer);
  });
}
