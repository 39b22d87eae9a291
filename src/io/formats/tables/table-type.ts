/** Format-independent column types: the meaning of values, and their layout in rows (row-layout.ts). */

/** Resolution of a time. */
export type Unit = 's' | 'ms' | 'us' | 'ns';

/** Types without parameters, with the size of a value in bytes. */
const FIXED = {
  bool: 1,
  i8: 1,
  u8: 1,
  i16: 2,
  u16: 2,
  f16: 2,
  bf16: 2,
  i32: 4,
  u32: 4,
  f32: 4,
  i64: 8,
  u64: 8,
  f64: 8,
  i128: 16,
  u128: 16,
  /** Days since 1970-01-01. */
  date: 4,
  /** Milliseconds since 1970-01-01; multiples of a day. */
  'date in ms': 8,
  /** The 16 bytes in textual order. */
  uuid: 16,
  /** Months and days (4 bytes each), microseconds (8 bytes). */
  'interval in us': 16,
  /** Months and days (4 bytes each), nanoseconds (8 bytes). */
  'interval in ns': 16,
  /** Days and milliseconds (4 bytes each). */
  'interval of days': 8,
  'interval of months': 4,
} as const;

type FixedName = keyof typeof FIXED;

/** A column, or a nested part of one. */
export interface TableField {
  readonly name: string;
  readonly type: TableType;
  /** Whether the file declares the column non-nullable. */
  readonly isRequired?: true;
  /** Key-value metadata of the column. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export type TableType =
  | { readonly is: FixedName }
  /** A decimal of `precision` digits, `scale` of them after the point; 16 bytes, or 32 bytes from 39 digits on. */
  | { readonly is: 'decimal'; readonly precision: number; readonly scale: number }
  /** Time since midnight, in UTC or without a zone; 8 bytes. */
  | { readonly is: 'time'; readonly unit: Unit; readonly isUtc?: true }
  /** Time since 1970-01-01, in UTC if it has a zone; 8 bytes. */
  | { readonly is: 'timestamp'; readonly unit: Unit; readonly zone?: string }
  | { readonly is: 'duration'; readonly unit: Unit }
  | { readonly is: 'bytes of fixed length'; readonly bytes: number }
  /** Text or bytes of variable length; `isLarge` for 64-bit lengths in the file. */
  | { readonly is: 'text' | 'bytes'; readonly isLarge?: true }
  /** JSON text. */
  | { readonly is: 'json' }
  /** Contains only nulls. */
  | { readonly is: 'null' }
  | { readonly is: 'list'; readonly item: TableField; readonly isLarge?: true }
  | { readonly is: 'list of fixed length'; readonly item: TableField; readonly length: number }
  /** A list of structs with a key and a value. */
  | { readonly is: 'map'; readonly item: TableField; readonly isSorted?: true }
  | { readonly is: 'struct'; readonly fields: readonly TableField[] };

/** Decimal digits that 16 bytes can hold. */
const MAX_DIGITS_OF_16_BYTES = 38;

/** Returns the size of a non-null value in bytes; undefined for types of variable length. */
export function fixedBytes(type: TableType): number | undefined {
  switch (type.is) {
    case 'decimal':
      return type.precision > MAX_DIGITS_OF_16_BYTES ? 32 : 16;
    case 'time':
    case 'timestamp':
    case 'duration':
      return 8;
    case 'bytes of fixed length':
      return type.bytes;
    default:
      return Object.hasOwn(FIXED, type.is) ? FIXED[type.is as FixedName] : undefined;
  }
}

/** Returns the nested fields of a type: the fields of a struct, or the item of a list or map. */
export function partsOf(type: TableType): readonly TableField[] {
  if ('item' in type) return [type.item];
  return type.is === 'struct' ? type.fields : [];
}

/** Returns the leaf fields, in the column order of Parquet. */
export function leavesOf(field: TableField): readonly TableField[] {
  const parts = partsOf(field.type);
  return parts.length === 0 ? [field] : parts.flatMap(leavesOf);
}

/** Returns the name of a type: 'decimal(18, 3)', 'list of text', … */
export function typeText(type: TableType): string {
  switch (type.is) {
    case 'decimal':
      return `decimal(${type.precision}, ${type.scale})`;
    case 'time':
      return `time in ${type.unit}${type.isUtc ? ' (UTC)' : ''}`;
    case 'duration':
      return `duration in ${type.unit}`;
    case 'timestamp':
      return `timestamp in ${type.unit}${type.zone === undefined ? '' : ` (${type.zone})`}`;
    case 'bytes of fixed length':
      return `${type.bytes} bytes`;
    case 'list':
      return `list of ${typeText(type.item.type)}`;
    case 'list of fixed length':
      return `list of ${type.length} × ${typeText(type.item.type)}`;
    case 'map':
      return 'map';
    case 'struct':
      return `struct of ${type.fields.map((field) => `${field.name}: ${typeText(field.type)}`).join(', ')}`;
    default:
      return type.is;
  }
}

/** How values of a type are compared; undefined for types without an order. */
export type KeyKind =
  | {
      readonly as: 'number';
      readonly dtype:
        | 'u8'
        | 'i8'
        | 'u16'
        | 'i16'
        | 'f16'
        | 'bf16'
        | 'u32'
        | 'i32'
        | 'f32'
        | 'u64'
        | 'i64'
        | 'f64';
    }
  /** A little-endian integer of any width. */
  | { readonly as: 'whole'; readonly bytes: number; readonly isSigned: boolean }
  /** Bytes of fixed length. */
  | { readonly as: 'fixed'; readonly bytes: number }
  | { readonly as: 'bytes' };

export function keyKind(type: TableType): KeyKind | undefined {
  switch (type.is) {
    case 'bool':
      return { as: 'number', dtype: 'u8' };
    case 'i8':
    case 'u8':
    case 'i16':
    case 'u16':
    case 'f16':
    case 'bf16':
    case 'i32':
    case 'u32':
    case 'f32':
    case 'i64':
    case 'u64':
    case 'f64':
      return { as: 'number', dtype: type.is };
    case 'date':
    case 'interval of months':
      return { as: 'number', dtype: 'i32' };
    case 'date in ms':
    case 'time':
    case 'timestamp':
    case 'duration':
      return { as: 'number', dtype: 'i64' };
    case 'i128':
    case 'u128':
      return { as: 'whole', bytes: 16, isSigned: type.is === 'i128' };
    case 'decimal':
      return { as: 'whole', bytes: fixedBytes(type) as number, isSigned: true };
    case 'uuid':
      return { as: 'fixed', bytes: 16 };
    case 'bytes of fixed length':
      return { as: 'fixed', bytes: type.bytes };
    case 'text':
    case 'bytes':
      return { as: 'bytes' };
    default:
      return undefined;
  }
}
