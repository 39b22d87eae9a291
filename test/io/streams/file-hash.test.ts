import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import test from 'ava';
import { FileHash, FileHashes } from '../../../src/io/streams/file-hash.js';
import { openOutput } from '../../../src/io/streams/output.js';
import { openSource } from '../../../src/io/streams/raw.js';
import { hashAsync } from '../../../src/native-host/host-functions.js';
import { scratchFolder } from '../../cli/cli.js';

const { path, remove } = scratchFolder();
test.after.always(remove);
const { signal } = new AbortController();
const stdout = new Writable();

/** XXH64 as in its specification, with BigInt. */
function xxh64(bytes: Uint8Array): string {
  const [p1, p2, p3, p4, p5] = [
    ...[
      0x9e3779b185ebca87n,
      0xc2b2ae3d27d4eb4fn,
      0x165667b19e3779f9n,
      0x85ebca77c2b2ae63n,
      0x27d4eb2f165667c5n,
    ],
  ] as [bigint, bigint, bigint, bigint, bigint];
  const cut = (value: bigint): bigint => BigInt.asUintN(64, value);
  const turn = (value: bigint, bits: bigint): bigint =>
    cut((cut(value) << bits) | (cut(value) >> (64n - bits)));
  const round = (lane: bigint, input: bigint): bigint => cut(turn(lane + cut(input * p2), 31n) * p1);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  let hash = p5;
  if (bytes.length >= 32) {
    const lanes = [cut(p1 + p2), p2, 0n, cut(-p1)];
    for (; at + 32 <= bytes.length; at += 32) {
      for (const [i, lane] of lanes.entries()) lanes[i] = round(lane, view.getBigUint64(at + 8 * i, true));
    }
    hash = cut([1n, 7n, 12n, 18n].reduce((sum, bits, i) => sum + turn(lanes[i] ?? 0n, bits), 0n));
    for (const lane of lanes) hash = cut((hash ^ round(0n, lane)) * p1 + p4);
  }
  hash = cut(hash + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) {
    hash = cut(turn(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * p1 + p4);
  }
  if (at + 4 <= bytes.length) {
    hash = cut(turn(hash ^ cut(BigInt(view.getUint32(at, true)) * p1), 23n) * p2 + p3);
    at += 4;
  }
  for (; at < bytes.length; at++) hash = cut(turn(hash ^ cut(BigInt(bytes[at] ?? 0) * p5), 11n) * p1);
  hash = cut((hash ^ (hash >> 33n)) * p2);
  hash = cut((hash ^ (hash >> 29n)) * p3);
  return `xxh64:${(hash ^ (hash >> 32n)).toString(16).padStart(16, '0')}`;
}

const random = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  for (let i = 0, word = 1; i < length; i++) {
    word = Math.imul(word, 0x9e3779b1) + i;
    bytes[i] = word >>> 24;
  }
  return bytes;
};

test('the checksum is XXH64 for pieces of any length', async (t) => {
  t.is(xxh64(new Uint8Array(0)), 'xxh64:ef46db3751d8e999', 'as the specification says');
  t.is(xxh64(new TextEncoder().encode('abc')), 'xxh64:44bc2cf5ad770999');
  for (const length of [0, 1, 3, 4, 7, 8, 31, 32, 33, 63, 100, 65_535, 65_536, 300_001]) {
    const bytes = random(length);
    const expected = xxh64(bytes);
    for (const piece of [1, 13, 32, 4096, 70_000, 1_000_000]) {
      if (length / piece > 5000) continue;
      const hash = new FileHash();
      for (let at = 0; at < length; at += piece) void hash.add(bytes.slice(at, at + piece), at);
      t.is(await hash.end(length, '/nonexistent', signal), expected, `${length} bytes in pieces of ${piece}`);
    }
  }
});

test('bytes seen out of order, twice or never are read from the file for the checksum', async (t) => {
  const bytes = random(500_000);
  writeFileSync(path('file'), bytes);
  const expected = xxh64(bytes);
  const seen = async (...pieces: readonly (readonly [begin: number, end: number])[]): Promise<string> => {
    const hash = new FileHash();
    for (const [begin, end] of pieces) await hash.add(bytes.subarray(begin, end), begin);
    return hash.end(bytes.length, path('file'), signal);
  };
  t.is(await seen(), expected);
  t.is(await seen([499_000, 500_000], [0, 1000]), expected);
  t.is(await seen([0, 4096], [128, 200_000], [100_000, 400_000], [450_000, 500_000]), expected);
  const handle = await open(path('file'));
  t.is(await new FileHash().end(bytes.length, handle, signal), expected, 'from an open file');
  await handle.close();
  const dropped = new FileHash();
  void dropped.add(
    random(100_000).map((byte) => byte ^ 1),
    0,
  );
  dropped.invalidate();
  t.is(await dropped.end(bytes.length, path('file'), signal), expected, 'dropped bytes are read again');
});

test('a native copy may update the hash, and a failed copy does not spoil it', async (t) => {
  const bytes = random(300_000);
  const expected = xxh64(bytes);
  writeFileSync(path('along'), bytes);
  const hash = new FileHash();
  await hash.add(bytes.subarray(0, 100), 0);
  const moved = await hash.hashWhileMoving(80, async (state) => {
    t.is(state?.skipped, 20);
    await hashAsync(bytes.subarray(100, 200_000), state?.words as BigUint64Array);
    return 200_000 - 80;
  });
  t.is(moved, 200_000 - 80);
  t.is(hash.bytes, 200_000);
  await hash.add(bytes.subarray(200_000), 200_000);
  t.is(await hash.end(bytes.length, '/nonexistent', signal), expected);
  const unknown = new FileHash();
  await unknown.hashWhileMoving(1, async (state) => {
    t.is(state, undefined, 'an earlier byte is missing');
    return 5;
  });
  t.is(unknown.bytes, 0);
  const spoilt = new FileHash();
  await spoilt.add(bytes.subarray(0, 70_000), 0);
  const failing = spoilt.hashWhileMoving(70_000, async (state) => {
    await hashAsync(bytes.subarray(0, 10), state?.words as BigUint64Array);
    throw new Error('on the way');
  });
  await t.throwsAsync(failing, { message: 'on the way' });
  t.is(await spoilt.end(bytes.length, path('along'), signal), expected);
});

test('sources and outputs hash the bytes that they read and write', async (t) => {
  const bytes = random(9_000_001);
  const expected = xxh64(bytes);
  const hashes = new FileHashes();
  writeFileSync(path('in'), bytes);
  const source = await openSource(path('in'), Readable.from([]), signal, { hash: hashes.forInput('in') });
  await source.head(4096);
  await source.tail(4096);
  const into = new Uint8Array(bytes.length - 100);
  await source.readAt?.(into, 100);
  await source.close();
  t.is(hashes.forInput('in').bytes, bytes.length, 'all bytes were hashed');
  t.is(await hashes.forInput('in').end(bytes.length, '/nonexistent', signal), expected);

  const output = await openOutput(path('out'), { stdout, signal, hashes });
  for (let at = 0; at < bytes.length; at += 5_000_000) await output.write(bytes.subarray(at, at + 5_000_000));
  await output.commit();
  const written = hashes.forOutput(path('out'));
  t.is(written.bytes, bytes.length);
  t.is(await written.end(bytes.length, '/nonexistent', signal), expected);

  const patched = await openOutput(path('patched'), { stdout, signal, hashes });
  await patched.write(bytes.map((byte, i) => (i < 8 ? 0 : byte)));
  await patched.patch?.(bytes.subarray(0, 8), 0);
  await patched.commit();
  t.is(await hashes.forOutput(path('patched')).end(bytes.length, path('patched'), signal), expected);
  await finished(stdout.end()).catch(() => undefined);
});
