/** Maps Parquet columns and the Arrow types of parquet-wasm to table types. Runs in the subprocess. */
import type { Field } from 'apache-arrow';
import { leavesOf, type TableField, type TableType, typeText } from '../../tables/table-type.js';
import { MAX_PARQUET_DIGITS } from '../../tables/type-support.js';
import type { ArrowPackage } from '../arrow-file.js';
import type { FoundField } from '../protocol.js';
import { tableField } from './arrow-types.js';
import {
  type Annotation,
  type Leaf,
  type ParquetColumn,
  type ParquetFooter,
  WIDE_BYTES,
} from './parquet-footer.js';

/** Metadata key for a logical type that Arrow lacks. */
const LOGICAL_TYPE = 'PARQUET:logical_type';
/** Logical types that only label text or bytes. */
const NAMED = ['ENUM', 'BSON'] as const;

/** Returns the Parquet type name of a leaf. */
function leafText({ logical, physical, bytes }: Leaf): string {
  if (logical !== undefined) return logical;
  return physical === 'FIXED_LEN_BYTE_ARRAY' ? `${physical}(${bytes})` : physical;
}

const isInterval = ({ logical, physical, bytes }: Leaf): boolean =>
  logical === 'INTERVAL' && physical === 'FIXED_LEN_BYTE_ARRAY' && bytes === WIDE_BYTES;

/** Returns whether parquet-wasm decodes the values of a leaf without loss. */
function isKept(leaf: Leaf): boolean {
  const { logical = '' } = leaf;
  const [, precision, scale] = /^DECIMAL\((-?\d+),(-?\d+)\)$/.exec(logical)?.map(Number) ?? [];
  if (precision !== undefined && scale !== undefined) {
    return precision > 0 && precision <= MAX_PARQUET_DIGITS && scale >= 0 && scale <= precision;
  }
  if (logical === 'INTERVAL') return isInterval(leaf);
  return !/^(type|VARIANT|GEOMETRY|GEOGRAPHY)/.test(logical);
}

/** Changes leaves that parquet-wasm would alter, or that would make it reject the whole file, to plain bytes. */
export function prepareSchema(footer: ParquetFooter): void {
  for (const leaf of footer.columns.flatMap(({ leaves }) => leaves)) {
    if (leaf.physical === 'INT96' || isInterval(leaf)) footer.asBytes(leaf);
    else if (!isKept(leaf)) footer.strip(leaf);
  }
}

/** Returns a column as stored in the file. Its type is undefined if values would be lost. */
export function parquetField(
  arrow: ArrowPackage,
  { name, leaves }: ParquetColumn,
  field: Field,
  hint: Field | undefined,
): FoundField {
  const known = tableField(arrow, field);
  const lost = leaves.find((leaf) => !isKept(leaf));
  const [only] = leaves;
  const isNested = field.type.children?.length > 0;
  const whole = isNested || !only ? (known ? typeText(known.type) : `${field.type}`) : leafText(only);
  if (!known || lost) return { name, text: lost && isNested ? `${whole}, with ${leafText(lost)}` : whole };
  const rest = [...leaves];
  const exact = refineField(known, rest);
  const hinted = hint && tableField(arrow, hint);
  return { ...(hinted ? withHint(exact, hinted) : exact), name, text: whole };
}

/** Refines a field by the types of its Parquet leaves, which it removes from the front of the list. */
function refineField(field: TableField, leaves: Leaf[]): TableField {
  const { type } = field;
  if (type.is === 'struct') {
    return { ...field, type: { ...type, fields: type.fields.map((part) => refineField(part, leaves)) } };
  }
  if ('item' in type) return { ...field, type: { ...type, item: refineField(type.item, leaves) } };
  const leaf = leaves.shift();
  if (!leaf) throw new Error('a column with fewer leaves than its type');
  const named = NAMED.find((name) => name === leaf.logical);
  const metadata = named && { metadata: { ...field.metadata, [LOGICAL_TYPE]: named } };
  return { ...field, ...metadata, type: leafType(type, leaf) };
}

function leafType(type: TableType, leaf: Leaf): TableType {
  const { physical, logical = '' } = leaf;
  if (physical === 'INT96') return { is: 'timestamp', unit: 'ns' };
  if (isInterval(leaf)) return { is: 'interval in us' };
  if (logical === 'UUID' && leaf.bytes === 16) return { is: 'uuid' };
  if (logical === 'JSON') return { is: 'json' };
  if (logical === 'ENUM') return { is: 'text' };
  return type.is === 'time' && logical.endsWith(', UTC)') ? { ...type, isUtc: true } : type;
}

/** Adds the information of the embedded Arrow schema to a field. */
function withHint(field: TableField, hint: TableField): TableField {
  const metadata = { ...field.metadata, ...hint.metadata };
  const isBare = Object.keys(metadata).length === 0;
  return { ...field, ...(!isBare && { metadata }), type: typeWithHint(field.type, hint.type) };
}

function typeWithHint(type: TableType, hint: TableType): TableType {
  if (type.is === 'i64' && hint.is === 'duration') return hint;
  if (type.is === 'list' && hint.is === 'list of fixed length') {
    return { ...hint, item: withHint(type.item, hint.item) };
  }
  if (type.is === 'timestamp' && hint.is === 'timestamp') {
    return type.zone !== undefined && hint.zone !== undefined ? { ...type, zone: hint.zone } : type;
  }
  if (type.is === 'struct' && hint.is === 'struct' && type.fields.length === hint.fields.length) {
    const fields = type.fields.map((field, i) => withHint(field, hint.fields[i] as TableField));
    return { ...type, fields };
  }
  if ((type.is === 'text' || type.is === 'bytes') && hint.is === type.is) return hint;
  if (type.is === 'list' && hint.is === 'list') return { ...hint, item: withHint(type.item, hint.item) };
  if (type.is === 'map' && hint.is === 'map') return { ...hint, item: withHint(type.item, hint.item) };
  return type;
}

/** Returns a field with the type that parquet-wasm writes. */
export function storedField(field: TableField): TableField {
  return { ...field, type: storedType(field.type) };
}

function storedType(type: TableType): TableType {
  switch (type.is) {
    case 'uuid':
      return { is: 'bytes of fixed length', bytes: 16 };
    case 'interval in us':
      return { is: 'bytes of fixed length', bytes: WIDE_BYTES };
    case 'json':
      return { is: 'text' };
    case 'time':
      return { is: 'time', unit: type.unit === 's' ? 'ms' : type.unit };
    case 'timestamp':
      return type.unit === 's' ? { ...type, unit: 'ms' } : type;
    case 'struct':
      return { ...type, fields: type.fields.map(storedField) };
    case 'list':
    case 'list of fixed length':
    case 'map':
      return { ...type, item: storedField(type.item) };
    default:
      return type;
  }
}

function annotationOf({ type, metadata }: TableField): Annotation | undefined {
  if (type.is === 'uuid') return 'UUID';
  if (type.is === 'json') return 'JSON';
  if (type.is === 'interval in us') return 'INTERVAL';
  if (type.is === 'time') return type.isUtc ? 'UTC' : undefined;
  const named = type.is === 'text' ? 'ENUM' : type.is === 'bytes' ? 'BSON' : undefined;
  return metadata?.[LOGICAL_TYPE] === named ? named : undefined;
}

/** Adds logical types that parquet-wasm does not write to the columns of a written file. */
export function annotateSchema(footer: ParquetFooter, fields: readonly TableField[]): void {
  const written = footer.columns.flatMap(({ leaves }) => leaves);
  for (const [i, field] of fields.flatMap(leavesOf).entries()) {
    const as = annotationOf(field);
    if (as) footer.annotate(written[i] as Leaf, as);
  }
}

/** Returns whether a field has information that only an embedded Arrow schema can store. */
export function needsArrowSchema({ type, metadata = {} }: TableField): boolean {
  const isBare = Object.keys(metadata).every((key) => key === 'PARQUET:field_id' || key === LOGICAL_TYPE);
  if (!isBare || type.is === 'duration' || type.is === 'list of fixed length') return true;
  if (type.is === 'timestamp') return type.zone !== undefined && type.zone !== 'UTC';
  if ('isLarge' in type || 'isSorted' in type) return true;
  if (type.is === 'struct') return type.fields.some(needsArrowSchema);
  return 'item' in type && needsArrowSchema(type.item);
}
