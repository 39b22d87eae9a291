/** Recognises lines of text, by the name of a file or the first bytes of a stream. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { factsOfName } from '../formats/file-name.js';
import { lines } from '../formats/lines.js';
import { looksLikeLines } from '../formats/text.js';
import { isStdin } from '../streams/raw.js';

/** Returns whether all inputs are lines of text, by their names; stdin by its first bytes. */
export async function areLines(paths: readonly string[], stdin: Readable): Promise<boolean> {
  for (const path of paths) {
    if (!(isStdin(path) ? await startsWithLines(stdin) : factsOfName(path).format === lines)) return false;
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
  return looksLikeLines(head);
}
