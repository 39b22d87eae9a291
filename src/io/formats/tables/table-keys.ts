/** Sort keys of tables: columns with an order, as users write them. */
import { DtypeError, UsageError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import { invalidName } from '../../../util/suggest.js';
import { listedNames, missingColumn } from '../subprocess/select-column.js';
import { isTextType, textType } from '../text/text-type.js';
import type { KeyOrder } from './key-codes.js';
import { type KeyKind, keyKind, type TableType, typeText } from './table-type.js';

/** A sort key: a column and its order. */
export interface TableKey {
  /** Column name, or 0-based column index if no column has that name. */
  readonly column: string | number;
  /** Whether to sort in descending order. Nulls stay where `nulls` says. Default false. */
  readonly descending?: boolean | undefined;
  /** Position of nulls, in either direction; default 'last'. */
  readonly nulls?: 'first' | 'last' | undefined;
  /** Position of NaNs in floating-point columns. Default: the `nan` option, or 'last'. */
  readonly nan?: 'first' | 'last' | undefined;
  /** Type of a text column, such as `'f64'`, `'text'` or `'date:%d/%m/%Y'`. Default: the type that fits all values. */
  readonly type?: string | undefined;
}

/** Sort keys: `'price:desc,time:nulls-first'`, or a list of such strings and of keys. */
export type TableBy = string | readonly (string | TableKey)[];

/**
 * Column names: a string as on the command line, with commas in between and quotes where necessary; or a list of
 * exact names.
 */
export type ColumnNames = string | readonly (string | number)[];

/** Modifiers that may follow a column name. */
const WORDS: Readonly<Record<string, Omit<TableKey, 'column'>>> = {
  asc: { descending: false },
  desc: { descending: true },
  'nulls-first': { nulls: 'first' },
  'nulls-last': { nulls: 'last' },
  'nan-first': { nan: 'first' },
  'nan-last': { nan: 'last' },
};

const QUOTING = 'Quote a name with a colon, comma or quote, as in "a:b":desc, and double a quote in it';

/**
 * Splits a comma-separated list of names with modifiers.
 *
 * @throws UsageError when the syntax is invalid
 */
function splitNames(text: string, option: string): { name: string; words: string[] }[] {
  const found: { name: string; words: string[] }[] = [];
  const token = /"((?:[^"]|"")*)"|([^",:][^,:]*)/y;
  for (let at = 0; ; ) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match)
      throw invalidArgument(option, `a column name at character ${at + 1}`, text, { advice: QUOTING });
    const [all, inQuotes, plain] = match;
    const name = inQuotes?.replaceAll('""', '"') ?? plain?.trim() ?? '';
    at += all.length;
    const rest = /(?::[^",:]*)*/y;
    rest.lastIndex = at;
    const words = rest.exec(text)?.[0] ?? '';
    at += words.length;
    found.push({
      name,
      words: words
        .split(':')
        .slice(1)
        .map((word) => word.trim()),
    });
    if (at === text.length) return found;
    if (text[at] !== ',') {
      throw invalidArgument(option, `a comma at character ${at + 1}`, text, { advice: QUOTING });
    }
    at++;
  }
}

/**
 * Parses sort keys such as `price:desc,time:nulls-first`.
 *
 * @throws UsageError when the syntax is invalid or modifiers contradict each other
 */
function parseKeys(text: string): TableKey[] {
  return splitNames(text, 'by').map(({ name, words }) => {
    let key: TableKey = { column: name };
    for (const word of words) {
      const given = Object.hasOwn(WORDS, word) ? WORDS[word] : isTextType(word) ? { type: word } : undefined;
      if (!given) throw invalidName(`the word after ${name} in by`, word, Object.keys(WORDS));
      const [field, value] = Object.entries(given)[0] as [keyof TableKey, TableKey[keyof TableKey]];
      if (key[field] !== undefined && key[field] !== value) {
        throw new UsageError(`cannot sort by ${name}: ${words.join(' and ')} contradict each other`);
      }
      key = { ...key, ...given };
    }
    return key;
  });
}

const isKey = (value: unknown): value is TableKey =>
  typeof value === 'object' &&
  value !== null &&
  ['string', 'number'].includes(typeof (value as TableKey).column);

/**
 * Parses and checks sort keys.
 *
 * @throws UsageError when there are no keys, or a key is invalid
 */
export function parseTableKeys(by: TableBy): readonly TableKey[] {
  const all = typeof by === 'string' ? [by] : by;
  if (!Array.isArray(all) || all.length === 0) {
    throw invalidArgument('by', "column names such as 'price:desc,time'", by);
  }
  return all.flatMap((one: unknown) => {
    if (typeof one === 'string') return parseKeys(one);
    if (!isKey(one)) {
      const expected = "a string such as 'price:desc', or { column: 'price', descending: true },";
      throw invalidArgument('a key of by', expected, one);
    }
    checkKey(one);
    return [one];
  });
}

const KEY_FIELDS = ['column', 'descending', 'nulls', 'nan', 'type'];

function checkKey(key: TableKey): void {
  const wrong = Object.keys(key).find((field) => !KEY_FIELDS.includes(field));
  if (wrong !== undefined) throw invalidName('a field of a key', wrong, KEY_FIELDS);
  const { descending, nulls, nan, type } = key;
  if (type !== undefined) textType(type);
  const isPlace = (value: unknown): boolean => [undefined, 'first', 'last'].includes(value as undefined);
  if (isPlace(nulls) && isPlace(nan) && [undefined, true, false].includes(descending)) return;
  const expected = "true or false as descending, and 'first' or 'last' as nulls and nan,";
  throw invalidArgument('a key of by', expected, key);
}

/**
 * Parses a list of column names.
 *
 * @throws UsageError when the syntax is invalid
 */
export function columnNames(names: ColumnNames, option = 'columns'): readonly (string | number)[] {
  if (typeof names !== 'string') {
    const isName = (name: unknown): boolean => typeof name === 'string' || Number.isInteger(name);
    if (Array.isArray(names) && names.length > 0 && names.every(isName)) return names;
    throw invalidArgument(option, 'a list of column names', names);
  }
  return splitNames(names, option).map(({ name, words }) => {
    if (words.length === 0) return name;
    throw invalidArgument(option, `column names without ${words.join(' ')}`, names, { advice: QUOTING });
  });
}

/**
 * Returns the index of a column.
 *
 * @param name  display name of the table, for messages
 * @throws UsageError when no column, or more than one, has that name
 */
export function columnIndexer(
  fields: readonly { readonly name: string }[],
  wanted: string | number,
  name: string,
): number {
  const named = fields.flatMap((field, i) => (field.name === wanted ? [i] : []));
  const [only] = named;
  const number = typeof wanted === 'number' ? wanted : /^\d+$/.test(wanted) ? Number(wanted) : -1;
  if (named.length === 1 && only !== undefined) return only;
  if (named.length === 0 && fields[number]) return number;
  const names = fields.map((field) => ({ name: field.name }));
  if (named.length === 0) throw missingColumn(name, wanted, names);
  throw new UsageError(
    `cannot use column ${wanted} of ${name}: ${named.length} columns have that name. Use its number, one of ${named.join(', ')}`,
    { details: { path: name, column: wanted, columns: listedNames(names) } },
  );
}

/** Creates the error of a key column whose values have no order. */
export const unorderedColumn = (
  name: string,
  column: string,
  what: string,
  details: Readonly<Record<string, unknown>>,
): DtypeError =>
  new DtypeError(
    `cannot sort ${name} by column ${column}: it holds ${what}, which has no order. Sort by numbers, texts, bytes, ` +
      'booleans, dates or times',
    { details: { path: name, column, ...details } },
  );

/** A resolved sort key. */
export interface FoundKey extends KeyOrder {
  readonly index: number;
  readonly kind: KeyKind;
}

/**
 * Resolves sort keys to columns of a table.
 *
 * @param nan  default position of NaNs
 * @throws UsageError when a column does not exist or is used twice
 * @throws DtypeError when a column has no order
 */
export function findKeys(
  keys: readonly TableKey[],
  fields: readonly { readonly name: string; readonly type?: TableType; readonly text?: string }[],
  { name, nan = 'last' }: { readonly name: string; readonly nan?: 'first' | 'last' | undefined },
): FoundKey[] {
  const seen = new Set<number>();
  return keys.map((key) => {
    const index = columnIndexer(fields, key.column, name);
    const { name: column, type, text } = fields[index] as (typeof fields)[number];
    if (seen.has(index)) throw new UsageError(`cannot sort ${name}: by names column ${column} twice`);
    seen.add(index);
    const kind = type && keyKind(type);
    if (!kind) {
      const what = type ? typeText(type) : (text ?? 'values');
      throw unorderedColumn(name, column, what, { type: what });
    }
    return {
      index,
      kind,
      descending: key.descending ?? false,
      nulls: key.nulls ?? 'last',
      nan: key.nan ?? nan,
    };
  });
}

/** Formats a key in the syntax of `--by`. */
export function keyText({ column, descending, nulls, nan }: TableKey): string {
  const name = String(column);
  const quoted = name === '' || /[":,]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
  return `${quoted}${descending ? ':desc' : ''}${nulls === 'first' ? ':nulls-first' : ''}${nan === 'first' ? ':nan-first' : ''}`;
}
