/** Keys as a table of one column, which a subprocess reads or writes. */
import { DTYPES, dtypeInfo } from '../../../keys/dtype.js';
import { FormatError } from '../../../util/errors.js';
import type { Output } from '../../streams/output.js';
import type { Source } from '../../streams/raw.js';
import type { KeyFacts, KeyReader, KeyWriter, ReadRequest, WriteOptions } from '../key-file.js';
import { BATCH_ROWS } from './protocol.js';
import { type SelectedColumn, selectColumn } from './select-column.js';
import type { BinaryKind, SubprocessKind } from './subprocess-kind.js';
import { TableFile } from './table-file.js';
import { TableWriter } from './table-writer.js';

/** Default name of the key column. */
const COLUMN = 'key';

const NO_BYTES = new Uint8Array(0);

/**
 * Opens a file that a subprocess reads.
 *
 * @throws DtypeError when the column is not numeric or has another dtype than requested
 * @throws UsageError when the column does not exist or the choice is ambiguous
 * @throws the errors of `TableFile.open`
 */
export async function openKeyColumn(
  kind: BinaryKind,
  source: Source,
  { column, dtype, signal }: ReadRequest,
): Promise<KeyReader> {
  const table = await TableFile.open(kind, source, signal);
  const { name, rows: n } = table;
  try {
    const columns = table.fields.map(({ name: of, text, type }) => ({
      ...{ name: of, type: text },
      dtype: DTYPES.find((known) => known === type?.is) ?? null,
    }));
    const wanted = selectColumn({ name, columns, column, dtype, isText: false });
    return {
      name,
      format: kind.id,
      dtype: wanted.dtype,
      n,
      shape: n === undefined ? undefined : [n],
      column: columns[wanted.index]?.name,
      plainAt: undefined,
      pieces: () => piecesOf(table, wanted),
      close: table.close,
    };
  } catch (error) {
    await table.close();
    throw error;
  }
}

async function* piecesOf(table: TableFile, { index, dtype }: SelectedColumn): AsyncGenerator<Uint8Array> {
  const nulls = new NullCounter(table.name);
  let n = 0;
  for await (const { rows, buffers } of table.batches({ is: 'columns', columns: [index] })) {
    const [validity = NO_BYTES, values = NO_BYTES] = buffers;
    nulls.count(validity, n, rows);
    n += rows;
    if (values.length !== rows * dtypeInfo(dtype).bytes) {
      throw new FormatError(
        `cannot read ${table.name}: a batch does not have as many bytes as its rows need`,
      );
    }
    if (nulls.total === 0) yield values;
  }
  nulls.assertNone();
}

/** Counts the nulls of a key column, which must not have any. */
class NullCounter {
  readonly #name: string;
  #first: number | undefined;
  total = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** @param begin  row of the file that the first bit belongs to */
  count(validity: Uint8Array, begin: number, rows: number): void {
    if (validity.length === 0) return;
    for (let i = 0; i < rows; i++) {
      if (((validity[i >> 3] ?? 0) >> (i & 7)) & 1) continue;
      this.#first ??= begin + i;
      this.total++;
    }
  }

  /** @throws FormatError with the number of nulls and the row of the first one */
  assertNone(): void {
    if (this.total === 0) return;
    throw new FormatError(
      `cannot read the keys of ${this.#name}: ${this.total === 1 ? 'a value is' : `${this.total} values are`} null, the ` +
        `first in row ${this.#first} (from 0). Remove or complete these rows first`,
      { details: { path: this.#name, nulls: this.total, first: this.#first } },
    );
  }
}

/**
 * Opens an output for keys that a subprocess writes.
 *
 * @throws the errors of `TableWriter.create`
 */
export async function createKeyColumn(
  kind: SubprocessKind,
  output: Output,
  { dtype, column = COLUMN }: KeyFacts,
  options: WriteOptions,
): Promise<KeyWriter> {
  const fields = [{ name: column, type: { is: dtype }, isRequired: true }] as const;
  const table = await TableWriter.create(kind, output, { layout: 'columns', fields }, options);
  const { bytes } = dtypeInfo(dtype);
  return {
    async write(piece) {
      for (let at = 0; at < piece.length; at += BATCH_ROWS * bytes) {
        const values = piece.subarray(at, at + BATCH_ROWS * bytes);
        await table.write({ rows: values.length / bytes, buffers: [NO_BYTES, values] });
      }
    },
    end: () => table.end(),
  };
}
