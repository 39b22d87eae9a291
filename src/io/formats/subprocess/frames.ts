/**
 * Encodes messages and batches for a pipe. A frame is its kind and its content length (4 bytes each, little-endian),
 * then the content: JSON, or a batch whose buffers are aligned to 8 bytes.
 */
import { readSync, writeSync } from 'node:fs';
import type { Batch, Message } from './protocol.js';

export type Frame = { readonly message: Message } | { readonly batch: Batch };

/** Kinds of frames, and bytes of their header. */
const MESSAGE = 1;
const BATCH = 2;
const HEAD_BYTES = 8;
/** Maximum content length. The receiver allocates this much memory on request. */
export const MAX_BYTES = 2 ** 28;
/** Contents are padded to a multiple of this many bytes, so that arrays of 64-bit values are aligned. */
const ALIGNMENT = 8;

const padding = (bytes: number): number => -bytes & (ALIGNMENT - 1);

/** Returns the consecutive parts of a frame, without copying buffers. */
export function encodeFrame(frame: Frame): Uint8Array[] {
  const contents =
    'message' in frame ? [Buffer.from(JSON.stringify(frame.message))] : batchParts(frame.batch);
  const head = new Uint32Array([
    'message' in frame ? MESSAGE : BATCH,
    contents.reduce((sum, { length }) => sum + length, 0),
  ]);
  return [new Uint8Array(head.buffer), ...contents];
}

function batchParts({ rows, buffers }: Batch): Uint8Array[] {
  const lengths = new Uint32Array([rows, buffers.length, ...buffers.map(({ length }) => length)]);
  const table = new Uint8Array(lengths.buffer);
  return [table, ...buffers].flatMap((part) => [part, new Uint8Array(padding(part.length))]);
}

/** @param contents  must own its memory: the buffers of the batch are views of it */
function decodeFrame(kind: number, contents: Uint8Array): Frame {
  if (kind === MESSAGE) return { message: JSON.parse(Buffer.from(contents).toString()) as Message };
  const [rows = 0, count = 0, ...lengths] = new Uint32Array(contents.buffer, 0, 2 + tableCount(contents));
  let at = (2 + count) * 4;
  const buffers = lengths.map((length) => {
    at += padding(at);
    at += length;
    return contents.subarray(at - length, at);
  });
  return { batch: { rows, buffers } };
}

const tableCount = (contents: Uint8Array): number => new Uint32Array(contents.buffer, 4, 1)[0] ?? 0;

function decodeHead(head: Uint8Array): { readonly kind: number; readonly bytes: number } {
  const [kind = 0, bytes = 0] = new Uint32Array(head.slice(0, HEAD_BYTES).buffer);
  if ((kind !== MESSAGE && kind !== BATCH) || bytes > MAX_BYTES)
    throw new Error('a frame of the subprocess is invalid');
  return { kind, bytes };
}

/** Yields the frames of a stream. An incomplete last frame is dropped. */
export async function* framesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const head = new Uint8Array(HEAD_BYTES);
  let kind = 0;
  let target: Uint8Array = head;
  let filled = 0;
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + target.length - filled);
      target.set(taken, filled);
      filled += taken.length;
      at += taken.length;
      if (filled < target.length) continue;
      if (target === head) {
        const found = decodeHead(head);
        kind = found.kind;
        target = new Uint8Array(found.bytes);
      } else {
        yield decodeFrame(kind, target);
        target = head;
      }
      filled = 0;
    }
  }
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));
/** Milliseconds between two attempts on a pipe that is not ready. */
const PAUSE_MILLISECONDS = 1;

/** Blocks until the next frame arrives; returns undefined at the end of the pipe. */
export function readFrame(fd: number): Frame | undefined {
  const head = readFully(fd, HEAD_BYTES);
  if (!head) return undefined;
  const { kind, bytes } = decodeHead(head);
  const contents = readFully(fd, bytes);
  return contents && decodeFrame(kind, contents);
}

/** Retries until the pipe is ready: preloaded modules, such as Yarn's, may make it non-blocking. */
function blocking(transfer: () => number): number {
  for (;;) {
    try {
      return transfer();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(PAUSE, 0, 0, PAUSE_MILLISECONDS);
    }
  }
}

function readFully(fd: number, bytes: number): Uint8Array | undefined {
  const all = new Uint8Array(bytes);
  for (let at = 0; at < bytes; ) {
    const read = blocking(() => readSync(fd, all, at, bytes - at, null));
    if (read === 0) return undefined;
    at += read;
  }
  return all;
}

/** Joins small parts: one write takes as long as a copy of this many bytes. */
const SMALL_BYTES = 2 ** 14;

const joinSmall = (parts: Uint8Array[]): Uint8Array[] =>
  parts.reduce((sum, { length }) => sum + length, 0) <= SMALL_BYTES ? [Buffer.concat(parts)] : parts;

/** Writes a frame to a pipe, and blocks while the pipe is full. */
export function writeFrame(fd: number, frame: Frame): void {
  for (const part of joinSmall(encodeFrame(frame))) {
    for (let at = 0; at < part.length; ) {
      const from = at;
      at += blocking(() => writeSync(fd, part, from));
    }
  }
}
