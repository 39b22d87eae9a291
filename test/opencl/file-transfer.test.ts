/** Transfers between files and buffers, by threads of the addon. */
import { closeSync, fstatSync, openSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import test from 'ava';
import { hashAsync } from '../../src/native-host/host-functions.js';
import * as cl from '../../src/opencl/index.js';
import { scratchFolder } from '../cli/cli.js';
import { where } from '../where.js';
import { opened, rejected } from './devices.js';
import { run } from './run.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const { STOP, MOVED, ERROR, FILING, WORDS } = cl.FILE_TRANSFER;
const BYTES = 100_003;
const data = Uint8Array.from({ length: BYTES }, (_, i) => i * 31 + (i >> 8));
const hashed = async (...parts: readonly Uint8Array[]): Promise<BigUint64Array> => {
  const words = new BigUint64Array(10);
  for (const part of parts) await hashAsync(part, words);
  return words;
};

for (const one of opened) {
  const { name, context, queue } = one;
  const title = (claim: string): string => `${name}: ${claim}`;
  // PoCL's basic device runs commands on any waiting thread, and sometimes hung when two threads waited.
  const maxThreads = /^basic/.test(String(cl.getDeviceInfo(one.device, cl.DEVICE_NAME))) ? 1 : 4;
  const ring = new Uint8Array(4 * 4096);

  test.serial(title('files are transferred to buffers and back, and hashed on the way'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, BYTES + 10);
    writeFileSync(path('in'), data);
    for (const piece of [1000, 4096, ring.length]) {
      for (const threads of new Set([1, maxThreads])) {
        for (const [position, skipped] of [
          [0, 0],
          [77, 0],
          [77, 5000],
        ] as const) {
          const bytes = BYTES - position;
          const result = new BigInt64Array(WORDS);
          const words = await hashed(data.subarray(0, position + skipped));
          const fd = openSync(path('in'), 'r');
          const way = [ring, piece, threads, words, skipped, result] as const;
          const read = cl.writeBufferFromFileAsync(queue, buffer, 10, fd, position, bytes, ...way);
          closeSync(fd); // it has its own
          await read;
          t.deepEqual([...result.subarray(STOP, FILING)], [0n, BigInt(bytes), 0n]);
          t.is(words[0], (await hashed(data))[0], `pieces of ${piece}, from ${position}, ${skipped} known`);

          const out = openSync(path('out'), 'w+');
          const back = new BigUint64Array(10);
          const to = [ring, piece, threads, back, 0, result] as const;
          await cl.readBufferToFileAsync(queue, buffer, 10, out, 3, bytes, ...to);
          closeSync(out);
          const expected = data.subarray(position);
          t.deepEqual([...result.subarray(STOP, FILING)], [0n, BigInt(bytes), 0n]);
          t.true(readFileSync(path('out')).equals(Buffer.concat([new Uint8Array(3), expected])));
          t.is(back[0], (await hashed(expected))[0]);
        }
      }
    }
    cl.releaseMemObject(buffer);
  });

  test.serial(title('a transfer that ends early reports the bytes moved and the error'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, BYTES);
    writeFileSync(path('short'), data);
    truncateSync(path('short'), 50_000);
    const move = async (
      start: typeof cl.readBufferToFileAsync,
      mode: string,
      stop = 0n,
    ): Promise<{ words: BigUint64Array; result: BigInt64Array }> => {
      const result = new BigInt64Array(WORDS);
      result[STOP] = stop;
      const words = new BigUint64Array(10);
      const fd = openSync(path('short'), mode);
      try {
        await start(queue, buffer, 0, fd, 0, BYTES, ring, 4096, maxThreads, words, 0, result);
      } finally {
        closeSync(fd);
      }
      return { words, result };
    };
    const cut = await move(cl.writeBufferFromFileAsync, 'r');
    t.is(cut.result[ERROR], 0n, 'the end of a file is no failure of the system');
    t.is(cut.result[MOVED], 49_152n, 'whole pieces');
    t.is(cut.words[0], (await hashed(data.subarray(0, 49_152)))[0]);
    const unhashed = new BigInt64Array(WORDS);
    const fd = openSync(path('short'), 'r');
    await cl.writeBufferFromFileAsync(
      queue,
      buffer,
      0,
      fd,
      0,
      BYTES,
      ring,
      4096,
      maxThreads,
      null,
      0,
      unhashed,
    );
    t.true(Number(unhashed[MOVED]) <= 49_152, 'others may have been ended with it');
    t.is(unhashed[ERROR], 0n);
    await cl.writeBufferFromFileAsync(
      queue,
      buffer,
      0,
      fd,
      0,
      50_000,
      ring,
      4096,
      maxThreads,
      null,
      0,
      unhashed,
    );
    t.deepEqual([...unhashed.subarray(STOP, FILING)], [0n, 50_000n, 0n]);
    closeSync(fd);
    const refused = await move(cl.readBufferToFileAsync, 'r');
    t.deepEqual([refused.result[MOVED], refused.result[ERROR]], [0n, BigInt(constants.errno.EBADF)]);
    const stopped = await move(cl.writeBufferFromFileAsync, 'r', 1n);
    t.deepEqual([stopped.result[MOVED], stopped.result[ERROR], stopped.words[0]], [0n, 0n, 0n]);
    cl.releaseMemObject(buffer);
  });

  test.serial(title('a transfer reports how its threads spent their time'), async (t) => {
    const { FILING, HASHING, WAITING, TRANSFERRING } = cl.FILE_TRANSFER;
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, BYTES);
    const fd = openSync(path('in'), 'r');
    for (const words of [new BigUint64Array(10), null]) {
      const result = new BigInt64Array(WORDS);
      const started = process.hrtime.bigint();
      await cl.writeBufferFromFileAsync(
        queue,
        buffer,
        0,
        fd,
        0,
        BYTES,
        ring,
        4096,
        maxThreads,
        words,
        0,
        result,
      );
      const maxNanoseconds = (process.hrtime.bigint() - started) * BigInt(maxThreads);
      const [filing = 0n, hashing = 0n, waiting = 0n, transferring = 0n] = result.subarray(FILING, WORDS);
      t.true(filing > 0n && transferring > 0n);
      t.is(hashing > 0n, words !== null);
      t.true(waiting >= 0n && filing + hashing + waiting + transferring <= maxNanoseconds);
    }
    t.deepEqual([FILING, HASHING, WAITING, TRANSFERRING], [3, 4, 5, 6]);
    closeSync(fd);
    cl.releaseMemObject(buffer);
  });

  test.serial(title('a buffer can be mapped ahead of time'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE | cl.MEM_ALLOC_HOST_PTR, 4096);
    await cl.prepareMappingAsync(queue, buffer);
    const memory = cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_READ | cl.MAP_WRITE, 0, 4096);
    new Uint8Array(memory).fill(7);
    cl.enqueueUnmapMemObject(queue, buffer, memory);
    const back = new Uint8Array(4096);
    cl.enqueueReadBuffer(queue, buffer, true, 0, 4096, back);
    t.true(back.every((byte) => byte === 7));
    t.is(
      (await rejected(cl.prepareMappingAsync(buffer as never, buffer))).code,
      cl.INVALID_COMMAND_QUEUE.code,
    );
    cl.releaseMemObject(buffer);
    t.is((await rejected(cl.prepareMappingAsync(queue, buffer))).code, cl.INVALID_MEM_OBJECT.code);
  });

  test.serial(title('a buffer can be mapped ahead of time many times at once'), async (t) => {
    const { code, signal, stdout, stderr } = await run('mapped-at-once', [name], {}, 60);
    t.is(signal, null, stderr);
    t.is(code, 0, stderr);
    t.is(stdout.trim(), 'ended well');
  });

  where(
    one.version >= 120 && one.userEvents && !one.singleThreaded,
    'commands cannot wait for a user event here',
    test.serial,
  )(title('a program can enqueue while memory is mapped ahead of time'), async (t) => {
    const { code, signal, stdout, stderr } = await run('mapped-ahead', [name], {}, 20);
    t.is(signal, null, 'it was killed: an enqueue waited for the map');
    t.is(code, 0, stderr);
    t.is(stdout.trim(), 'ended well');
  });

  test.serial(title('invalid arguments of file transfers are rejected'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, BYTES);
    const fd = openSync(path('in'), 'r');
    const result = new BigInt64Array(WORDS);
    type Arguments = Parameters<typeof cl.writeBufferFromFileAsync>;
    const right: Arguments = [queue, buffer, 0, fd, 0, 100, ring, 4096, 1, null, 0, result];
    const but = (changes: Record<number, unknown>) =>
      cl.writeBufferFromFileAsync(...(right.map((one, i) => (i in changes ? changes[i] : one)) as Arguments));
    for (const [wrong, message] of [
      [{ 3: 2 ** 30 }, /argument 4: expected the descriptor of an open file/],
      [{ 3: 'a' }, /whole number/],
      [{ 4: -1 }, /whole number/],
      [{ 4: 2n ** 63n - 1n }, /argument 5: expected a range within the maximum size of a file/],
      [{ 7: ring.length + 1 }, /argument 8/],
      [{ 7: 0 }, /argument 8/],
      [{ 8: 0 }, /argument 9: expected at least one thread/],
      [{ 9: new BigUint64Array(9) }, /argument 10: expected at least 80 bytes but got 72 bytes/],
      [{ 11: new BigInt64Array(6) }, /argument 12: expected at least 56 bytes but got 48 bytes/],
      [{ 11: new Uint8Array(new ArrayBuffer(72), 4, 56) }, /argument 12: expected seven aligned words/],
    ] as const) {
      const error = await rejected(but(wrong));
      t.is(error.code, cl.INVALID_VALUE.code);
      t.regex(String((error as { reason?: string }).reason), message);
    }
    t.is((await rejected(but({ 5: BYTES + 1 }))).code, cl.INVALID_VALUE.code, 'more than the buffer has');
    t.is((await rejected(but({ 0: buffer }))).code, cl.INVALID_COMMAND_QUEUE.code);
    cl.releaseMemObject(buffer);
    t.is((await rejected(but({}))).code, cl.INVALID_MEM_OBJECT.code);
    closeSync(fd);
  });
}

test('allocateFileAsync reserves disk space and keeps the contents and length of the file', async (t) => {
  writeFileSync(path('allocated'), 'abc');
  const fd = openSync(path('allocated'), 'r+');
  const result = BigInt64Array.of(-1n);
  await cl.allocateFileAsync(fd, 0, 1_000_000, result);
  const refusals = [0, constants.errno.EOPNOTSUPP];
  t.true(refusals.includes(Number(result[0])), `the system said ${result[0]}`);
  t.is(readFileSync(path('allocated'), 'utf8'), 'abc');
  if (result[0] === 0n && process.platform === 'linux') t.true(fstatSync(fd).blocks * 512 >= 1_000_000);
  closeSync(fd);
  const readOnly = openSync(path('allocated'), 'r');
  await cl.allocateFileAsync(readOnly, 0, 10, result);
  t.is(Number(result[0]), process.platform === 'linux' ? constants.errno.EBADF : 0);
  closeSync(readOnly);
  for (const [fd, position, bytes, message] of [
    [2 ** 30, 0, 10, /argument 1: expected the descriptor of an open file/],
    [0, 2n ** 63n - 1n, 10, /argument 2: expected a range within the maximum size of a file/],
    [0, -1, 10, /whole number/],
  ] as const) {
    const error = await rejected(cl.allocateFileAsync(fd, position as number, bytes, result));
    t.is(error.code, cl.INVALID_VALUE.code);
    t.regex(String((error as { reason?: string }).reason), message);
  }
});
