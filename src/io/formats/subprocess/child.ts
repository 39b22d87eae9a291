/**
 * The program of the child that reads or writes one file of another format, so that a reader's crash is no crash of ours. It
 * has the file and four pipes, and ends with its parent.
 */
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { ClsortError, FormatError } from '../../../util/errors.js';
import { openArrowTable } from '../../tables/child/arrow-table-reader.js';
import { writeArrowTable } from '../../tables/child/arrow-table-writer.js';
import { writeDuckdbTable } from '../../tables/child/duckdb-table-writer.js';
import { openParquet, openParquetTable } from '../../tables/child/parquet-table.js';
import { writeParquet, writeParquetTable } from '../../tables/child/parquet-writer.js';
import { openArrow } from './arrow-reader.js';
import { writeArrow } from './arrow-writer.js';
import type { ColumnSource } from './column-reader.js';
import { duckdbError } from './duckdb.js';
import { writeDuckdb } from './duckdb-writer.js';
import { readFrame, writeFrame } from './frames.js';
import {
  type Batch,
  FD,
  type Message,
  type ReadMessage,
  type ReadTableMessage,
  type WriteMessage,
  type WriteTableMessage,
} from './protocol.js';

/** Ends at once, whatever a library is doing. */
const end = (): void => void process.kill(process.pid, 'SIGKILL');

const send = (message: Message): void => writeFrame(FD.out, { message });

/** What the parent says next; without it there is nothing to do any more. */
function receive(): ReturnType<typeof readFrame> & object {
  const frame = readFrame(FD.in);
  if (!frame) end();
  return frame as ReturnType<typeof readFrame> & object;
}

function message<Is extends Message['is']>(is: readonly Is[]): Extract<Message, { readonly is: Is }> {
  const frame = receive();
  if ('message' in frame && (is as readonly string[]).includes(frame.message.is))
    return frame.message as never;
  throw new Error(`expected ${is.join(' or ')}`);
}

async function read(request: ReadMessage): Promise<void> {
  const { columns, rows, batches } = await READERS[request.format].columns();
  send({ is: 'schema', columns, rows });
  let sent = 0;
  for await (const batch of batches(message(['columns']).columns)) {
    writeFrame(FD.out, { batch });
    sent += batch.rows;
  }
  send({ is: 'end', rows: sent });
}

const ARROW = { columns: openArrow, table: openArrowTable };

const READERS = {
  arrow: ARROW,
  arrows: ARROW,
  parquet: { columns: openParquet, table: openParquetTable },
};

const ARROW_WRITER = { columns: writeArrow, table: writeArrowTable };
const TEXT_WRITER = { columns: writeDuckdb, table: writeDuckdbTable };

const WRITERS = {
  arrow: ARROW_WRITER,
  arrows: ARROW_WRITER,
  parquet: { columns: writeParquet, table: writeParquetTable },
  csv: TEXT_WRITER,
  ndjson: TEXT_WRITER,
};

async function readTable(request: ReadTableMessage): Promise<void> {
  const { fields, rows, metadata, batches } = await READERS[request.format].table();
  send({ is: 'table', fields, rows, metadata });
  let sent = 0;
  for await (const batch of batches(message(['rows']))) {
    writeFrame(FD.out, { batch });
    sent += batch.rows;
  }
  send({ is: 'end', rows: sent });
}

/** The next batch of what is to be written; undefined behind the last one. */
function next(): Batch | undefined {
  const frame = receive();
  return 'batch' in frame ? frame.batch : undefined;
}

async function writeTable(request: WriteTableMessage): Promise<void> {
  send({ is: 'end', rows: await WRITERS[request.format].table(request, next) });
}

async function write(request: WriteMessage): Promise<void> {
  const { columns } = request;
  const source: ColumnSource = { ...request, columns, next };
  send({ is: 'end', rows: await WRITERS[request.format].columns(request, source) });
}

/** An error as the parent takes it: one of ours as it is, any other as what the file has brought about. */
function toClsortError(error: unknown): ClsortError {
  const cause = duckdbError(error);
  return cause instanceof ClsortError
    ? cause
    : new FormatError(cause instanceof Error ? cause.message : String(cause));
}

async function main(): Promise<void> {
  // The parent holds the other end, and never writes: it ends when the parent does, in whatever way.
  const lifeline = new Socket({ fd: FD.lifeline });
  lifeline.on('close', end).on('error', end).resume().unref();
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000'); // where memory runs out, this process is the one to go
  } catch {
    // Not every system has it.
  }
  try {
    const request = message(['read', 'write', 'read-table', 'write-table']);
    if (request.is === 'read') await read(request);
    else if (request.is === 'write') await write(request);
    else await (request.is === 'read-table' ? readTable(request) : writeTable(request));
  } catch (error) {
    const { code, message: what, details } = toClsortError(error);
    send({ is: 'error', code, message: what, details });
  }
}

// Nothing is left to do, and no library need be asked to close.
void main().finally(end);
