import { symlinkSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { contentBytes, maxKeyCount } from '../../../src/io/formats/key-count.js';
import type { KeyReader } from '../../../src/io/formats/key-file.js';
import { formatNamed, type InputOptions, keyTarget, openKeys } from '../../../src/io/formats/keys.js';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import { openSource } from '../../../src/io/streams/raw.js';
import { DtypeError, FormatError, UsageError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { parquetOf } from '../tables/parquet-columns.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const text = Buffer.from('id,name,price\n1,apple,0.5\n2,pear,0.75\n');
const random = Buffer.from(Uint32Array.from({ length: 100 }, (_, i) => i * 2_654_435_761).buffer);
const npy = Buffer.concat([npyHeader('u32', [100]), random]);
const big = Buffer.from(random).swap32();
writeFileSync(path('text'), text);
writeFileSync(path('keys.u32'), random);
writeFileSync(path('keys.pdf'), random);
writeFileSync(path('keys.npy'), npy);
writeFileSync(path('npy.f32'), npy);
writeFileSync(path('npy.bin'), npy);
writeFileSync(path('keys.UINT32BE'), big);
symlinkSync('keys.pdf', path('link'));
symlinkSync('keys.UINT32BE', path('big'));

/** A frame of zstd without bytes. */
const zstd = Buffer.from('28b52ffd2400010000', 'hex');

/** Opens a file and reads all keys. */
async function take(
  name: string,
  options: InputOptions = {},
  stdin?: Uint8Array,
): Promise<[reader: KeyReader, keys: Buffer]> {
  const chunks = stdin ? [stdin.subarray(0, 5), stdin.subarray(5)] : [];
  const source = await openSource(name, Readable.from(chunks));
  try {
    const reader = await openKeys(source, name, options);
    const pieces: Uint8Array[] = [];
    for await (const piece of reader.pieces()) pieces.push(piece.slice());
    return [reader, Buffer.concat(pieces)];
  } finally {
    await source.close();
  }
}

const refused = { instanceOf: FormatError, code: 'ERR_CLSORT_FORMAT' };

test('the extension of a raw file gives its dtype, and a requested dtype overrides it', async (t) => {
  const [plain, keys] = await take(path('keys.u32'));
  t.like(plain, { format: 'raw', dtype: 'u32', n: 100, bigEndian: false, plainAt: 0 });
  t.deepEqual(keys, random);
  for (const name of ['keys.UINT32BE', 'big']) {
    const [turned, same] = await take(path(name));
    t.like(turned, { dtype: 'u32', bigEndian: true, plainAt: undefined }, name);
    t.deepEqual(same, random);
  }
  const [other] = await take(path('keys.u32'), { dtype: 'Float64' });
  t.like(other, { dtype: 'f64', n: 50 });
  const [bytes, asTheyAre] = await take(path('keys.UINT32BE'), { dtype: 'u16' });
  t.like(bytes, { dtype: 'u16', bigEndian: false });
  t.deepEqual(asTheyAre, big);
});

test('raw keys without a dtype are an error that suggests --dtype', async (t) => {
  const usage = { instanceOf: UsageError, message: /the dtype of its keys is unknown\. Pass --dtype/ };
  await t.throwsAsync(take('-', {}, random), usage);
  await t.throwsAsync(take(path('text'), { format: 'raw' }), usage);
  await t.throwsAsync(take(path('keys.u32'), { dtype: 'complex128' }), {
    instanceOf: DtypeError,
    message: /for dtype but got "complex128"/,
  });
});

test('a typed file is identified by its name, its first bytes or the requested format', async (t) => {
  for (const [name, options, stdin] of [
    [path('keys.npy'), {}],
    [path('npy.bin'), {}],
    [path('npy.f32'), { format: 'npy' }],
    ['-', {}, npy],
    ['-', { format: 'npy', dtype: 'u32' }, npy],
  ] as const) {
    const [reader, keys] = await take(name, options, stdin);
    t.like(reader, { format: 'npy', dtype: 'u32', n: 100 }, name);
    t.deepEqual(keys, random);
  }
  const contradiction = { instanceOf: DtypeError, message: /cannot read .* as f64 keys: it holds u32 keys/ };
  await t.throwsAsync(take(path('keys.npy'), { dtype: 'f64' }), contradiction);
  await t.throwsAsync(take('-', { dtype: 'f64' }, npy), contradiction);
  await t.throwsAsync(take(path('keys.npy'), { dtype: 'u32be' }), { instanceOf: DtypeError });
});

test('a file with a raw extension and the bytes of another format is refused', async (t) => {
  const error = await t.throwsAsync(take(path('npy.f32')), refused);
  t.regex(error?.message ?? '', /begins like a NumPy array\. .*--format npy, .*--format raw/s);
});

test('another format is refused by its first bytes, in a file and on stdin', async (t) => {
  const error = await t.throwsAsync(take(path('text'), { dtype: 'u16' }), refused);
  t.regex(error?.message ?? '', /begins like text. Use --format lines, csv or ndjson, or --format raw/);
  t.like((error as FormatError).details, { found: 'text', expected: 'raw keys' });
  await t.throwsAsync(take('-', { dtype: 'f64' }, text), {
    ...refused,
    message: /^cannot read stdin as raw keys: it begins like text/,
  });
});

test('keys of one byte are checked by name only, not by their first bytes', async (t) => {
  t.deepEqual((await take(path('text'), { dtype: 'u8' }))[1], text);
  t.deepEqual((await take('-', { dtype: 'i8' }, text))[1], text);
  await t.throwsAsync(take(path('keys.pdf'), { dtype: 'u8' }), { ...refused, message: /PDF/ });
});

test('another format is refused by the name of the file or of its link target', async (t) => {
  const message = /keys\.pdf is that of a PDF.*raw, npy|its extension is that of a PDF.*raw, npy/s;
  await t.throwsAsync(take(path('keys.pdf'), { dtype: 'u32' }), { ...refused, message });
  await t.throwsAsync(take(path('link'), { dtype: 'u32' }), { ...refused, message });
});

test('a file whose name says that it is text and whose first bytes say otherwise is refused', async (t) => {
  const arrow = Buffer.concat([Buffer.from('ARROW1\0\0'), random, Buffer.from('ARROW1')]);
  for (const extension of ['csv', 'tsv', 'ndjson']) {
    for (const [body, hint] of [
      [npy, '--format npy'],
      [parquetOf([{ name: 'x', physical: 'DOUBLE', values: [Buffer.alloc(8)] }]), '--format parquet'],
      [arrow, '--format arrow'],
      [Buffer.from('%PDF-1.7\n'), 'Convert it'],
    ] as const) {
      const name = path(`other.${extension}`);
      writeFileSync(name, body);
      const error = await t.throwsAsync(take(name), { ...refused, message: new RegExp(hint) }, name);
      t.regex(error?.message ?? '', /^cannot read .* as (CSV|TSV|NDJSON) text: it begins like an? /);
      t.true((error?.message.length ?? 0) < 400);
    }
  }
  const columns = Array.from({ length: 30 }, (_, i) => `${i}`.repeat(2000));
  writeFileSync(path('long.csv'), `${columns}\n${columns.map(() => 'x')}\n`);
  for (const options of [{}, { column: 'none' }, { column: 1 }, { column: 1, dtype: 'u8' }]) {
    const error = await t.throwsAsync(take(path('long.csv'), options));
    t.true((error?.message.length ?? 0) < 1500, error?.message);
  }
  writeFileSync(path('packed.csv'), gzipSync('x\n3\n'));
  t.is((await take(path('packed.csv'), { dtype: 'u8' }))[1].length, 1);
});

test('a file whose name says that it is compressed is refused unless it begins so', async (t) => {
  const bodies = [
    Buffer.alloc(0),
    Buffer.of(0x1f),
    Buffer.of(0x28),
    Buffer.from('a\n1\n'),
    Buffer.from(' '.repeat(99)),
  ];
  for (const inner of ['csv', 'tsv', 'ndjson', 'txt', 'f64', 'npy']) {
    for (const extension of ['gz', 'zst', 'GZ']) {
      const name = path(`begin.${inner}.${extension}`);
      symlinkSync(name, path(`to-${inner}-${extension}`));
      for (const body of [...bodies, extension === 'zst' ? gzipSync('a\n1\n') : zstd]) {
        writeFileSync(name, body);
        const message = /as a (gzip|zstd) file|cannot use zstd/;
        await t.throwsAsync(take(name), { ...refused, message }, name);
        await t.throwsAsync(take(path(`to-${inner}-${extension}`)), { ...refused, message });
      }
    }
  }
  writeFileSync(path('empty.csv.gz'), gzipSync('a\n'));
  t.is((await take(path('empty.csv.gz'), { dtype: 'u32' }))[1].length, 0);
});

test('the format raw overrides name and first bytes', async (t) => {
  t.deepEqual((await take(path('text'), { dtype: 'u16', format: 'raw' }))[1], text);
  t.deepEqual((await take(path('link'), { dtype: 'u32', format: 'raw' }))[1], random);
  t.deepEqual((await take(path('keys.npy'), { dtype: 'u32', format: 'raw' }))[1], npy);
});

test('a column of raw keys is refused', async (t) => {
  await t.throwsAsync(take(path('keys.u32'), { column: 1 }), {
    instanceOf: UsageError,
    message: /no columns/,
  });
});

const model = { format: 'npy', isDtypeGiven: false };

test('an output takes its format from its name, else from the input', async (t) => {
  symlinkSync('later.pdf', path('dangling'));
  for (const [name, format] of [
    ['out.u32', 'raw'],
    ['out.npy', 'npy'],
    ['out.npy.gz', 'npy'],
    ['out.sorted', 'npy'],
    ['out', 'npy'],
    ['-', 'npy'],
  ] as const) {
    t.is((await keyTarget(name, {}, model)).format, format, name);
    t.is((await keyTarget(name, { to: 'raw' }, model)).format, 'raw', name);
  }
  await t.throwsAsync(keyTarget(path('out.PDF'), {}, model), { ...refused, message: /PDF.*--to raw/s });
  await t.throwsAsync(keyTarget(path('dangling'), {}, model), { ...refused, message: /later\.pdf/ });
  t.is((await keyTarget(path('dangling'), { to: 'raw' }, model)).format, 'raw');
});

test('an unknown format is a usage error that names the known ones', (t) => {
  t.is(formatNamed('raw')?.id, 'raw');
  t.is(formatNamed('auto'), undefined);
  t.throws(() => formatNamed('npyy'), {
    instanceOf: UsageError,
    message: /auto, raw, npy, .*Did you mean "npy"/,
  });
});

test('sizes and headers limit the number of keys of files that are not read', async (t) => {
  const values = Array.from({ length: 100 }, () => Buffer.alloc(8));
  const whole = parquetOf([{ name: 'x', physical: 'DOUBLE', values }]);
  writeFileSync(path('whole.parquet'), whole);
  writeFileSync(path('cut.parquet'), whole.subarray(0, -1));
  writeFileSync(path('cut.npy'), npy.subarray(0, 20));
  writeFileSync(path('keys.npy.gz'), gzipSync(npy));
  writeFileSync(path('lines.ndjson'), '1\n2\n3');
  writeFileSync(path('text.csv'), text);
  const limits: Readonly<Record<string, number | undefined>> = {
    ...{ 'keys.u32': 100, 'keys.npy': 100, 'whole.parquet': 100, 'lines.ndjson': 3, 'text.csv': text.length },
    ...{ 'cut.npy': 20, 'cut.parquet': undefined, 'keys.npy.gz': undefined, 'none.npy': undefined },
  };
  for (const [name, limit] of Object.entries(limits)) t.is(await maxKeyCount([path(name)]), limit, name);
  t.is(await maxKeyCount([path('keys.u32')], 8), 50);
  t.is(await maxKeyCount([path('keys.npy'), path('whole.parquet')]), 200);
  t.is(await maxKeyCount([path('keys.npy'), '-']), undefined);
  t.is(await contentBytes([path('keys.npy'), path('text.csv')]), npy.length + text.length);
  t.is(await contentBytes([path('whole.parquet')]), undefined);
});
