/**
 * Parquet files assembled byte by byte, with features that DuckDB does not write: required columns of any physical
 * type, one page each.
 */
import {
  encodeStruct,
  type Struct,
  THRIFT,
  type ThriftValue,
} from '../../../src/io/formats/subprocess/tables/thrift.js';

const PHYSICAL = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
];
const UNITS = ['MILLIS', 'MICROS', 'NANOS'];
const [PLAIN, RLE, RLE_DICTIONARY] = [0, 3, 8];
const [REQUIRED, REPEATED] = [0, 2];
const LIST_TYPE = 3;

type Logical =
  | { readonly is: 'ENUM' | 'BSON' }
  | { readonly is: 'DECIMAL'; readonly precision: number; readonly scale: number }
  | { readonly is: 'TIME' | 'TIMESTAMP'; readonly unit: string; readonly isUtc?: boolean };

export interface PhysicalColumn {
  readonly name: string;
  readonly physical: string;
  /** Length of FIXED_LEN_BYTE_ARRAY. */
  readonly bytes?: number;
  readonly logical?: Logical;
  readonly values: readonly Uint8Array[];
  readonly isDictionary?: boolean;
  /** Whether each row is a list of one value. */
  readonly isList?: boolean;
}

const i32 = (number: number): ThriftValue => ({ type: THRIFT.i32, number: BigInt(number) });
const i64 = (number: number): ThriftValue => ({ type: THRIFT.i64, number: BigInt(number) });
const text = (of: string): ThriftValue => ({ type: THRIFT.binary, bytes: Buffer.from(of) });
const struct = (fields: readonly (readonly [number, ThriftValue])[]): ThriftValue => ({
  type: THRIFT.struct,
  fields: new Map(fields) as Struct,
});
const list = (of: number, items: readonly ThriftValue[]): ThriftValue => ({ type: THRIFT.list, of, items });
const encoded = (value: ThriftValue): Uint8Array => encodeStruct((value as { fields: Struct }).fields);

function logicalOf(logical: Logical): (readonly [number, ThriftValue])[] {
  if (logical.is === 'DECIMAL') {
    const { scale, precision } = logical;
    const union = struct([
      [
        5,
        struct([
          [1, i32(scale)],
          [2, i32(precision)],
        ]),
      ],
    ]);
    return [
      [6, i32(5)],
      [7, i32(scale)],
      [8, i32(precision)],
      [10, union],
    ];
  }
  if ('unit' in logical) {
    const isUtc: ThriftValue = { type: logical.isUtc ? THRIFT.true : THRIFT.false };
    const unit = struct([[UNITS.indexOf(logical.unit) + 1, struct([])]]);
    return [
      [
        10,
        struct([
          [
            logical.is === 'TIME' ? 7 : 8,
            struct([
              [1, isUtc],
              [2, unit],
            ]),
          ],
        ]),
      ],
    ];
  }
  const [converted, id] = logical.is === 'ENUM' ? [4, 4] : [20, 13];
  return [
    [6, i32(converted)],
    [10, struct([[id, struct([])]])],
  ];
}

function elementsOf({ name, physical, bytes, logical, isList }: PhysicalColumn): ThriftValue[] {
  const leaf = struct([
    [1, i32(PHYSICAL.indexOf(physical))],
    ...(bytes === undefined ? [] : [[2, i32(bytes)] as const]),
    [3, i32(REQUIRED)],
    [4, text(isList ? 'element' : name)],
    ...(logical ? logicalOf(logical) : []),
  ]);
  if (!isList) return [leaf];
  const group = struct([
    [3, i32(REQUIRED)],
    [4, text(name)],
    [5, i32(1)],
    [6, i32(LIST_TYPE)],
  ]);
  return [
    group,
    struct([
      [3, i32(REPEATED)],
      [4, text('list')],
      [5, i32(1)],
    ]),
    leaf,
  ];
}

/** Levels that are all equal, with their length in front. */
function levels(n: number, level: number): Buffer {
  const run: number[] = [];
  let head = n << 1;
  for (; head > 127; head >>>= 7) run.push((head & 127) | 128);
  run.push(head, level);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(run.length);
  return Buffer.concat([length, Buffer.from(run)]);
}

function plain({ physical }: PhysicalColumn, values: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    values.flatMap((value) => {
      if (physical !== 'BYTE_ARRAY') return [value];
      const length = Buffer.alloc(4);
      length.writeUInt32LE(value.length);
      return [length, value];
    }),
  );
}

/** A data page after a dictionary page of all values, at most 256. */
function pagesOf(column: PhysicalColumn): { readonly pages: Buffer; readonly dataAt: number } {
  const { values, isDictionary = false, isList = false } = column;
  const n = values.length;
  const page = (type: number, header: readonly [number, ThriftValue], body: Buffer): Buffer =>
    Buffer.concat([
      encoded(struct([[1, i32(type)], [2, i32(body.length)], [3, i32(body.length)], header])),
      body,
    ]);
  const encoding = isDictionary ? RLE_DICTIONARY : PLAIN;
  const header = struct([
    [1, i32(n)],
    [2, i32(encoding)],
    [3, i32(RLE)],
    [4, i32(RLE)],
  ]);
  // Indices of 8 bits, as a run of this many groups of 8.
  const groups = Math.ceil(n / 8);
  const places = Buffer.from([
    8,
    (groups << 1) | 1,
    ...Array.from({ length: 8 * groups }, (_, i) => (i < n ? i : 0)),
  ]);
  const body = [
    ...(isList ? [levels(n, 0), levels(n, 1)] : []),
    isDictionary ? places : plain(column, values),
  ];
  const dictionary = isDictionary
    ? page(
        2,
        [
          7,
          struct([
            [1, i32(n)],
            [2, i32(PLAIN)],
          ]),
        ],
        plain(column, values),
      )
    : Buffer.alloc(0);
  const data = page(0, [5, header], Buffer.concat(body));
  return { pages: Buffer.concat([dictionary, data]), dataAt: dictionary.length };
}

export function parquetOf(columns: readonly PhysicalColumn[]): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from('PAR1')];
  let at = 4;
  const chunks = columns.map((column) => {
    const { pages, dataAt } = pagesOf(column);
    const path = column.isList ? [column.name, 'list', 'element'] : [column.name];
    const metadata = struct([
      [1, i32(PHYSICAL.indexOf(column.physical))],
      [2, list(THRIFT.i32, [i32(PLAIN), i32(RLE), ...(dataAt > 0 ? [i32(RLE_DICTIONARY)] : [])])],
      [3, list(THRIFT.binary, path.map(text))],
      [4, i32(0)],
      [5, i64(column.values.length)],
      [6, i64(pages.length)],
      [7, i64(pages.length)],
      [9, i64(at + dataAt)],
      ...(dataAt > 0 ? [[11, i64(at)] as const] : []),
    ]);
    const chunk = struct([
      [2, i64(at)],
      [3, metadata],
    ]);
    parts.push(pages);
    at += pages.length;
    return chunk;
  });
  const rows = columns[0]?.values.length ?? 0;
  const root = struct([
    [4, text('schema')],
    [5, i32(columns.length)],
  ]);
  const group = struct([
    [1, list(THRIFT.struct, chunks)],
    [2, i64(at - 4)],
    [3, i64(rows)],
  ]);
  const footer = encoded(
    struct([
      [1, i32(2)],
      [2, list(THRIFT.struct, [root, ...columns.flatMap(elementsOf)])],
      [3, i64(rows)],
      [4, list(THRIFT.struct, [group])],
    ]),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([...parts, footer, length, Buffer.from('PAR1')]);
}
