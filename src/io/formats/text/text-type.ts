/** Types of text columns, specified by the user or inferred from the values. */
import { DTYPES, type Dtype } from '../../../keys/dtype.js';
import { dtypeOfName } from '../../../keys/dtype-name.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import { invalidName } from '../../../util/suggest.js';
import type { TableType, Unit } from '../tables/table-type.js';
import { FORMAT_PARTS, type TimeReader, timeReader } from './time-text.js';

export type TextType =
  | { readonly is: Dtype | 'i128' | 'bool' | 'text' }
  /** JSON values of mixed kinds, as written. */
  | { readonly is: 'json' }
  /** Numbers of any length, compared exactly. */
  | { readonly is: 'number' }
  | { readonly is: 'date'; readonly read?: TimeReader }
  | { readonly is: 'time'; readonly unit: Unit }
  | { readonly is: 'timestamp'; readonly unit: Unit; readonly isZoned: boolean; readonly read?: TimeReader };

/** Returns the table type of rows and keys. Numbers of any length become bytes in numeric order. */
export function tableTypeOf(type: TextType): TableType {
  switch (type.is) {
    case 'number':
      return { is: 'bytes' };
    case 'date':
      return { is: 'date' };
    case 'time':
      return { is: 'time', unit: type.unit };
    case 'timestamp':
      return { is: 'timestamp', unit: type.unit, ...(type.isZoned && { zone: 'UTC' }) };
    default:
      return { is: type.is };
  }
}

/** Types without a format, apart from dtypes. */
const PLAIN = ['number', 'text', 'bool', 'date', 'time', 'timestamp'] as const;

/** Returns whether a word is a type without a format. */
export const isTextType = (word: string): boolean =>
  (PLAIN as readonly string[]).includes(word) || dtypeOfName(word) !== undefined;

/**
 * Parses a type such as `f64`, `text` or `date:%d/%m/%Y`.
 *
 * @throws UsageError when the type or its format is unknown
 */
export function textType(text: string): TextType {
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const format = colon < 0 ? undefined : text.slice(colon + 1);
  const dtype = dtypeOfName(name)?.dtype;
  if (!isTextType(name)) throw invalidName('the type of a column', name, [...PLAIN, ...DTYPES]);
  if (format !== undefined && name !== 'date' && name !== 'timestamp') {
    throw invalidArgument('the type of a column', 'a format for date or timestamp only', text);
  }
  const read = format === undefined ? undefined : timeReader(format);
  if (format !== undefined && !read) {
    const expected = `a format of ${FORMAT_PARTS.join(' ')}, each at most once,`;
    throw invalidArgument('the type of a column', expected, text);
  }
  if (dtype) return { is: dtype };
  switch (name) {
    case 'date':
      return { is: 'date', ...(read && { read }) };
    case 'time':
      return { is: 'time', unit: 'ns' };
    case 'timestamp':
      return { is: 'timestamp', unit: 'us', isZoned: format?.includes('%z') ?? false, ...(read && { read }) };
    default:
      return { is: name as 'number' | 'text' | 'bool' };
  }
}

/** Column types by name: `{ price: 'f64' }`, or as on the command line, `'price=f64,day=date:%d/%m/%Y'`. */
export type ColumnTypes = string | readonly string[] | Readonly<Record<string, string>>;

/**
 * Returns the specified types by column name.
 *
 * @throws UsageError when a type is invalid
 */
export function columnTypes(given: ColumnTypes | undefined): ReadonlyMap<string, TextType> {
  if (given === undefined) return new Map();
  if (typeof given === 'object' && !Array.isArray(given)) {
    return new Map(
      Object.entries(given as Readonly<Record<string, string>>).map(([name, type]) => [name, textType(type)]),
    );
  }
  const types = new Map<string, TextType>();
  for (const text of [given].flat() as readonly string[]) {
    // A comma separates types only if a name and an equals sign follow; otherwise it is part of a format.
    for (const one of text.split(/,(?=[^,=]*=)/)) {
      const equals = one.lastIndexOf('=');
      if (equals < 1) {
        throw invalidArgument('types', 'NAME=TYPE (such as price=f64 or day=date:%d/%m/%Y)', one);
      }
      types.set(one.slice(0, equals), textType(one.slice(equals + 1)));
    }
  }
  return types;
}
