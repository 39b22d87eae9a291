import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import * as peer from 'apache-arrow';
import test from 'ava';
import { arrow } from '../../../../src/io/formats/arrow.js';
import { decompressLz4 } from '../../../../src/io/formats/subprocess/lz4-frame.js';
import { xxh32 } from '../../../../src/io/formats/subprocess/xxh32.js';
import { FormatError } from '../../../../src/util/errors.js';
import { Random } from '../../../../src/util/random.js';
import { scratchFolder } from '../../../cli/cli.js';
import { where } from '../../../where.js';
import { read } from './files.js';
import { LZ4_ARROW } from './lz4-arrow.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const hasTool = spawnSync('lz4', ['--version']).status === 0;
/** Tests that need Debian's lz4, which is an independent implementation. */
const withTool = where(hasTool, 'no lz4 here', test);

function lz4(bytes: Uint8Array, ...options: string[]): Uint8Array {
  const { status, stdout, stderr } = spawnSync('lz4', ['-c', ...options], {
    input: bytes,
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new Error(`lz4 ${options} of ${bytes.length} bytes: ${stderr}`);
  return new Uint8Array(stdout);
}

/** Bytes that repeat at many distances, and some that do not. */
function sample(length: number, seed: number): Uint8Array {
  const random = new Random(seed);
  const bytes = random.bytes(length).slice();
  for (let at = 100; at < length; ) {
    const run = 1 + random.below(random.below(4) === 0 ? 3000 : 40);
    const distance = 1 + random.below(Math.min(at, random.below(3) === 0 ? 70_000 : 9));
    if (random.below(3) > 0)
      for (let i = 0; i < run && at + i < length; i++) bytes[at + i] = bytes[at + i - distance] ?? 0;
    at += run;
  }
  return bytes;
}

test('xxh32 returns the checksums of the published examples', (t) => {
  for (const [text, sum] of [
    ['', 0x02cc5d05],
    ['a', 0x550d7456],
    ['abc', 0x32d153ff],
    ['Nobody inspects the spammish repetition', 0xe2293b2f],
  ] as const) {
    t.is(xxh32(Buffer.from(text)), sum, text);
  }
});

withTool('frames of every kind decompress to the original bytes', (t) => {
  for (const length of [0, 1, 12, 13, 1000, 60_000, 65_536, 300_000, 5_000_000]) {
    const bytes = sample(length, length + 1);
    for (const options of [
      [],
      ['-9'],
      ['-BX'],
      ['-BD', '-B4'],
      ['--no-frame-crc'],
      ['-B4', '-BX', '-12', '-BD'],
    ]) {
      const frame = lz4(bytes, ...options);
      t.deepEqual(Buffer.compare(decompressLz4(frame, length), bytes), 0, `${length} ${options}`);
      if (length > 0)
        t.throws(() => decompressLz4(frame, length - 1), { instanceOf: RangeError, message: /more than/ });
    }
  }
  const [one, two] = [sample(500, 1), sample(700, 2)];
  const skipped = Buffer.from('5e2a4d180300000061626364'.slice(0, 22), 'hex');
  const several = Buffer.concat([lz4(one), skipped, lz4(two)]);
  t.deepEqual(Buffer.from(decompressLz4(several, 1200)), Buffer.concat([one, two]));
});

withTool('a changed byte or a truncation anywhere is a RangeError', (t) => {
  const bytes = sample(4000, 7);
  const frame = lz4(bytes, '-BX');
  let random = 0;
  for (let at = 0; at < frame.length; at++) {
    const changed = frame.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    t.throws(() => decompressLz4(changed, 2 ** 30), { instanceOf: RangeError }, `${at}`);
    t.throws(() => decompressLz4(frame.subarray(0, at + (at === 0 ? 1 : 0)), 2 ** 30), {
      instanceOf: RangeError,
    });
    random++;
  }
  t.is(random, frame.length);
});

/** A frame of one block, with only the header checksum. */
function frameOf(block: readonly number[]): Uint8Array {
  const header = Buffer.from([0x40, 0x40]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(block.length);
  const check = (xxh32(header) >>> 8) & 0xff;
  return Buffer.concat([
    Buffer.from('04224d18', 'hex'),
    header,
    Buffer.from([check]),
    length,
    Buffer.from(block),
    Buffer.alloc(4),
  ]);
}

test('blocks with offsets or lengths out of range are refused', (t) => {
  t.deepEqual([...decompressLz4(frameOf([0x11, 7, 1, 0, 0x10, 9]), 100)], [7, 7, 7, 7, 7, 7, 9]);
  for (const [block, message] of [
    [[0x10, 7, 2, 0, 0], /before its beginning/],
    [[0x10, 7, 0, 0, 0], /before its beginning/],
    [[0xf0, 0xff, 0xff], /inside a sequence/],
    [[0x50, 1, 2], /inside a block/],
    [[0x1f, 7, 1, 0, 0xff, 0xff, 0xff, 0, 0x10, 9], /more than 100 bytes/],
    [[0x10, 7, 1, 0], /without literals/],
    [[0x10, 7, 1], /inside a sequence/],
  ] as const) {
    t.throws(() => decompressLz4(frameOf(block), 100), { instanceOf: RangeError, message });
  }
  t.throws(() => decompressLz4(Buffer.from('nothing of that kind'), 100), { instanceOf: RangeError });
});

test('an Arrow file with LZ4 compression is read, and a damaged one is a FormatError', async (t) => {
  writeFileSync(path('lz4.arrow'), LZ4_ARROW);
  const { dtype, n, keys } = await read(arrow, path('lz4.arrow'));
  const expected = Int32Array.from({ length: 300 }, (_, i) => ((i * i) % 17) - 5);
  t.deepEqual([dtype, n], ['i32', 300]);
  t.deepEqual(new Int32Array(new Uint8Array(keys).buffer), expected);
  const broken = Buffer.from(LZ4_ARROW);
  const at = broken.indexOf(Buffer.from('04224d18', 'hex'));
  t.true(at > 0);
  broken.fill(0xee, at + 20, at + 24);
  writeFileSync(path('broken.arrow'), broken);
  await t.throwsAsync(read(arrow, path('broken.arrow')), {
    instanceOf: FormatError,
    message: /compressed buffer/,
  });
});

withTool('a large LZ4 column is read, and a null in another column is reported with its row', async (t) => {
  peer.compressionRegistry.set(peer.CompressionType.LZ4_FRAME, {
    encode: (bytes) => lz4(bytes),
    decode: (bytes) => bytes,
  });
  const numbers = Array.from({ length: 200_000 }, (_, i) => Math.floor(i / 7) % 1000);
  const k = peer.vectorFromArray(numbers, new peer.Float64());
  const nulls = peer.vectorFromArray([...numbers.slice(1), null], new peer.Int32());
  const writer = new peer.RecordBatchFileWriter({ compressionType: peer.CompressionType.LZ4_FRAME });
  writer.write(new peer.Table({ k, nulls }));
  writer.finish();
  writeFileSync(path('large.arrow'), writer.toUint8Array(true));
  const { keys } = await read(arrow, path('large.arrow'), { column: 'k' });
  t.deepEqual(new Float64Array(new Uint8Array(keys).buffer), k.toArray());
  await t.throwsAsync(read(arrow, path('large.arrow'), { column: 'nulls' }), {
    instanceOf: FormatError,
    message: /a value is null.*row 199999/,
  });
});
