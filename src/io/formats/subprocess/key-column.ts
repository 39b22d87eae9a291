/** Keys as a table of one column, which a subprocess reads or writes. */
import { DTYPES, dtypeInfo } from '../../../keys/dtype.js';
import { loadTableFunctions } from '../../../sort/host/native-tables.js';
import { FormatError } from '../../../util/errors.js';
import type { Output } from '../../streams/output.js';
import { assertNotAborted, type Source } from '../../streams/raw.js';
import type {
  FirstKeys,
  FirstKeysRequest,
  KeyFacts,
  KeyReader,
  KeyWriter,
  OpenRequest,
  ReadRequest,
  WriteOptions,
} from '../key-file.js';
import { MAX_FIRST_ROWS } from '../tables/policy.js';
import { isNumberCsv, numberCsvWriter } from '../text/number-csv.js';
import { fileSource } from './byte-source.js';
import { BATCH_ROWS, type Batch, type FirstKeysMessage } from './protocol.js';
import { type SelectedColumn, selectColumn } from './select-column.js';
import type { BinaryKind, SubprocessKind } from './subprocess-kind.js';
import { openTableFile, type TableFile } from './table-file.js';
import { compressionOf, createTable } from './table-writer.js';
import { NumericColumn } from './tables/numeric-column.js';
import { firstKeyBatches } from './tables/record-batches.js';

/** Default name of the key column. */
const COLUMN = 'key';

const NO_BYTES = new Uint8Array(0);

/**
 * Opens a column of a file that a subprocess reads. This process reads simple numeric columns of Parquet files, because a
 * subprocess takes longer to start.
 *
 * @throws DtypeError when the column is not numeric or has another dtype than requested
 * @throws UsageError when the column does not exist, or none is named in a table of several columns
 * @throws the errors of `openTableFile`
 */
export async function openKeyColumn(
  kind: BinaryKind,
  source: Source,
  request: OpenRequest,
): Promise<KeyReader> {
  const here = kind.format === 'parquet' ? await numericColumn(source, request) : undefined;
  if (!here) return openInSubprocess(kind, source, request);
  const { name } = source;
  const { dtype, rows: n } = here;
  let started: Promise<KeyReader> | undefined;
  const subprocess = (): Promise<KeyReader> => {
    started ??= openInSubprocess(kind, source, request);
    return started;
  };
  return {
    ...{ name, format: kind.id, dtype, n, shape: [n], column: here.name, plainAt: undefined },
    async *pieces() {
      let done = 0;
      try {
        for await (const piece of here.pieces()) {
          done += piece.length;
          yield piece;
        }
        return;
      } catch (error) {
        if (!(error instanceof FormatError)) throw error;
      }
      // It reads other pages, or says what is wrong with them.
      yield* withoutFirst(done, (await subprocess()).pieces());
    },
    async first(wanted) {
      const table = { name, batches: (message: FirstKeysMessage) => firstKeyBatches(here, message) };
      try {
        return await firstKeysOf(table, { index: 0, dtype }, wanted);
      } catch (error) {
        assertNotAborted(request.signal);
        const reader = await subprocess();
        if (!(error instanceof FormatError) || !reader.first) throw error;
        return reader.first(wanted);
      }
    },
    close: async () => (await started?.catch(() => undefined))?.close(),
  };
}

/** Yields pieces without their first bytes. */
export async function* withoutFirst(
  bytes: number,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    if (bytes < piece.length) yield piece.subarray(bytes);
    bytes = Math.max(0, bytes - piece.length);
  }
}

/** Returns a column that this process can decode; undefined if the subprocess has to, or reports what is wrong. */
async function numericColumn(
  { fd }: Source,
  { column, dtype }: ReadRequest,
): Promise<NumericColumn | undefined> {
  if (fd === undefined) return undefined;
  try {
    const found = await NumericColumn.open(fileSource(fd), (names) => {
      const named = typeof column === 'string' ? names.indexOf(column) : -1;
      if (named >= 0) return named;
      if (column === undefined) return names.length === 1 ? 0 : -1;
      return /^\d+$/.test(`${column}`) ? Number(column) : -1;
    });
    return dtype === undefined || dtype === found?.dtype ? found : undefined;
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

async function openInSubprocess(
  kind: BinaryKind,
  source: Source,
  { column, dtype, signal, tables }: OpenRequest,
): Promise<KeyReader> {
  const table = await openTableFile(kind, source, signal);
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
      first: (request) => firstKeysOf(table, wanted, request),
      close: () => table.close(),
    };
  } catch (error) {
    if (tables) tables.push(table);
    else await table.close();
    throw error;
  }
}

/** @throws FormatError when keys are null, with their number and the row of the first one */
async function* piecesOf(table: TableFile, { index, dtype }: SelectedColumn): AsyncGenerator<Uint8Array> {
  const { name } = table;
  let [n, nulls, first] = [0, 0, 0];
  for await (const { rows, buffers } of table.batches({ is: 'columns', columns: [index] })) {
    const [validity = NO_BYTES, values = NO_BYTES] = buffers;
    for (let i = 0; validity.length > 0 && i < rows; i++) {
      const isValid = ((validity[i >> 3] ?? 0) >> (i & 7)) & 1;
      if (!isValid && nulls++ === 0) first = n + i;
    }
    n += rows;
    if (values.length !== rows * dtypeInfo(dtype).bytes) {
      throw new FormatError(`cannot read ${name}: a batch does not have as many bytes as its rows need`);
    }
    if (nulls === 0) yield values;
  }
  if (nulls > 0) throw nullKeys(name, nulls, first);
}

async function firstKeysOf(
  table: Pick<TableFile, 'name'> & { batches(wanted: FirstKeysMessage): AsyncIterable<Batch> },
  { index }: SelectedColumn,
  { count: head, ...order }: FirstKeysRequest,
): Promise<FirstKeys> {
  const key = { index, nulls: 'last', ...order } as const;
  const found: Uint8Array[] = [];
  let n = 0;
  for await (const { rows, buffers } of table.batches({
    is: 'first keys',
    key,
    head,
    trustsStatistics: true,
  })) {
    n += rows;
    found.push(...buffers);
  }
  const [values = NO_BYTES, positions = NO_BYTES, facts = NO_BYTES] = found;
  const [nulls = 0, first = 0] = float64s(facts);
  if (nulls > 0) throw nullKeys(table.name, nulls, first);
  return { n, values, positions: float64s(positions) };
}

const float64s = (bytes: Uint8Array): Float64Array => new Float64Array(bytes.slice().buffer);

function nullKeys(name: string, nulls: number, first: number): FormatError {
  return new FormatError(
    `cannot read the keys of ${name}: ${nulls === 1 ? 'a value is' : `${nulls} values are`} null, the ` +
      `first in row ${first} (from 0). Remove or complete these rows first`,
    { details: { path: name, nulls, first } },
  );
}

/**
 * Opens an output for keys that a subprocess writes, or this process if they are few and CSV.
 *
 * @throws the errors of `createTable`
 */
export async function createKeyColumn(
  kind: SubprocessKind,
  output: Output,
  { dtype, n, column = COLUMN }: KeyFacts,
  options: WriteOptions,
): Promise<KeyWriter> {
  const { delimiter = kind.delimiter ?? ',' } = options;
  if (kind.format === 'csv' && !compressionOf(output.name)) {
    // For few keys, loading the addon takes longer.
    if (n === undefined || n > MAX_FIRST_ROWS) await loadTableFunctions();
    if (isNumberCsv({ dtype, column }, delimiter)) return numberCsvWriter(output, { dtype, column }, options);
  }
  const fields = [{ name: column, type: { is: dtype }, isRequired: true }] as const;
  const table = await createTable(kind, output, { layout: 'columns', fields }, options);
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
