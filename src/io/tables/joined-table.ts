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
import type { RowsTo, TextPlan } from '../formats/text/text-plan.js';
import { TextWriter } from '../formats/text/text-writer.js';
import type { Output } from '../streams/output.js';
import { assertNotAborted } from '../streams/raw.js';
import { BATCH_BYTES, BATCH_ROWS } from './policy.js';
import type { RowWriter } from './row-sink.js';
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

/** Text between the parts of a row, the row of a partner that does not exist, and the form of a part in a joined row. */
interface Form {
  readonly between: Uint8Array;
  readonly end: Uint8Array;
  readonly noPartner: Uint8Array;
  left(row: Uint8Array): Uint8Array;
  right(row: Uint8Array): Uint8Array;
}

const NOTHING = new Uint8Array(0);
const same = (row: Uint8Array): Uint8Array => row;

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
    this.plans = [withRows(left, this.#to), withRows(right, this.#to, names)];
  }

  get #form(): Form {
    const to = this.#to;
    const [{ fields: left }, { fields: right }] = this.plans;
    const columns = this.#options.kind === 'anti' ? 0 : right.length;
    const text = { between: NOTHING, end: Buffer.from(to && to.as !== 'values' ? to.lineEnd : '') };
    if (to?.as === 'csv') {
      const [delimiter, all] = [Buffer.from(to.delimiter), left.length + columns];
      // A missing value of an only column is `""`, which is an empty text among several columns.
      const part = (own: number) =>
        own === 1 && all > 1 ? (row: Uint8Array) => (isQuotes(row) ? NOTHING : row) : same;
      const noPartner = Buffer.concat(Array.from({ length: Math.max(0, columns - 1) }, () => delimiter));
      const between = columns === 0 ? NOTHING : delimiter;
      return { ...text, between, noPartner, left: part(left.length), right: part(columns) };
    }
    if (to?.as === 'ndjson') {
      const nulls = this.#fields.slice(left.length).map(({ name }) => `${JSON.stringify(name)}:null`);
      const noPartner = Buffer.from(`${nulls.join()}}`);
      if (columns === 0) return { ...text, noPartner, left: same, right: () => NOTHING };
      const between = Buffer.from(',');
      return {
        ...text,
        between,
        noPartner,
        left: (row) => row.subarray(0, -1),
        right: (row) => row.subarray(1),
      };
    }
    return { ...text, noPartner: new Uint8Array(columns), left: same, right: same };
  }

  /**
   * Writes the rows at pairs of positions.
   *
   * @param rows rows of both tables
   * @param positions positions of the rows in both tables, `NO_PARTNER` for none
   */
  async write(
    output: Output,
    [left, right]: readonly [ByteStrings, ByteStrings],
    [lefts, rights]: readonly [Uint32Array, Uint32Array | undefined],
    { signal, onProgress }: FileContext,
  ): Promise<void> {
    const writer = await this.#create(output, signal);
    const form = this.#form;
    let [parts, bytes, from] = [[] as Uint8Array[], 0, 0];
    for (const [k, position] of lefts.entries()) {
      const partner = rights?.[k];
      parts.push(form.left(left.at(position)));
      if (partner !== undefined) {
        parts.push(form.between, partner === NO_PARTNER ? form.noPartner : form.right(right.at(partner)));
      }
      parts.push(form.end);
      bytes += left.length(position);
      const rows = k + 1 - from;
      if (rows < BATCH_ROWS && bytes < BATCH_BYTES && k + 1 < lefts.length) continue;
      await writer.write(rows, Buffer.concat(parts));
      assertNotAborted(signal);
      onProgress?.({ phase: 'writing', done: k + 1, total: lefts.length });
      [parts, bytes, from] = [[], 0, k + 1];
    }
    await writer.end();
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
    return {
      write: (rows, bytes) => table.write({ rows, buffers: [bytes] }),
      end: () => table.end(),
    };
  }
}

const isQuotes = (row: Uint8Array): boolean => row.length === 2 && row[0] === 0x22 && row[1] === 0x22;

/** Returns the plan of a table whose rows are parts of text rows; the line end follows both. */
function withRows(plan: TablePlan, to: RowsTo | undefined, names?: readonly string[]): TablePlan {
  if (!to || to.as === 'values' || !plan.text) return plan;
  const { columns, isWhole, ...rest } = plan.text.plan;
  const text: TextPlan = {
    ...rest,
    columns: columns.map((column, k) => ({ ...column, name: names?.[k] ?? column.name })),
    // A JSON object is written again, so that its braces are the first and the last byte.
    isWhole: isWhole && to.as === 'csv',
    to: { ...to, lineEnd: '' },
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
