/** The footer metadata of a Parquet file: schema and key-value metadata. Runs in the subprocess. */
import { FormatError } from '../../../../util/errors.js';
import type { ByteSource } from '../byte-source.js';
import type { LeafStatistics } from './parquet-statistics.js';
import { decodeStruct, encodeStruct, type Struct, THRIFT, type ThriftValue } from './thrift.js';

/** Physical types, in the order of their numbers. */
export const PHYSICAL = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
] as const;
export type Physical = (typeof PHYSICAL)[number];

/** Thrift field numbers. */
const FILE = { schema: 2, rows: 3, rowGroups: 4, keyValues: 5, orders: 7 } as const;
const ELEMENT = {
  type: 1,
  bytes: 2,
  repetition: 3,
  name: 4,
  children: 5,
  converted: 6,
  scale: 7,
  precision: 8,
  id: 9,
  logical: 10,
} as const;
const GROUP = { columns: 1, rows: 3 } as const;
const CHUNK = { path: 1, metadata: 3, offsetIndex: 4, columnIndexLength: 7 } as const;
const COLUMN = {
  type: 1,
  encodings: 2,
  path: 3,
  codec: 4,
  values: 5,
  bytes: 7,
  dataAt: 9,
  dictionaryAt: 11,
  statistics: 12,
} as const;
/** The repetitions of columns that have a value, or any number of values, in each row. */
const [REQUIRED, REPEATED] = [0, 2];
/** The older minimum and maximum are left out: they were compared as signed bytes. */
const STATISTICS = { nulls: 3, max: 5, min: 6 } as const;
/** The only order of columns so far: that of their type. */
const TYPE_ORDER = 1;
const KEY_VALUE = { key: 1, value: 2 } as const;
const TIME = { isUtc: 1, unit: 2 } as const;

/** Logical type names by their field number in the union. */
const LOGICAL: Readonly<Record<number, string>> = {
  1: 'STRING',
  2: 'MAP',
  3: 'LIST',
  4: 'ENUM',
  5: 'DECIMAL',
  6: 'DATE',
  7: 'TIME',
  8: 'TIMESTAMP',
  10: 'INTEGER',
  11: 'UNKNOWN',
  12: 'JSON',
  13: 'BSON',
  14: 'UUID',
  15: 'FLOAT16',
  16: 'VARIANT',
  17: 'GEOMETRY',
  18: 'GEOGRAPHY',
};
const UNITS: Readonly<Record<number, string>> = { 1: 'MILLIS', 2: 'MICROS', 3: 'NANOS' };

/** Names of the converted types, the predecessors of logical types. */
const CONVERTED = [
  'STRING',
  'MAP',
  'MAP',
  'LIST',
  'ENUM',
  'DECIMAL',
  'DATE',
  'TIME(MILLIS)',
  'TIME(MICROS)',
  'TIMESTAMP(MILLIS)',
  'TIMESTAMP(MICROS)',
  'UINT_8',
  'UINT_16',
  'UINT_32',
  'UINT_64',
  'INT_8',
  'INT_16',
  'INT_32',
  'INT_64',
  'JSON',
  'BSON',
  'INTERVAL',
];

/** Logical types that can be assigned to a leaf; UTC is a property of times. */
export type Annotation = 'UUID' | 'JSON' | 'ENUM' | 'BSON' | 'INTERVAL' | 'UTC';

/** Metadata key of the embedded Arrow schema, which identifies types that Parquet lacks. */
export const ARROW_SCHEMA = 'ARROW:schema';

const MAGIC = 'PAR1';
const ENCRYPTED = 'PARE';
/** Length of the metadata, and the magic number. */
const END_BYTES = 8;
/** Size of INT96 and INTERVAL. */
export const WIDE_BYTES = 12;

const i32 = (number: number | undefined): ThriftValue => ({ type: THRIFT.i32, number: BigInt(number ?? 0) });
const binary = (text: string): ThriftValue => ({ type: THRIFT.binary, bytes: Buffer.from(text) });

export function numberAt(struct: Struct, id: number): number | undefined {
  const value = struct.get(id);
  return value && 'number' in value ? Number(value.number) : undefined;
}

export function structAt(struct: Struct | undefined, id: number): Struct | undefined {
  const value = struct?.get(id);
  return value && 'fields' in value ? value.fields : undefined;
}

function structsAt(struct: Struct, id: number): readonly Struct[] {
  const value = struct.get(id);
  if (!value || !('items' in value)) return [];
  return value.items.flatMap((item) => ('fields' in item ? [item.fields] : []));
}

function bytesAt(struct: Struct | undefined, id: number): Uint8Array | undefined {
  const value = struct?.get(id);
  return value && 'bytes' in value ? value.bytes : undefined;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function textAt(struct: Struct, id: number): string {
  const value = struct.get(id);
  try {
    return value && 'bytes' in value ? decoder.decode(value.bytes) : '';
  } catch {
    throw new FormatError('a name in its metadata is not UTF-8');
  }
}

/** A leaf column. */
export interface Leaf {
  readonly physical: Physical;
  /** Length of a FIXED_LEN_BYTE_ARRAY. */
  readonly bytes: number;
  /** Logical type, such as 'TIMESTAMP(NANOS, UTC)'; undefined if there is none. */
  readonly logical: string | undefined;
  /** Whether each row has a value. */
  readonly isRequired: boolean;
  /** Whether a row may have several values. */
  readonly isRepeated: boolean;
  /** Whether it has a number that other formats refer to. */
  readonly hasId: boolean;
  readonly element: Struct;
}

export interface ParquetColumn {
  readonly name: string;
  readonly leaves: readonly Leaf[];
}

/** The values of a leaf column in a row group. */
export interface ColumnChunk {
  /** Place in the file. */
  readonly begin: number;
  readonly bytes: number;
  readonly values: number;
  /** Numbers of the codec and of the encodings. */
  readonly codec: number;
  readonly encodings: readonly number[];
  /** Length of the path of the column in the schema. */
  readonly depth: number;
}

export interface RowGroup {
  readonly rows: number;
  /** Returns a leaf column, by its index among the leaves; undefined if it is in another file. */
  chunk(leaf: number): ColumnChunk | undefined;
  /** Returns the statistics of a leaf column, by its index among the leaves. */
  statistics(leaf: number): LeafStatistics;
}

/** @param group  logical type of the enclosing group, unless it is a list or a map */
function leafOf(element: Struct, logical: string | undefined, group: string | undefined): Leaf {
  const physical = PHYSICAL[numberAt(element, ELEMENT.type) ?? -1];
  if (!physical) throw new FormatError('a column has an unknown physical type');
  const repetition = numberAt(element, ELEMENT.repetition);
  const bytes = numberAt(element, ELEMENT.bytes) ?? 0;
  return {
    ...{ element, physical, bytes, logical: group ?? logical, hasId: element.has(ELEMENT.id) },
    ...{ isRequired: repetition === REQUIRED, isRepeated: repetition === REPEATED },
  };
}

function logicalOf(element: Struct): string | undefined {
  const [entry] = structAt(element, ELEMENT.logical) ?? [];
  const converted = numberAt(element, ELEMENT.converted);
  const old = converted === undefined ? undefined : (CONVERTED[converted] ?? `type ${converted}`);
  const name = entry === undefined ? old : (LOGICAL[entry[0]] ?? `type ${entry[0]}`);
  if (name === 'DECIMAL') {
    return `DECIMAL(${numberAt(element, ELEMENT.precision) ?? 0},${numberAt(element, ELEMENT.scale) ?? 0})`;
  }
  const of = entry && 'fields' in entry[1] ? entry[1].fields : undefined;
  if (!of || (name !== 'TIME' && name !== 'TIMESTAMP')) return name;
  const [unit] = [...(structAt(of, TIME.unit)?.keys() ?? [])].map((id) => UNITS[id]);
  return `${name}(${unit}${of.get(TIME.isUtc)?.type === THRIFT.true ? ', UTC' : ''})`;
}

function chunkOf(chunk: Struct | undefined): ColumnChunk | undefined {
  const column = structAt(chunk, CHUNK.metadata);
  if (!column || chunk?.has(CHUNK.path)) return undefined;
  const of = (id: number): number => numberAt(column, id) ?? Number.NaN;
  const [encodings, path] = [column.get(COLUMN.encodings), column.get(COLUMN.path)];
  return {
    begin: Math.min(of(COLUMN.dataAt), numberAt(column, COLUMN.dictionaryAt) || of(COLUMN.dataAt)),
    bytes: of(COLUMN.bytes),
    values: of(COLUMN.values),
    codec: of(COLUMN.codec),
    encodings: itemsOf(encodings).map((item) => ('number' in item ? Number(item.number) : -1)),
    depth: itemsOf(path).length,
  };
}

const itemsOf = (value: ThriftValue | undefined): readonly ThriftValue[] =>
  value && 'items' in value ? value.items : [];

/** The metadata of a file. */
export class ParquetFooter {
  readonly #file: Struct;

  /** @throws FormatError when the metadata is damaged */
  constructor(bytes: Uint8Array) {
    this.#file = decodeStruct(bytes);
  }

  /**
   * Reads the metadata and returns it with its offset in the file.
   *
   * @throws FormatError when the file is not a complete Parquet file, or is encrypted
   */
  static read(source: ByteSource): { readonly footer: ParquetFooter; readonly begin: number } {
    const { size } = source;
    const end =
      size < MAGIC.length + END_BYTES ? undefined : Buffer.from(source.bytes(size - END_BYTES, END_BYTES));
    const magic = end?.subarray(4).toString('latin1');
    if (magic === ENCRYPTED) throw new FormatError('its metadata are encrypted');
    const length = end?.readUInt32LE(0) ?? 0;
    const begin = size - END_BYTES - length;
    if (magic !== MAGIC || begin < MAGIC.length) {
      throw new FormatError(
        'it does not end with the magic number of a Parquet file. Check that it is complete',
      );
    }
    return { footer: new ParquetFooter(source.bytes(begin, length)), begin };
  }

  /** The end of a file: the metadata, its length and the magic number. */
  get ending(): Uint8Array {
    const bytes = encodeStruct(this.#file);
    const length = new Uint8Array(Uint32Array.of(bytes.length).buffer);
    return Buffer.concat([bytes, length, Buffer.from(MAGIC)]);
  }

  /** @throws FormatError when the number is not a valid row count */
  get rows(): number {
    const rows = numberAt(this.#file, FILE.rows) ?? -1;
    if (Number.isSafeInteger(rows) && rows >= 0) return rows;
    throw new FormatError('it has an impossible number of rows');
  }

  /** The columns with their leaves. */
  get columns(): readonly ParquetColumn[] {
    const [root, ...elements] = structsAt(this.#file, FILE.schema);
    let at = 0;
    const leavesOf = (group?: string): Leaf[] => {
      const element = elements[at++];
      if (!element) throw new FormatError('its schema ends too early');
      const logical = logicalOf(element);
      const physical = numberAt(element, ELEMENT.type);
      if (physical !== undefined) return [leafOf(element, logical, group)];
      const isKnown = logical === undefined || logical === 'LIST' || logical === 'MAP';
      return parts(element).flatMap(() => leavesOf(isKnown ? group : logical));
    };
    const parts = (element: Struct | undefined): readonly unknown[] => {
      const count = (element && numberAt(element, ELEMENT.children)) ?? 0;
      if (count < 0 || count > elements.length) throw new FormatError('its schema has an impossible length');
      return Array.from({ length: count });
    };
    return parts(root).map(() => {
      const name = elements[at] ? textAt(elements[at] as Struct, ELEMENT.name) : '';
      return { name, leaves: leavesOf() };
    });
  }

  /** @throws FormatError when a row group has an impossible number of rows */
  get rowGroups(): readonly RowGroup[] {
    const orders = structsAt(this.#file, FILE.orders);
    return structsAt(this.#file, FILE.rowGroups).map((group) => {
      const rows = numberAt(group, GROUP.rows) ?? -1;
      if (!Number.isSafeInteger(rows) || rows < 0)
        throw new FormatError('it has an impossible number of rows');
      const chunks = structsAt(group, GROUP.columns);
      const statistics = (leaf: number): LeafStatistics => {
        const found = structAt(structAt(chunks[leaf], CHUNK.metadata), COLUMN.statistics);
        return {
          min: bytesAt(found, STATISTICS.min),
          max: bytesAt(found, STATISTICS.max),
          nulls: found && numberAt(found, STATISTICS.nulls),
          isOrderDeclared: orders[leaf]?.has(TYPE_ORDER) ?? false,
        };
      };
      return { rows, statistics, chunk: (leaf) => chunkOf(chunks[leaf]) };
    });
  }

  get metadata(): Readonly<Record<string, string>> {
    const entries = structsAt(this.#file, FILE.keyValues);
    return Object.fromEntries(
      entries.map((entry) => [textAt(entry, KEY_VALUE.key), textAt(entry, KEY_VALUE.value)]),
    );
  }

  set metadata(texts: Readonly<Record<string, string>>) {
    const items = Object.entries(texts).map(([key, value]): ThriftValue => {
      const fields = new Map([
        [KEY_VALUE.key, binary(key)],
        [KEY_VALUE.value, binary(value)],
      ]);
      return { type: THRIFT.struct, fields };
    });
    this.#file.delete(FILE.keyValues);
    if (items.length > 0) this.#file.set(FILE.keyValues, { type: THRIFT.list, of: THRIFT.struct, items });
  }

  /** Removes the logical type of a leaf. */
  strip({ element }: Leaf): void {
    for (const id of [ELEMENT.converted, ELEMENT.logical, ELEMENT.scale, ELEMENT.precision])
      element.delete(id);
  }

  /** Changes a leaf to plain 12-byte values, the storage layout of INT96 and INTERVAL. */
  asBytes(leaf: Leaf): void {
    const physical = i32(PHYSICAL.indexOf('FIXED_LEN_BYTE_ARRAY'));
    const at = this.columns
      .flatMap(({ leaves }) => leaves)
      .findIndex(({ element }) => element === leaf.element);
    leaf.element.set(ELEMENT.type, physical).set(ELEMENT.bytes, i32(WIDE_BYTES));
    this.strip(leaf);
    for (const group of structsAt(this.#file, FILE.rowGroups)) {
      const chunk = structsAt(group, GROUP.columns)[at];
      const column = structAt(chunk, CHUNK.metadata);
      column?.set(COLUMN.type, physical).delete(COLUMN.statistics);
      for (let id: number = CHUNK.offsetIndex; id <= CHUNK.columnIndexLength; id++) chunk?.delete(id);
    }
  }

  /** Assigns a logical type without parameters to a leaf, or marks its time as UTC. */
  annotate(leaf: Leaf, as: Annotation): void {
    if (as === 'UTC') {
      const [time] = structAt(leaf.element, ELEMENT.logical)?.values() ?? [];
      if (time && 'fields' in time) time.fields.set(TIME.isUtc, { type: THRIFT.true });
      return;
    }
    this.strip(leaf);
    const converted = CONVERTED.indexOf(as);
    if (converted >= 0) leaf.element.set(ELEMENT.converted, i32(converted));
    const id = Object.keys(LOGICAL).find((number) => LOGICAL[Number(number)] === as);
    if (id === undefined) return;
    const union: Struct = new Map([[Number(id), { type: THRIFT.struct, fields: new Map() }]]);
    leaf.element.set(ELEMENT.logical, { type: THRIFT.struct, fields: union });
  }
}
