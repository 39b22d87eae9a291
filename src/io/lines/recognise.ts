/** Recognises lines of text, by the name of a file or the first bytes of a stream. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { COMPRESSIONS } from '../streams/compression.js';
import { isStdin } from '../streams/raw.js';

const EXTENSIONS = ['txt', 'lines'];

/** Returns whether the name is that of lines: `.txt` or `.lines`, perhaps compressed. */
function isLineFile(path: string): boolean {
  const packed = COMPRESSIONS.find(({ extension }) => path.endsWith(`.${extension}`));
  const name = packed ? path.slice(0, -packed.extension.length - 1) : path;
  return EXTENSIONS.some((extension) => name.endsWith(`.${extension}`));
}

/** Returns whether all inputs are lines of text, by their names; stdin by its first bytes. */
export async function areLines(paths: readonly string[], stdin: Readable): Promise<boolean> {
  for (const path of paths) {
    if (!(isStdin(path) ? await startsWithLines(stdin) : isLineFile(path))) return false;
  }
  return true;
}

/** Returns whether a stream starts with text other than JSON. The bytes stay in the stream. */
async function startsWithLines(stream: Readable): Promise<boolean> {
  let head = stream.read() as Buffer | null;
  while (head === null && !stream.readableEnded) {
    await Promise.race([once(stream, 'readable'), once(stream, 'end')]);
    head = stream.read() as Buffer | null;
  }
  if (head === null) return false;
  stream.unshift(head);
  const isText = head.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d));
  return isText && head[0] !== 0x7b;
}
