/** Writes record batches to Arrow IPC files and streams via apache-arrow. Runs in the subprocess. */
import { writeSync } from 'node:fs';
import type { RecordBatchWriter, Schema } from 'apache-arrow';
import type { ArrowPackage } from './arrow-file.js';
import { FD, type SubprocessFormat } from './protocol.js';

/** Returns a writer of record batches that writes synchronously; `finish` completes the file. */
export function arrowWriter(
  arrow: ArrowPackage,
  format: SubprocessFormat,
  schema: Schema,
): RecordBatchWriter {
  /** Writes chunks to the file synchronously. */
  class FileSink extends arrow.AsyncByteQueue {
    override write(chunk: Uint8Array): void {
      for (let at = 0; at < chunk.length; ) at += writeSync(FD.file, chunk, at);
    }
  }
  /** Adds the leading schema, which the package omits in files but stream readers require. */
  class FileWriter extends arrow.RecordBatchFileWriter {
    protected override _writeSchema(of: Schema): this {
      return super._writeSchema(of)._writeMessage(arrow.Message.from(of));
    }
  }
  const writer = format === 'arrows' ? new arrow.RecordBatchStreamWriter() : new FileWriter();
  writer.reset(new FileSink(), schema);
  return writer;
}
