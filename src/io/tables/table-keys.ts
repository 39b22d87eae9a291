/** Sort keys of tables: columns with an order, as users write them. */
import { DtypeError, UsageError } from '../../util/errors.js';
import { suggestion, unknownName } from '../../util/suggest.js';
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
  /**
   * Type of a text column, such as `'f64'`, `'text'` or `'date:%d/%m/%Y'`. Default: the type that fits all values.
   */
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

const QUOTING =
  'a name with a colon, a comma or a quote stands in quotes, as in "a:b":desc, and a quote in it twice';

/**
 * Splits a comma-separated list of names with modifiers.
 *
 * @throws UsageError when the syntax is invalid
 */
function splitNames(text: string): { name: string; words: string[] }[] {
  const found: { name: string; words: string[] }[] = [];
  const token = /"((?:[^"]|"")*)"|([^",:][^,:]*)/y;
  for (let at = 0; ; ) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) throw new UsageError(`'${text}' has no name of a column at character ${at + 1}: ${QUOTING}`);
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
      throw new UsageError(`'${text}' goes on at character ${at + 1} where a comma was expected: ${QUOTING}`);
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
  return splitNames(text).map(({ name, words }) => {
    let key: TableKey = { column: name };
    for (const word of words) {
      const said = Object.hasOwn(WORDS, word) ? WORDS[word] : isTextType(word) ? { type: word } : undefined;
      if (!said) {
        throw new UsageError(
          `${unknownName('word', word, Object.keys(WORDS))} behind ${name} in '${text}'; ${QUOTING}`,
        );
      }
      const [field, value] = Object.entries(said)[0] as [keyof TableKey, TableKey[keyof TableKey]];
      if (key[field] !== undefined && key[field] !== value) {
        throw new UsageError(
          `'${text}' says two things of ${name} that contradict each other: ${words.join(' and ')}`,
        );
      }
      key = { ...key, ...said };
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
    throw new UsageError("nothing says what rows are sorted by: expected columns, such as 'price:desc,time'");
  }
  return all.flatMap((one: unknown) => {
    if (typeof one === 'string') return parseKeys(one);
    if (!isKey(one)) {
      throw new UsageError(
        `a key is ${JSON.stringify(one)}: expected a text such as 'price:desc', or { column: 'price', descending: true }`,
      );
    }
    checkKey(one);
    return [one];
  });
}

const KEY_FIELDS = ['column', 'descending', 'nulls', 'nan', 'type'];

function checkKey(key: TableKey): void {
  const wrong = Object.keys(key).find((field) => !KEY_FIELDS.includes(field));
  if (wrong !== undefined) throw new UsageError(unknownName('field of a key', wrong, KEY_FIELDS));
  const { descending, nulls, nan, type } = key;
  if (type !== undefined) textType(type);
  const isPlace = (value: unknown): boolean => [undefined, 'first', 'last'].includes(value as undefined);
  if (isPlace(nulls) && isPlace(nan) && [undefined, true, false].includes(descending)) return;
  throw new UsageError(
    `a key is ${JSON.stringify(key)}: expected true or false for descending, 'first' or 'last' for nulls and nan`,
  );
}

/**
 * Parses a list of column names.
 *
 * @throws UsageError when the syntax is invalid
 */
export function columnNames(names: ColumnNames): readonly (string | number)[] {
  if (typeof names !== 'string') {
    const isName = (name: unknown): boolean => typeof name === 'string' || Number.isInteger(name);
    if (Array.isArray(names) && names.length > 0 && names.every(isName)) return names;
    throw new UsageError(`columns are ${JSON.stringify(names)}: expected a list of names`);
  }
  return splitNames(names).map(({ name, words }) => {
    if (words.length === 0) return name;
    throw new UsageError(
      `'${names}' says ${words.join(' ')} of ${name}, which has no meaning here; ${QUOTING}`,
    );
  });
}

/** Maximum number of columns listed in a message. */
const MAX_LISTED_COLUMNS = 20;

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
  const names = fields.map((field) => field.name);
  const details = { path: name, column: wanted, columns: names.slice(0, MAX_LISTED_COLUMNS) };
  if (named.length > 1) {
    throw new UsageError(
      `${named.length} columns of ${name} are called ${wanted}: say which one by its number, one of ${named.join(' ')}`,
      { details },
    );
  }
  const more = names.length > MAX_LISTED_COLUMNS ? ` and ${names.length - MAX_LISTED_COLUMNS} more` : '';
  const known =
    names.length === 0
      ? 'it has none'
      : `its columns are ${names.slice(0, MAX_LISTED_COLUMNS).join(', ')}${more}`;
  throw new UsageError(`${name} has no column ${wanted}: ${known}${suggestion(String(wanted), names)}`, {
    details,
  });
}

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
    if (seen.has(index)) throw new UsageError(`${name} is to be sorted by the column ${column} twice`);
    seen.add(index);
    const kind = type && keyKind(type);
    if (!kind) {
      const what = type ? typeText(type) : (text ?? 'values');
      throw new DtypeError(
        `the column ${column} of ${name} holds ${what}, which has no order here: sort by numbers, texts, bytes, booleans, dates or times`,
        { details: { path: name, column, type: what } },
      );
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
