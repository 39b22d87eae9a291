/** Types of columns, whatever the format: what their values mean, and how they are laid out in rows (row-layout.ts). */

/** What a second is divided into. */
export type Unit = 's' | 'ms' | 'us' | 'ns';

/** Types that need no more than their name, with the bytes of a value. */
const FIXED = {
  bool: 1,
  i8: 1,
  u8: 1,
  i16: 2,
  u16: 2,
  f16: 2,
  i32: 4,
  u32: 4,
  f32: 4,
  i64: 8,
  u64: 8,
  f64: 8,
  i128: 16,
  u128: 16,
  /** Days since 1970. */
  date: 4,
  /** Milliseconds since 1970, of whole days. */
  'date in ms': 8,
  /** The 16 bytes, the first one first. */
  uuid: 16,
  /** Months and days (4 bytes each), microseconds (8). */
  'interval in us': 16,
  /** Months and days (4 bytes each), nanoseconds (8). */
  'interval in ns': 16,
  /** Days and milliseconds (4 bytes each). */
  'interval of days': 8,
  'interval of months': 4,
} as const;

type FixedName = keyof typeof FIXED;

/** A column, or a part of one. */
export interface TableField {
  readonly name: string;
  readonly type: TableType;
  /** Whether it has no nulls, by what the file says. */
  readonly isRequired?: true;
  /** What the file says of it besides, by names. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export type TableType =
  | { readonly is: FixedName }
  /** A number of `precision` digits, `scale` of them behind the point; 16 bytes, or 32 from 39 digits on. */
  | { readonly is: 'decimal'; readonly precision: number; readonly scale: number }
  /** Since midnight, in UTC or wherever; 8 bytes. */
  | { readonly is: 'time'; readonly unit: Unit; readonly isUtc?: true }
  /** Since 1970, in UTC where there is a zone; 8 bytes. */
  | { readonly is: 'timestamp'; readonly unit: Unit; readonly zone?: string }
  | { readonly is: 'duration'; readonly unit: Unit }
  | { readonly is: 'bytes of fixed length'; readonly bytes: number }
  /** Bytes of any length; `isLarge`: with lengths of 64 bits in the file. */
  | { readonly is: 'text' | 'bytes'; readonly isLarge?: true }
  /** A text that is JSON. */
  | { readonly is: 'json' }
  /** Nulls only. */
  | { readonly is: 'null' }
  | { readonly is: 'list'; readonly item: TableField; readonly isLarge?: true }
  | { readonly is: 'list of fixed length'; readonly item: TableField; readonly length: number }
  /** A list of structs with a key and a value. */
  | { readonly is: 'map'; readonly item: TableField; readonly isSorted?: true }
  | { readonly is: 'struct'; readonly fields: readonly TableField[] };

const MAX_DIGITS_OF_16_BYTES = 38;

/** Bytes of a value that is no null; undefined where values differ in length. */
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

/** The fields of a type: of a struct, or the item of a list or map. */
export function partsOf(type: TableType): readonly TableField[] {
  if ('item' in type) return [type.item];
  return type.is === 'struct' ? type.fields : [];
}

/** The fields that have values of their own, in the order of their columns in Parquet. */
export function leavesOf(field: TableField): readonly TableField[] {
  const parts = partsOf(field.type);
  return parts.length === 0 ? [field] : parts.flatMap(leavesOf);
}

/** The type in words: 'decimal(18, 3)', 'list of text', … */
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

/** How values of a type are compared; undefined for those that have no order here. */
export type KeyKind =
  | {
      readonly as: 'number';
      readonly dtype: 'u8' | 'i8' | 'u16' | 'i16' | 'f16' | 'u32' | 'i32' | 'f32' | 'u64' | 'i64' | 'f64';
    }
  /** A whole number of any length, little-endian. */
  | { readonly as: 'whole'; readonly bytes: number; readonly isSigned: boolean }
  /** Bytes of a fixed length. */
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
