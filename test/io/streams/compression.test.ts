import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import zlib, { gunzipSync } from 'node:zlib';
import test from 'ava';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import { copyKeys } from '../../../src/io/operations/copy.js';
import { generate } from '../../../src/io/operations/gen.js';
import { COMPRESSIONS, compressedOutput, decompressedSource } from '../../../src/io/streams/compression.js';
import { withOutput } from '../../../src/io/streams/output.js';
import { openSource, type Source } from '../../../src/io/streams/raw.js';
import { FormatError, IoError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { where } from '../../where.js';
import { nowhere } from '../context.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const keys = generate({ dtype: 'u64', count: 300_000, distribution: 'and3', seed: 4 });
writeFileSync(path('keys.u64'), keys);

const hasZstd = 'createZstdCompress' in zlib;

/** Bytes as they come through a pipe, in chunks of `length`. */
function piped(bytes: Uint8Array, length: number): Promise<Source> {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += length) chunks.push(bytes.subarray(at, at + length));
  return openSource('-', Readable.from(chunks));
}

for (const compression of COMPRESSIONS) {
  const { name, extension } = compression;
  const serial = where(name !== 'zstd' || hasZstd, 'this Node has no zstd', test.serial);
  const small = path(`keys.u64.${extension}`);

  serial(`${name}: compressed output is smaller and reads back unchanged`, async (t) => {
    const { formats, n } = await copyKeys([path('keys.u64')], small, {}, nowhere);
    t.deepEqual([formats, n], [['raw', 'raw'], 300_000]);
    t.true(readFileSync(small).length < keys.length * 0.9);
    await copyKeys([small], path(`${extension}.u64`), {}, nowhere);
    t.true(readFileSync(path(`${extension}.u64`)).equals(keys));
    await copyKeys([path('keys.u64')], path(`keys.npy.${extension}`), {}, nowhere);
    await copyKeys([path(`keys.npy.${extension}`)], path(`${extension}.npy`), {}, nowhere);
    const npy = Buffer.concat([npyHeader('u64', [300_000]), keys]);
    t.true(readFileSync(path(`${extension}.npy`)).equals(npy));
  });

  serial(`${name}: concatenated files read as one, in chunks of any length`, async (t) => {
    const some = generate({ dtype: 'u8', count: 1000, distribution: 'and3', seed: 5 });
    writeFileSync(path('some.u8'), some);
    await copyKeys([path('some.u8')], path(`some.u8.${extension}`), {}, nowhere);
    const one = readFileSync(path(`some.u8.${extension}`));
    const three = Buffer.concat([one, one, one]);
    for (const length of [1, 2, 3, 7, one.length - 1, one.length, one.length + 1, three.length]) {
      const source = decompressedSource(await piped(three, length), compression, undefined);
      t.true(Buffer.concat([some, some, some]).equals(await source.read(1)), `${length}`);
    }
    const zeros = Buffer.alloc(99);
    const junks = [
      ...['junk', 'more than a header of junk'].map((text) => Buffer.from(text)),
      one.subarray(0, 9),
      Buffer.concat([zeros, one]),
      Buffer.concat([zeros, Buffer.from('!')]),
    ];
    for (const junk of junks) {
      const all = Buffer.concat([one, junk]);
      for (const length of [1, 7, one.length, one.length + 1, all.length]) {
        const source = decompressedSource(await piped(all, length), compression, undefined);
        await t.throwsAsync(source.read(1), { instanceOf: FormatError }, `${junk.length} in ${length}`);
      }
    }
    if (name !== 'gzip') return;
    const padded = Buffer.concat([three, zeros]);
    for (const length of [1, 7, one.length, three.length, three.length + 1, padded.length]) {
      const source = decompressedSource(await piped(padded, length), compression, undefined);
      t.true(Buffer.concat([some, some, some]).equals(await source.read(1)), `padding in ${length}`);
    }
  });

  serial(`${name}: a truncated file is a FormatError`, async (t) => {
    const whole = readFileSync(small);
    for (const cut of [1, 4, 9, 100, whole.length >> 1, whole.length - 9, whole.length - 1]) {
      const source = await openSource('-', Readable.from([whole.subarray(0, cut)]));
      const taken = async () => {
        for await (const piece of decompressedSource(source, compression, undefined).pieces(1)) void piece;
      };
      await t.throwsAsync(
        taken(),
        { instanceOf: FormatError, message: new RegExp(`as a ${name} file`) },
        `${cut}`,
      );
    }
  });

  serial(`${name}: uncompressed data is a FormatError`, async (t) => {
    writeFileSync(path(`none.f64.${extension}`), keys.subarray(0, 8000));
    const copy = (from: string) => copyKeys([path(from)], path('none'), {}, nowhere);
    await t.throwsAsync(copy(`none.f64.${extension}`), {
      instanceOf: FormatError,
      message: /damaged, incomplete or in another format/,
    });
  });

  serial(`${name}: a full disk is an IoError`, async (t) => {
    const write = withOutput('/dev/full', nowhere, async (output) => {
      const smaller = await compressedOutput(output, compression);
      for (let i = 0; i < 20; i++) await smaller.write(keys);
      await smaller.finish();
    });
    await t.throwsAsync(write, { instanceOf: IoError, message: /no space/ });
  });
}

test('gunzip restores the written keys', async (t) => {
  await copyKeys([path('keys.u64')], path('other.u64.gz'), {}, nowhere);
  t.true(gunzipSync(readFileSync(path('other.u64.gz'))).equals(keys));
});

where(
  !hasZstd,
  'this Node has zstd',
  test,
)('a Node without zstd names the version that supports it', async (t) => {
  const copy = (from: string, to: string) => copyKeys([path(from)], path(to), {}, nowhere);
  const expected = { instanceOf: FormatError, message: /Node 22[.]15 or later.*gzip/ };
  await t.throwsAsync(copy('keys.u64', 'never.u64.zst'), expected);
  t.false(existsSync(path('never.u64.zst')));
  writeFileSync(path('there.u64.zst'), keys);
  await t.throwsAsync(copy('there.u64.zst', 'never.u64'), expected);
});
