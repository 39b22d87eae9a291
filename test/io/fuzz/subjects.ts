/** Files whose readers are fuzzed, one entry for each kind. A new format adds its own entry. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import zlib, { gzipSync } from 'node:zlib';
import type { InputOptions } from '../../../src/io/formats/keys.js';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import type { SubprocessFormat } from '../../../src/io/formats/subprocess/protocol.js';
import { generate } from '../../../src/io/operations/gen.js';
import { COMPRESSIONS } from '../../../src/io/streams/compression.js';
import type { Dtype } from '../../../src/keys/dtype.js';
import { writeColumns } from '../formats/subprocess/files.js';
import { LZ4_ARROW } from '../formats/subprocess/lz4-arrow.js';

/** A valid file, to be changed. */
export interface Subject {
  /** Its name, with the extension that it is read by. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Options for reading it; default: none. */
  readonly options?: InputOptions;
  /** Whether it can also be read from a pipe, with the same result. Default true. */
  readonly piped?: boolean;
  /** Whether a subprocess reads it. */
  readonly isSubprocess?: boolean;
  /** For a table: the sort key of its rows, so that codes are computed; no keys are read from it. */
  readonly by?: string;
}

const keys = (dtype: Dtype, count: number): Uint8Array =>
  generate({ dtype, count, distribution: 'special', seed: 17 });

/** An array as NumPy writes it, with a header of any version, order and layout. */
function npy(version: 1 | 2 | 3, descr: string, shape: string, fortran: 'True' | 'False', data: Uint8Array) {
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`
    .padEnd(100)
    .concat('\n');
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  length.writeUIntLE(text.length, 0, length.length);
  const magic = Buffer.from(`\x93NUMPY${String.fromCharCode(version)}\0`, 'latin1');
  return Buffer.concat([magic, length, Buffer.from(text), data]);
}

/** The file compressed by zstd, where Node supports it. */
async function zstd(name: string, bytes: Uint8Array): Promise<Subject[]> {
  if (!('createZstdCompress' in zlib)) return [];
  const compressor = await COMPRESSIONS.find(({ extension }) => extension === 'zst')?.compressor();
  compressor?.end(bytes);
  const chunks: Uint8Array[] = [];
  for await (const chunk of compressor ?? []) chunks.push(chunk);
  return [{ name, bytes: Buffer.concat(chunks) }];
}

/** The same file as the format's subprocess writes it, with columns of several dtypes. */
async function subprocessFormats(format: SubprocessFormat, compression?: 'gzip'): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-fuzz-subject-'));
  const path = join(folder, 'whole');
  const columns = (['f64', 'i32', 'u64'] as const).map((dtype) => ({
    name: `of ${dtype}`,
    dtype,
    keys: keys(dtype, 60),
  }));
  try {
    await writeColumns(format, path, columns);
    const whole = readFileSync(path);
    const bytes = compression ? gzipSync(whole) : whole;
    const name = `several.${format}${compression ? '.gz' : ''}`;
    return { name, bytes, options: { column: 'of i32' }, isSubprocess: true };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Tables of texts, nulls, lists and columns whose rows take no bytes, from small batches and dictionaries. */
async function tables(): Promise<Subject[]> {
  const {
    Field,
    FixedSizeBinary,
    Float64,
    List,
    makeData,
    makeVector,
    Null,
    Table,
    tableToIPC,
    vectorFromArray,
  } = await import('apache-arrow');
  const n = 50;
  const all = Array.from({ length: n }, (_, i) => i);
  const table = new Table({
    text: vectorFromArray(all.map((i) => (i % 7 ? `text ${i % 11}` : null))), // a dictionary
    number: vectorFromArray(all.map((i) => (i % 5 ? i / 3 : null))),
    list: vectorFromArray(
      all.map((i) => (i % 3 ? [i, i + 0.5] : [])),
      new List(new Field('item', new Float64())),
    ),
    flag: vectorFromArray(all.map((i) => i % 2 === 0)),
    none: makeVector(makeData({ type: new Null(), length: n, nullCount: n })),
    bare: makeVector(
      makeData({ type: new FixedSizeBinary(0), length: n, nullCount: 0, data: new Uint8Array(0) }),
    ),
  });
  const csv = 'a,b\n1,x\n,"y, z"\n-3,\n2.5,""\n';
  const lines = '{"a":1,"b":"x"}\n{"a":null,"c":[1]}\n{"b":"y"}\n';
  return [
    { name: 'rows.arrow', bytes: tableToIPC(table, 'file'), by: 'text:desc,number', isSubprocess: true },
    { name: 'rows.arrows', bytes: tableToIPC(table, 'stream'), by: 'bare,flag', isSubprocess: true },
    { name: 'rows.csv', bytes: Buffer.from(csv), by: 'a,b:desc', isSubprocess: true },
    { name: 'rows.ndjson', bytes: Buffer.from(lines), by: 'a,b', isSubprocess: true },
    { ...(await subprocessFormats('parquet')), name: 'rows.parquet', by: 'of i32,of f64:desc' },
  ];
}

/** Files that subprocesses read, each in a fraction of a second. */
export const subprocessSubjects = async (): Promise<Subject[]> => {
  const table = 'a\tb\n1\t-2.5\n30\t1e9\n7\tnan\n';
  return [
    ...(await Promise.all(
      (['arrow', 'arrows', 'parquet', 'csv', 'ndjson'] as const).map((one) => subprocessFormats(one)),
    )),
    { name: 'table.tsv', bytes: Buffer.from(table), options: { column: 'b' }, isSubprocess: true },
    { name: 'lz4.arrow', bytes: LZ4_ARROW, isSubprocess: true },
    await subprocessFormats('csv', 'gzip'),
    ...(await tables()),
  ];
};

/** Files that are read in this process. */
export async function subjects(): Promise<Subject[]> {
  const plain = Buffer.concat([npyHeader('f64', [40]), keys('f64', 40)]);
  return [
    { name: 'raw.f64', bytes: keys('f64', 50) },
    { name: 'raw.u16be', bytes: keys('u16', 50) },
    { name: 'raw.u32.gz', bytes: gzipSync(keys('u32', 300)) },
    ...(await zstd('raw.u32.zst', keys('u32', 300))),
    { name: 'one.npy', bytes: plain },
    { name: 'rows.npy', bytes: npy(1, '>i4', '(6, 7)', 'False', keys('i32', 42)) },
    { name: 'columns.npy', bytes: npy(2, '>f8', '(7, 6)', 'True', keys('f64', 42)) },
    { name: 'column.npy', bytes: npy(3, '<u2', '(12, 5)', 'True', keys('u16', 60)), options: { column: 4 } },
    { name: 'cell.npy', bytes: npy(1, '|u1', '(12, 5)', 'False', keys('u8', 60)), options: { column: 2 } },
    { name: 'one.npy.gz', bytes: gzipSync(plain) },
    ...(await zstd('one.npy.zst', plain)),
    { name: 'numbers.txt', bytes: Buffer.from('3\n-2.5\n1e9\nnan\n-inf\n7') },
    { name: 'numbers.lines.gz', bytes: gzipSync('3\n-2\n18446744073709551615\n') },
    { name: 'unknown', bytes: plain },
  ];
}
