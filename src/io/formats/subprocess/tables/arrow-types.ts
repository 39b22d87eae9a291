/** Conversion between Arrow types and table types. Runs in the subprocess. */
import type { DataType, Field } from 'apache-arrow';
import type { TableField, TableType, Unit } from '../../tables/table-type.js';
import type { ArrowPackage } from '../arrow-file.js';
import { dtypeOfArrow } from '../arrow-layout.js';

/** In the order of Arrow's enumeration. */
const UNITS: readonly Unit[] = ['s', 'ms', 'us', 'ns'];
const INTERVALS = ['interval of months', 'interval of days', 'interval in ns'] as const;

const EXTENSION = 'ARROW:extension:name';
const UUID = 'arrow.uuid';
const UUID_BYTES = 16;
const DECIMAL_BITS = [128, 256];
/** Decimal digits that 256 bits can hold. */
const MAX_DIGITS = 76;

const metadataOf = ({ metadata }: Field): TableField['metadata'] =>
  metadata.size === 0 ? undefined : Object.fromEntries(metadata);

/** Converts an Arrow field; returns undefined for unsupported types. */
export function tableField(arrow: ArrowPackage, field: Field): TableField | undefined {
  const metadata = metadataOf(field);
  const type = typeOf(arrow, field.type, metadata);
  const isRequired = field.nullable ? {} : { isRequired: true as const };
  return type && { name: field.name, type, ...isRequired, ...(metadata && { metadata }) };
}

function typeOf(
  arrow: ArrowPackage,
  type: DataType,
  metadata?: TableField['metadata'],
): TableType | undefined {
  const is = arrow.DataType;
  if (is.isDictionary(type)) {
    const values = typeOf(arrow, type.dictionary);
    return values && 'item' in values ? undefined : values?.is === 'struct' ? undefined : values;
  }
  const dtype = dtypeOfArrow(arrow, type);
  if (dtype) return { is: dtype };
  if (is.isNull(type)) return { is: 'null' };
  if (is.isBool(type)) return { is: 'bool' };
  if (is.isUtf8(type)) return { is: 'text' };
  if (is.isLargeUtf8(type)) return { is: 'text', isLarge: true };
  if (is.isBinary(type)) return { is: 'bytes' };
  if (is.isLargeBinary(type)) return { is: 'bytes', isLarge: true };
  if (is.isFixedSizeBinary(type)) {
    const isUuid = metadata?.[EXTENSION] === UUID && type.byteWidth === UUID_BYTES;
    return isUuid ? { is: 'uuid' } : { is: 'bytes of fixed length', bytes: type.byteWidth };
  }
  if (is.isDecimal(type)) {
    const { precision, scale, bitWidth } = type;
    const isKnown = DECIMAL_BITS.includes(bitWidth) && precision > 0 && precision <= MAX_DIGITS;
    return isKnown ? { is: 'decimal', precision, scale } : undefined;
  }
  return timeType(arrow, type) ?? nestedType(arrow, type);
}

function timeType({ DataType: is }: ArrowPackage, type: DataType): TableType | undefined {
  if (is.isDate(type)) return { is: type.unit === 0 ? 'date' : 'date in ms' };
  if (is.isInterval(type)) {
    const name = INTERVALS[type.unit];
    return name && { is: name };
  }
  if (!is.isTime(type) && !is.isTimestamp(type) && !is.isDuration(type)) return undefined;
  const unit = UNITS[type.unit];
  if (unit === undefined) return undefined;
  if (is.isTime(type)) return { is: 'time', unit };
  if (is.isDuration(type)) return { is: 'duration', unit };
  return { is: 'timestamp', unit, ...(type.timezone && { zone: type.timezone }) };
}

function nestedType(arrow: ArrowPackage, type: DataType): TableType | undefined {
  const is = arrow.DataType;
  const parts = (type.children ?? []).map((field) => tableField(arrow, field));
  const fields = parts.filter((field) => field !== undefined);
  const [item] = fields;
  if (fields.length < parts.length) return undefined;
  if (is.isStruct(type)) return { is: 'struct', fields };
  if (!item) return undefined;
  if (is.isList(type)) return { is: 'list', item };
  if (is.isLargeList(type)) return { is: 'list', item, isLarge: true };
  if (is.isMap(type)) return { is: 'map', item, ...(type.keysSorted && { isSorted: true as const }) };
  return is.isFixedSizeList(type) ? { is: 'list of fixed length', length: type.listSize, item } : undefined;
}

const INTS = {
  i8: 'Int8',
  u8: 'Uint8',
  i16: 'Int16',
  u16: 'Uint16',
  i32: 'Int32',
  u32: 'Uint32',
  i64: 'Int64',
  u64: 'Uint64',
  f16: 'Float16',
  f32: 'Float32',
  f64: 'Float64',
} as const;

/** Converts a field that type-support.ts has accepted to an Arrow field. */
export function arrowField(arrow: ArrowPackage, { name, type, isRequired, metadata }: TableField): Field {
  const isUuid = type.is === 'uuid';
  const fieldMetadata = { ...metadata, ...(isUuid && { [EXTENSION]: UUID, 'ARROW:extension:metadata': '' }) };
  return arrow.Field.new({
    name,
    type: arrowType(arrow, type),
    nullable: !isRequired,
    metadata: new Map(Object.entries(fieldMetadata)),
  });
}

function arrowType(arrow: ArrowPackage, type: TableType): DataType {
  switch (type.is) {
    case 'null':
      return new arrow.Null();
    case 'bool':
      return new arrow.Bool();
    case 'text':
      return type.isLarge ? new arrow.LargeUtf8() : new arrow.Utf8();
    case 'json':
      return new arrow.Utf8();
    case 'bytes':
      return type.isLarge ? new arrow.LargeBinary() : new arrow.Binary();
    case 'uuid':
      return new arrow.FixedSizeBinary(UUID_BYTES);
    case 'bytes of fixed length':
      return new arrow.FixedSizeBinary(type.bytes);
    case 'decimal':
      return new arrow.Decimal(type.scale, type.precision, type.precision > 38 ? 256 : 128);
    case 'date':
      return new arrow.DateDay();
    case 'date in ms':
      return new arrow.DateMillisecond();
    case 'time':
      return new arrow.Time(UNITS.indexOf(type.unit) as never, isShort(type.unit) ? 32 : 64);
    case 'timestamp':
      return new arrow.Timestamp(UNITS.indexOf(type.unit), type.zone ?? null);
    case 'duration':
      return new arrow.Duration(UNITS.indexOf(type.unit));
    case 'interval of months':
    case 'interval of days':
    case 'interval in ns':
      return new arrow.Interval(INTERVALS.indexOf(type.is));
    case 'struct':
      return new arrow.Struct(type.fields.map((field) => arrowField(arrow, field)));
    case 'list': {
      const item = arrowField(arrow, type.item);
      return type.isLarge ? new arrow.LargeList(item) : new arrow.List(item);
    }
    case 'list of fixed length':
      return new arrow.FixedSizeList(type.length, arrowField(arrow, type.item));
    case 'map':
      return mapType(arrow, type);
    default:
      return new arrow[INTS[type.is as keyof typeof INTS]]();
  }
}

/** Map keys and entries are never null. */
function mapType(arrow: ArrowPackage, { item, isSorted }: Extract<TableType, { is: 'map' }>): DataType {
  const [key, value] = item.type.is === 'struct' ? item.type.fields : [];
  if (!key || !value) throw new Error('a map without keys and values');
  const ofKey = arrowField(arrow, key);
  const keys = arrow.Field.new({
    name: ofKey.name,
    type: ofKey.type,
    nullable: false,
    metadata: ofKey.metadata,
  });
  const entries = new arrow.Struct([keys, arrowField(arrow, value)]);
  const field = arrow.Field.new({
    name: item.name,
    type: entries,
    nullable: false,
    metadata: new Map(Object.entries(item.metadata ?? {})),
  });
  return new arrow.Map_(field as never, isSorted ?? false);
}

/** Returns whether a time of day with this unit takes 4 bytes in Arrow. */
export const isShort = (unit: Unit): boolean => unit === 's' || unit === 'ms';
