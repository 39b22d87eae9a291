/** Detects the format of a file from its name and its first and last bytes. */
import type { KeyFormat } from './key-file.js';
import { READABLE } from './readable.js';
import { REFUSED_FORMATS } from './refused-formats.js';
import { looksLikeText } from './text.js';

/** A file format that can be detected. */
export interface FileFormat {
  /** Display name with its article, for messages: `a zip archive`. */
  readonly name: string;
  /** File extensions, lowercase and without the dot. */
  readonly extensions: readonly string[];
  /**
   * Tests whether a file with these first and last bytes has this format. The test must check at least four fixed
   * bytes and the plausibility of the remaining header, because raw keys may have any value.
   *
   * @param head  the first bytes of the file
   * @param tail  the last bytes of the file; undefined when unknown
   */
  readonly matches?: ((head: Uint8Array, tail: Uint8Array | undefined) => boolean) | undefined;
}

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

const TEXT: FileFormat = { name: 'text', extensions: [] };

/** Returns the format that the first (and last) bytes identify; undefined if they may be raw keys. */
export function formatOfBytes(head: Uint8Array, tail?: Uint8Array): FileFormat | undefined {
  const found = ALL.find(({ matches }) => matches?.(head, tail));
  return found ?? (looksLikeText(head) ? TEXT : undefined);
}

/** Returns whether clsort reads and writes a format, rather than only detecting it. */
export const isReadable = (format: FileFormat): format is KeyFormat =>
  (READABLE as readonly FileFormat[]).includes(format);
