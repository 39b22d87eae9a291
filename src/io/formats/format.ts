/** Detects the format of a file from its name and its first and last bytes. */
import type { FileFormat } from './file-format.js';
import type { KeyFormat } from './key-file.js';
import { READABLE } from './readable.js';
import { REFUSED_FORMATS } from './refused-formats.js';
import { looksLikeText, TEXT } from './text.js';

/** Length of the head that detection inspects. */
export const HEAD_BYTES = 4096;
/** Length of the tail that detection inspects. */
export const TAIL_BYTES = 64;

const ALL: readonly FileFormat[] = [...READABLE, ...REFUSED_FORMATS];

/** Returns the extension of a path, lowercase and without the dot, or '' if it has none. */
export const extensionOf = (path: string): string =>
  (/[^/\\.][^/\\]*\.([^./\\]+)$/.exec(path)?.[1] ?? '').toLowerCase();

/** Returns the format that the extension of a path stands for; undefined for an unknown extension. */
export function formatOfName(path: string): FileFormat | undefined {
  const extension = extensionOf(path);
  return ALL.find(({ extensions }) => extensions.includes(extension));
}

/** Returns the format that the first (and last) bytes identify; undefined if they may be raw keys. */
export function formatOfBytes(head: Uint8Array, tail?: Uint8Array): FileFormat | undefined {
  const found = ALL.find(({ matches }) => matches?.(head, tail));
  return found ?? (looksLikeText(head) ? TEXT : undefined);
}

/** Returns whether clsort reads and writes a format, rather than only detecting it. */
export const isReadable = (format: FileFormat): format is KeyFormat =>
  (READABLE as readonly FileFormat[]).includes(format);
