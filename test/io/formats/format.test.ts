import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { formatOfBytes, formatOfName, HEAD_BYTES, TAIL_BYTES } from '../../../src/io/formats/format.js';
import { READABLE } from '../../../src/io/formats/readable.js';
import { REFUSED_FORMATS } from '../../../src/io/formats/refused-formats.js';
import { DISTRIBUTIONS, generate } from '../../../src/io/operations/gen.js';
import { DTYPES } from '../../../src/keys/dtype.js';
import { packageRoot } from '../../../src/util/paths.js';
import { Random } from '../../../src/util/random.js';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const padded = (text: string, length = 600): Buffer => Buffer.concat([latin(text), Buffer.alloc(length)]);

/** A tar header with its checksum. */
function tarHeader(): Buffer {
  const block = Buffer.alloc(1024);
  block.write('keys.bin', 0, 'latin1');
  block.write('        ', 148, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** The local header of a zip entry. */
function zipHeader(version: number, method: number): Buffer {
  const header = Buffer.alloc(64);
  header.write('PK\x03\x04', 0, 'latin1');
  header.writeUInt16LE(version, 4);
  header.writeUInt16LE(method, 8);
  header.writeUInt16LE(8, 26);
  header.write('keys.bin', 30, 'latin1');
  return header;
}

const SAMPLES: readonly (readonly [name: RegExp, head: Uint8Array, tail?: Uint8Array])[] = [
  [/NumPy/, padded("\x93NUMPY\x01\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }")],
  [/Parquet/, padded('PAR1\x15\x04'), latin('footer....PAR1')],
  [/Parquet/, padded('PAR1\x15\x04')],
  [/Arrow/, padded('ARROW1\0\0')],
  [/Arrow/, padded('FEA1'), latin('....FEA1')],
  [/ORC/, padded('ORC'), latin('....ORC\x18')],
  [/Avro/, padded('Obj\x01\x04\x14avro.codec')],
  [/HDF5/, padded('\x89HDF\r\n\x1a\n')],
  [/HDF5/, Buffer.concat([Buffer.alloc(512), padded('\x89HDF\r\n\x1a\n')])],
  [/SQLite/, padded('SQLite format 3\0')],
  [/MATLAB/, padded('MATLAB 5.0 MAT-file, Platform: GLNXA64')],
  [/FITS/, padded('SIMPLE  =                    T')],
  [/zip/, zipHeader(20, 8)],
  [/zip/, padded('PK\x05\x06', 18)],
  [/gzip/, gzipSync(randomBytes(100))],
  [/zstd/, padded('\x28\xb5\x2f\xfd\x04\x58')],
  [/xz/, padded('\xfd7zXZ\0\0\x04')],
  [/bzip2/, padded('BZh91AY&SY')],
  [/lz4/, padded('\x04\x22\x4d\x18\x64\x40')],
  [/7z/, padded("7z\xbc\xaf'\x1c\0\x04")],
  [/RAR/, padded('Rar!\x1a\x07\x01\0')],
  [/tar/, tarHeader()],
  [/program/, padded('\x7fELF\x02\x01\x01')],
  [/PDF/, padded('%PDF-1.7\n\x93\x8c\x8b\x9e')],
  [/PNG/, padded('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')],
  [/JPEG/, padded('\xff\xd8\xff\xe0\0\x10JFIF\0')],
  [/GIF/, padded('GIF89a')],
  [/RIFF/, padded('RIFF\x10\x20\0\0WAVEfmt ')],
  [/text/, latin('id,name,price\n1,apple,0.5\n2,pear,0.75\n')],
  [/text/, latin('1\n2\n3\n4\n5\n6\n7\n8\n')],
  [/text/, latin('1.5,2.5,3.5,-4e7')],
  [/text/, latin('{"columns":["a","b"],"rows":[[1,2],[3,4]]}')],
  [/text/, latin('[1.25,  2.5, 3, {"a": null}, true, false]')],
  [/text/, Buffer.from('Ä–Ö: a few lines of text\nin any language of the world: 数字を並べ替える\n')],
  [/text/, Buffer.from(`\ufeff${'wörter und wörter\r\n'.repeat(400)}`).subarray(0, HEAD_BYTES - 1)],
];

test('every format that has a test of its first bytes has a sample', (t) => {
  const found = SAMPLES.map(([, head, tail]) => formatOfBytes(head, tail));
  for (const format of [...READABLE, ...REFUSED_FORMATS])
    t.true(!format.matches || found.includes(format), format.name);
});

test('the page of file formats lists every format with its extensions', (t) => {
  const page = readFileSync(join(packageRoot, 'docs/files.md'), 'utf8');
  for (const { id, extensions } of READABLE) {
    for (const name of [id, ...extensions.map((extension) => `.${extension}`)]) {
      t.true(page.includes(`\`${name}\``), name);
    }
  }
});

for (const [i, [name, head, tail]] of SAMPLES.entries()) {
  test(`sample ${i} is identified as ${name.source}`, (t) => {
    t.regex(formatOfBytes(head, tail ?? undefined)?.name ?? 'raw', name);
  });
}

test('an implausible header identifies no format, since keys may have any value', (t) => {
  for (const [head, tail] of [
    [zipHeader(999, 8)],
    [zipHeader(20, 7)],
    [padded('PAR1\x15\x04'), latin('no end of that kind')],
    [padded('PK\x03\x04')],
    [padded('\x1f\x8b')],
    [padded('\x1f\x8b\x08\xff')],
    [padded('BZh9')],
    [padded('MZ\x90\0')],
    [padded('RIFF')],
    [padded('PAR')],
    [padded('\x93NUMPY\x09')],
    [padded('\x04\x22\x4d\x18\xff\xff')],
  ] as const) {
    t.is(formatOfBytes(head, tail), undefined, JSON.stringify(head.toString('latin1').slice(0, 12)));
  }
});

test('fixed-length names and short, empty or blank data are not text', (t) => {
  t.is(formatOfBytes(latin('AB123456CD789012EF345678GH901234IJ567890')), undefined);
  t.is(formatOfBytes(latin('1\n2\n3\n4\n')), undefined);
  t.is(formatOfBytes(new Uint8Array(0)), undefined);
  t.is(formatOfBytes(Buffer.alloc(256, ' \n')), undefined);
  t.is(formatOfBytes(Buffer.alloc(256, '0')), undefined);
});

test('none of 200,000 random headers is identified as a format', (t) => {
  const random = new Random(14);
  const taken: string[] = [];
  for (let i = 0; i < 200_000; i++) {
    const words = new Uint32Array(1 + random.below(24));
    for (let w = 0; w < words.length; w++) words[w] = random.u32();
    const head = new Uint8Array(words.buffer);
    const found = formatOfBytes(head, i % 2 === 0 ? head.subarray(-TAIL_BYTES) : undefined);
    if (found) taken.push(`${found.name}: ${Buffer.from(head).toString('hex')}`);
  }
  t.deepEqual(taken, []);
});

test('no keys of any dtype and distribution are identified as a format', (t) => {
  const taken: string[] = [];
  for (const dtype of DTYPES) {
    for (const distribution of DISTRIBUTIONS) {
      const count = distribution === 'runs' ? 64 * 32 : 64; // two keys of 16 bits may be valid text
      for (let seed = 0; seed < 100; seed++) {
        const bytes = generate({ dtype, count, distribution, seed });
        const found = formatOfBytes(bytes, bytes.subarray(-TAIL_BYTES));
        if (found) taken.push(`${dtype} ${distribution} ${seed}: ${found.name}`);
      }
    }
  }
  t.deepEqual(taken, []);
});

test('the extension of a name identifies its format', (t) => {
  for (const [path, name] of [
    ['a.npy', /NumPy/],
    ['/data/A.CSV', /CSV/],
    ['dir.u32/b.tar.gz', /gzip/],
    ['keys.ndjson', /JSON/],
    ['C:\\data\\x.parquet', /Parquet/],
  ] as const) {
    t.regex(formatOfName(path)?.name ?? 'raw', name, path);
  }
  for (const path of ['a', 'a.u32', '.csv', 'dir.csv/a', 'csv', 'a.csv.sorted', '', '-', 'a.npy\n', 'a.']) {
    t.is(formatOfName(path), undefined, path);
  }
});
