/** Joins the rows of two tables. */
import type { SorterOperations } from '../../sort/api/sorter-operations.js';
import { runYielding } from '../../sort/host/steps.js';
import { ByteStrings } from '../../sort/operations/strings/byte-strings.js';
import { argsortCodes, WORD_BYTES } from '../../sort/operations/strings/code-order.js';
import { FormatError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { insufficientMemory } from '../external/budget.js';
import type { FileContext } from '../file-sort/file-job.js';
import { columnIndexer, columnNames } from '../formats/tables/table-keys.js';
import type { TableField } from '../formats/tables/table-type.js';
import { tableTypeOf } from '../formats/text/text-type.js';
import { GrowingBytes } from '../streams/growing-bytes.js';
import { type Output, withOutput } from '../streams/output.js';
import { assertNotAborted, assertOneStdin, openSource, type Source } from '../streams/raw.js';
import { differentTypes, equalCodes, type JoinColumn, type JoinKey, joinKeys } from './join-keys.js';
import { JoinedTable, type TableJoin } from './joined-table.js';
import { ORDER_BYTES } from './policy.js';
import { LENGTH_BYTES } from './row-lengths.js';
import { type AnyTable, isTextTable, openTable, tableTarget } from './table-file.js';
import { planTables, type TablePlan } from './table-plan.js';
import { tableBatches } from './table-stream.js';

export type { TableJoin };

export interface JoinReport {
  /** Numbers of rows read. */
  readonly n: readonly [left: number, right: number];
  /** Number of rows written. */
  readonly written: number;
  readonly formats: readonly [left: string, right: string, to: string];
}

/** A table that takes part in a join. */
interface Side {
  readonly table: AnyTable;
  readonly plan: TablePlan;
  /** Indices in the file of the key columns. */
  readonly keys: readonly number[];
}

/** The rows of a table. */
interface Rows {
  readonly n: number;
  /** Positions of the rows with nulls in their keys, which have no codes; ascending. */
  readonly nulls: readonly number[];
  /** Memory that the rows and their codes take. */
  readonly bytes: number;
}

/**
 * Joins two tables on columns with equal values. Both tables are held in memory.
 *
 * Rows have the order of the left table; the partners of a row have the order of the right table. Nulls are equal to
 * nothing; all NaNs are equal, and so are both zeros.
 *
 * @throws UsageError when an option is invalid, a column does not exist, or key columns have types that cannot be compared
 * @throws DtypeError when the output format cannot hold a column
 * @throws FormatError when an input is damaged
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal is aborted
 * @throws the errors of `Sorter.join`
 */
export async function joinTables(
  sorter: SorterOperations,
  job: TableJoin,
  context: FileContext,
): Promise<JoinReport> {
  const on = readOn(job.on);
  assertOneStdin(job.in);
  const opened: (Source | AnyTable)[] = [];
  try {
    const sources: Source[] = [];
    for (const path of job.in) {
      const source = await openSource(path, context.stdin, context.signal);
      sources.push(source);
      opened.push(source);
    }
    return await withOutput(job.out, context, async (output) => {
      const tables: AnyTable[] = [];
      for (const [i, source] of sources.entries()) {
        const table = await openTable(source, job.in[i] as string, { ...job, signal: context.signal });
        tables.push(table);
        opened.push(table);
      }
      return joinOpen(sorter, tables as [AnyTable, AnyTable], { job, on, context, output });
    });
  } finally {
    for (const one of opened.reverse()) await one.close();
  }
}

type On = readonly (readonly [left: string | number, right: string | number])[];

/** @throws UsageError when the syntax is invalid */
function readOn(on: string): On {
  return columnNames(on, 'on').map((name) => {
    const [left = '', right = left, ...more] = String(name).split('=');
    if (left === '' || right === '' || more.length > 0) {
      throw invalidArgument('on', 'columns such as id, or A=B if the names differ,', on);
    }
    return [left.trim(), right.trim()] as const;
  });
}

interface Work {
  readonly job: TableJoin;
  readonly on: On;
  readonly context: FileContext;
  readonly output: Output;
}

async function joinOpen(
  sorter: SorterOperations,
  tables: readonly [AnyTable, AnyTable],
  { job, on, context, output }: Work,
): Promise<JoinReport> {
  const { kind, memory } = job;
  const target = await tableTarget(job.out, { to: job.to ?? 'auto', input: tables[0].kind.id });
  const areTexts = target.isText && tables.every(isTextTable);
  // Rows are text if all files are, otherwise typed values, which any format of tables can be written from.
  const typed = areTexts ? {} : { out: '-', to: 'arrow' };
  const planned = async (side: 0 | 1): Promise<Side> => {
    const table = tables[side];
    if (table.fields.length === 0) {
      throw new FormatError(`cannot join ${table.name}: it is empty and has no columns`);
    }
    const by = on.map((pair) => ({ column: pair[side] }));
    const { in: _, on: __, kind: ___, ...options } = job;
    const plan = await planTables([table], { ...options, in: table.name, by, ...typed }, context);
    return { table, plan, keys: by.map(({ column }) => columnIndexer(table.fields, column, table.name)) };
  };
  const [left, right] = [await planned(0), await planned(1)];
  const merged = new Set(on.flatMap(([a, b], k) => (a === b ? [right.keys[k] as number] : [])));
  const pairs = left.keys.map((_, k) => {
    const columns = [joinColumn(left, k), joinColumn(right, k)] as const;
    return { columns, keys: joinKeys(...columns) };
  });
  const keysOf = (side: 0 | 1): JoinKey[] =>
    pairs.map(({ columns, keys }) => keys?.[side] ?? { column: columns[side], isExact: false });
  const sides = [withKeys(left, keysOf(0)), withKeys(without(right, merged), keysOf(1))] as const;
  const joined = new JoinedTable([sides[0].plan, sides[1].plan], { ...job, target });
  const [codes, rows] = [new ByteStrings(), new ByteStrings()];
  const read = (side: 0 | 1, limit: number) =>
    readRows(
      { ...sides[side], plan: joined.plans[side] },
      { keys: keysOf(side), codes, rows, memory: limit, context },
    );
  const a = await read(0, memory);
  const b = await read(1, memory - a.bytes);
  const other = pairs.find(({ keys }) => keys === undefined);
  if (other && a.n > a.nulls.length && b.n > b.nulls.length) throw differentTypes(...other.columns);
  const [numbers, partners] = await numbersOf(sorter, codes, [a, b], context);
  const options = { kind, signal: context.signal };
  const found: { left: Uint32Array; right?: Uint32Array } = await sorter.join(numbers, partners, options);
  await joined.write(output, { rows, left: a.n }, [found.left, found.right], context);
  return {
    ...{ n: [a.n, b.n], written: found.left.length },
    formats: [tables[0].kind.id, tables[1].kind.id, target.id],
  };
}

/** Returns a key column with its type. */
function joinColumn({ table, plan, keys }: Side, k: number): JoinColumn {
  const { name, type } = table.fields[keys[k] as number] as AnyTable['fields'][number];
  const text = plan.text?.plan.keys[k]?.type;
  if (!text) return { name, type: type as JoinColumn['type'] };
  return { name, text, type: tableTypeOf(text) };
}

/** Returns the side with other types of its keys, if they are text. */
function withKeys(side: Side, keys: readonly JoinKey[]): Side {
  const { text } = side.plan;
  if (!text) return side;
  const retyped = text.plan.keys.map((key, k) => ({ ...key, type: keys[k]?.column.text ?? key.type }));
  return { ...side, plan: { ...side.plan, text: { ...text, plan: { ...text.plan, keys: retyped } } } };
}

/** Returns the side without some columns of its rows. */
function without(side: Side, dropped: ReadonlySet<number>): Side {
  const { wanted, text, fields } = side.plan;
  const kept = wanted.columns.flatMap((index, k) => (dropped.has(index) ? [] : [k]));
  const plan: TablePlan = {
    ...side.plan,
    wanted: { ...wanted, columns: kept.map((k) => wanted.columns[k] as number) },
    fields: kept.map((k) => fields[k] as TableField),
    text: text && {
      ...text,
      plan: {
        ...text.plan,
        isWhole: text.plan.isWhole && dropped.size === 0,
        columns: text.plan.columns.filter(({ index }) => !dropped.has(index)),
      },
    },
  };
  return { ...side, plan };
}

interface Reading {
  readonly keys: readonly JoinKey[];
  /** Get all rows, and the codes of those without nulls in their keys. */
  readonly rows: ByteStrings;
  readonly codes: ByteStrings;
  readonly memory: number;
  readonly context: FileContext;
}

const NONE = new Uint8Array(0);

/** Reads all rows of a table. */
async function readRows(
  { table, plan }: Side,
  { keys, codes, rows, memory, context }: Reading,
): Promise<Rows> {
  const equal = equalCodes(keys);
  const [first, nulls] = [rows.n, [] as number[]];
  let bytes = 0;
  for await (const { buffers } of tableBatches([table], plan, context)) {
    assertNotAborted(context.signal);
    const [codeLengths = NONE, codeBytes = NONE, lengths = NONE, rowBytes = NONE] = buffers;
    const sizes = new Uint32Array(codeLengths.slice().buffer);
    bytes += rowBytes.length + 2 * codeBytes.length + (lengths.length / LENGTH_BYTES) * ORDER_BYTES;
    if (bytes > memory) throw insufficientMemory(`join ${table.name} in memory`, memory, bytes);
    const found = new GrowingBytes(codeBytes.length);
    const offsets = new Uint32Array(sizes.length + 1);
    let [at, n] = [0, 0];
    for (let i = 0; i < sizes.length; i++) {
      if (equal(codeBytes, at, found)) offsets[++n] = found.length;
      else {
        nulls.push(rows.n - first + i);
        found.length = offsets[n] as number;
      }
      at += sizes[i] as number;
    }
    codes.addBatch(offsets.subarray(0, n + 1), found.bytes);
    rows.add(lengths, rowBytes);
    context.onProgress?.({ phase: 'reading', done: rows.n - first, total: table.rows ?? rows.n - first });
  }
  return { n: rows.n - first, nulls, bytes };
}

/** Returns a number for each row of both tables, the same for equal keys; those of null keys equal no other. */
async function numbersOf(
  sorter: SorterOperations,
  codes: ByteStrings,
  [left, right]: readonly [Rows, Rows],
  { signal }: FileContext,
): Promise<readonly [BigUint64Array, BigUint64Array]> {
  const significant = await runYielding(codes.significant(), signal);
  const words = new BigUint64Array(codes.n);
  // The first byte of the word is free for the numbers of nulls.
  if (significant.bytes < WORD_BYTES) {
    await runYielding(significant.fill({ begin: 0, end: significant.bytes }, words), signal);
  } else {
    const order = await argsortCodes(sorter, significant, { signal });
    const ids = new Uint32Array(words.buffer);
    let id = 0;
    for (const [k, position] of order.entries()) {
      if (k > 0 && !codes.equal(order[k - 1] as number, position)) id++;
      ids[2 * position] = id;
    }
  }
  const spread = ({ n, nulls }: Rows, from: number, ofNull: bigint): BigUint64Array => {
    if (nulls.length === 0) return words.subarray(from, from + n);
    const all = new BigUint64Array(n);
    for (let row = 0, k = 0; row < n; row++) {
      if (row === nulls[k]) k++;
      all[row] = row === nulls[k - 1] ? ofNull : (words[from + row - k] as bigint);
    }
    return all;
  };
  return [spread(left, 0, ~0n), spread(right, left.n - left.nulls.length, ~1n)];
}
