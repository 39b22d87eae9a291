/**
 * Main program of the subprocess that reads or writes one file of another format. A crash of a format library ends
 * only this process. It gets the file and four pipes, and exits with its parent.
 */
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { ClsortError, FormatError } from '../../../util/errors.js';
import { duckdbError } from './duckdb.js';
import { readFrame, writeFrame } from './frames.js';
import { type Batch, FD, type Message, type ReadMessage, type WriteMessage } from './protocol.js';
import { openArrowTable } from './tables/arrow-table-reader.js';
import { writeArrowTable } from './tables/arrow-table-writer.js';
import { writeDuckdbTable } from './tables/duckdb-table-writer.js';
import { openParquetTable } from './tables/parquet-table.js';
import { writeParquetTable } from './tables/parquet-writer.js';

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

const READERS = { arrow: openArrowTable, arrows: openArrowTable, parquet: openParquetTable };

const WRITERS = {
  arrow: writeArrowTable,
  arrows: writeArrowTable,
  parquet: writeParquetTable,
  csv: writeDuckdbTable,
  ndjson: writeDuckdbTable,
};

async function read({ format }: ReadMessage): Promise<void> {
  const { fields, rows, metadata, batches } = await READERS[format]();
  send({ is: 'table', fields, rows, metadata });
  let sent = 0;
  for await (const batch of batches(message(['rows', 'columns', 'first keys']))) {
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

async function write(request: WriteMessage): Promise<void> {
  send({ is: 'end', rows: await WRITERS[request.format](request, next) });
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
    const request = message(['read', 'write']);
    await (request.is === 'read' ? read(request) : write(request));
  } catch (error) {
    const { code, message: what, details } = toClsortError(error);
    send({ is: 'error', code, message: what, details });
  }
}

// Nothing is left to do, and closing the libraries is unnecessary.
void main().finally(end);
