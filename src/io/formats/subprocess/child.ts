/**
 * Main program of the subprocess that reads or writes one file of another format. A crash of a format library ends
 * only this process. It gets the file and four pipes, and exits with its parent.
 */
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { ClsortError, FormatError } from '../../../util/errors.js';
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
import { openArrowTable } from './tables/arrow-table-reader.js';
import { writeArrowTable } from './tables/arrow-table-writer.js';
import { writeDuckdbTable } from './tables/duckdb-table-writer.js';
import { openParquet, openParquetTable } from './tables/parquet-table.js';
import { writeParquet, writeParquetTable } from './tables/parquet-writer.js';

/** Exits immediately, even while a library is busy. */
const end = (): void => void process.kill(process.pid, 'SIGKILL');

const send = (message: Message): void => writeFrame(FD.out, { message });

/** Waits for the next frame of the parent; exits if the pipe is closed. */
function receive(): ReturnType<typeof readFrame> & object {
  const frame = readFrame(FD.in);
  if (!frame) end();
  return frame as ReturnType<typeof readFrame> & object;
}

function message<Is extends Message['is']>(is: readonly Is[]): Extract<Message, { readonly is: Is }> {
  const frame = receive();
  if ('message' in frame && (is as readonly string[]).includes(frame.message.is))
    return frame.message as never;
  throw new Error(`expected ${is.join(' or ')} as the next message`);
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

/** Returns the next batch to write; undefined after the last one. */
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

/** Converts an error to a ClsortError. Errors of a library become a FormatError, because the file caused them. */
function toClsortError(error: unknown): ClsortError {
  const cause = duckdbError(error);
  return cause instanceof ClsortError
    ? cause
    : new FormatError(cause instanceof Error ? cause.message : String(cause));
}

async function main(): Promise<void> {
  // The parent keeps the other end open without writing, so the pipe closes whenever the parent exits.
  const lifeline = new Socket({ fd: FD.lifeline });
  lifeline.on('close', end).on('error', end).resume().unref();
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000'); // makes the kernel's OOM killer pick this process first
  } catch {
    // Not supported on every system.
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

// Nothing is left to do, and closing the libraries is unnecessary.
void main().finally(end);
