/** The table that a join writes: the columns of the left table, then those of the right one. */
import { NO_PARTNER } from '../../sort/operations/join/join.js';
import type { ByteStrings } from '../../sort/operations/strings/byte-strings.js';
import { UsageError } from '../../util/errors.js';
import type { FileContext } from '../file-sort/file-job.js';
import type { SubprocessKind } from '../formats/subprocess/subprocess-kind.js';
import { createTable } from '../formats/subprocess/table-writer.js';
import type { TableField } from '../formats/tables/table-type.js';
import { assertTypesSupported } from '../formats/tables/type-support.js';
import type { TextReadOptions } from '../formats/text/text-options.js';
import type { RowPart, RowsTo, TextPlan } from '../formats/text/text-plan.js';
import { TextWriter } from '../formats/text/text-writer.js';
import type { Output } from '../streams/output.js';
import { assertNotAborted } from '../streams/raw.js';
import { RowSink, type RowWriter } from './row-sink.js';
import type { TablePlan } from './table-plan.js';

/** A join of two tables. */
export interface TableJoin extends TextReadOptions {
  /** Paths of both tables, `-` for stdin. */
  readonly in: readonly [left: string, right: string];
  /** Path of the output, `-` for stdout. An existing file is replaced on success. */
  readonly out: string;
  /** Columns whose values are equal in both rows: `id,day`, or `id=customer` if their names differ. */
  readonly on: string;
  readonly kind: 'inner' | 'left' | 'anti';
  /** What follows the name of a right column that a left column also has. */
  readonly suffix: string;
  readonly format?: string | undefined;
  readonly to?: string | undefined;
  readonly verify: boolean;
  /** Memory limit in bytes. */
  readonly memory: number;
}

interface JoinedOptions
  extends Pick<TableJoin, 'out' | 'kind' | 'suffix' | 'header' | 'delimiter' | 'verify'> {
  readonly target: SubprocessKind;
}

export class JoinedTable {
  /** How rows of both tables are read. */
  readonly plans: readonly [TablePlan, TablePlan];
  readonly #options: JoinedOptions;
  readonly #to: RowsTo | undefined;
  readonly #fields: readonly TableField[];
  /** Whether the rows are those of the left table. */
  readonly #isLeftOnly: boolean;

  /**
   * @param plans how both tables are read; text rows if the output is text
   * @throws UsageError when two columns would have one name
   * @throws DtypeError when the output format cannot hold a column
   */
  constructor([left, right]: readonly [TablePlan, TablePlan], options: JoinedOptions) {
    const { kind, target, out } = options;
    this.#options = options;
    const to = left.text?.plan.to;
    const other = right.text?.plan.to;
    // A file of one column has no delimiter.
    const delimiters = [to, other].map((one) => (one?.as === 'csv' ? one.delimiter : ''));
    const delimiter = delimiters.find((one) => one !== '') ?? target.delimiter ?? ',';
    this.#to = to?.as === 'csv' ? { ...to, delimiter } : to?.as === 'ndjson' ? to : undefined;
    const names = rightNames(left.fields, right.fields, options.suffix);
    const fields = right.fields.map((field, k) => {
      const { isRequired: _, ...rest } = field;
      return { ...(kind === 'left' ? rest : field), name: names[k] as string };
    });
    this.#fields = kind === 'anti' ? left.fields : [...left.fields, ...fields];
    if (!this.#to) assertTypesSupported(this.#fields, { name: out, format: target.format, id: target.id });
    this.#isLeftOnly = kind === 'anti' || fields.length === 0;
    this.plans = [
      withPart(left, this.#to, this.#isLeftOnly ? undefined : 'left'),
      withPart(right, this.#to, 'right', names),
    ];
  }

  /**
   * Writes the rows at pairs of positions.
   *
   * @param rows rows of the left table, followed by those of the right one
   * @param left number of rows of the left table
   * @param positions positions of the rows in both tables, `NO_PARTNER` for none
   */
  async write(
    output: Output,
    { rows, left }: { readonly rows: ByteStrings; readonly left: number },
    [lefts, rights]: readonly [Uint32Array, Uint32Array | undefined],
    { signal, onProgress }: FileContext,
  ): Promise<void> {
    const writer = await this.#create(output, signal);
    const onRows = (done: number): void => {
      assertNotAborted(signal);
      onProgress?.({ phase: 'writing', done, total: lefts.length });
    };
    let [positions, parts] = [lefts, 1];
    if (rights && !this.#isLeftOnly) {
      [positions, parts] = [new Uint32Array(2 * lefts.length), 2];
      for (let k = 0; k < lefts.length; k++) {
        const partner = rights[k] as number;
        positions[2 * k] = lefts[k] as number;
        positions[2 * k + 1] = partner === NO_PARTNER ? rows.n : left + partner;
      }
      rows.addBatch(Uint32Array.of(0, this.#noPartner.length), this.#noPartner);
    }
    await new RowSink(writer, lefts.length, onRows, parts).addAll(rows, positions);
    await writer.end();
  }

  /** The right part of a row without a partner. */
  get #noPartner(): Uint8Array {
    const to = this.#to;
    const [{ fields: left }, { fields: right }] = this.plans;
    if (to?.as === 'csv')
      return Buffer.from(`${to.delimiter.repeat(Math.max(0, right.length - 1))}${to.lineEnd}`);
    if (to?.as !== 'ndjson') return new Uint8Array(right.length);
    const nulls = this.#fields.slice(left.length).map(({ name }) => `${JSON.stringify(name)}:null`);
    return Buffer.from(`${nulls.join()}}${to.lineEnd}`);
  }

  async #create(output: Output, signal: AbortSignal): Promise<RowWriter> {
    const { target, out, header, delimiter, kind, verify } = this.#options;
    const [{ text, metadata }, { text: other }] = this.plans;
    if (this.#to && text && other) {
      const columns = kind === 'anti' ? text.plan.columns : [...text.plan.columns, ...other.plan.columns];
      const plan = { ...text.plan, columns, to: this.#to, isWhole: false };
      return TextWriter.create(output, { out, table: text.first, plan, header });
    }
    const contents = { layout: 'rows', fields: this.#fields, metadata } as const;
    const table = await createTable(target, output, contents, { header, delimiter, verify, signal });
    return { write: (rows, bytes) => table.write({ rows, buffers: [bytes] }), end: () => table.end() };
  }
}

/** Returns the plan of a table whose rows are rows of text, or parts of them. */
function withPart(
  plan: TablePlan,
  to: RowsTo | undefined,
  part: RowPart | undefined,
  names?: readonly string[],
): TablePlan {
  if (!to || to.as === 'values' || !plan.text) return plan;
  const { columns, isWhole, ...rest } = plan.text.plan;
  const between = to.as === 'csv' ? to.delimiter : ',';
  const text: TextPlan = {
    ...rest,
    columns: columns.map((column, k) => ({ ...column, name: names?.[k] ?? column.name })),
    // JSON objects are written again, with the names of the output.
    isWhole: isWhole && to.as === 'csv',
    to: { ...to, lineEnd: part === 'left' ? between : to.lineEnd, ...(part && { part }) },
  };
  return { ...plan, text: { ...plan.text, plan: text } };
}

/** @throws UsageError when a name with the suffix is that of another column */
function rightNames(
  left: readonly Pick<TableField, 'name'>[],
  right: readonly Pick<TableField, 'name'>[],
  suffix: string,
): string[] {
  const used = new Set(left.map(({ name }) => name));
  return right.map(({ name }) => {
    const own = used.has(name) ? `${name}${suffix}` : name;
    if (used.has(own) || (own !== name && right.some((other) => other.name === own))) {
      throw new UsageError(
        `cannot join the tables: two columns would have the name ${own}. Pass another --suffix`,
      );
    }
    return own;
  });
}
