/** What a file holds, as its name and its first and last bytes tell. */
import type { KeyFormat } from './key-file.js';
import { READABLE } from './readable.js';
import { REFUSED_FORMATS } from './refused-formats.js';
import { looksLikeText } from './text.js';

/** A format that files are told by. */
export interface FileFormat {
  /** With its article, for messages: 'a zip archive'. */
  readonly name: string;
  /** Last parts of names, in small letters and without the dot. */
  readonly extensions: readonly string[];
  /**
   * Whether a file that begins and ends so is one. It has to tell four bytes or more from random ones, and
   * what else the header says has to make sense: keys may have any value.
   *
   * @param tail  the end of the file; undefined where it is not known
   */
  readonly matches?: ((head: Uint8Array, tail: Uint8Array | undefined) => boolean) | undefined;
}

/** Bytes of the beginning that are looked at. */
export const HEAD_BYTES = 4096;
/** Bytes of the end that are looked at. */
export const TAIL_BYTES = 64;

const ALL: readonly FileFormat[] = [...READABLE, ...REFUSED_FORMATS];

/** The last part of a name, in small letters and without the dot; '' where there is none. */
export const extensionOf = (path: string): string =>
  (/[^/\\.][^/\\]*\.([^./\\]+)$/.exec(path)?.[1] ?? '').toLowerCase();

/** The format that files of such a name usually have; undefined for names that say nothing. */
export function formatOfName(path: string): FileFormat | undefined {
  const extension = extensionOf(path);
  return ALL.find(({ extensions }) => extensions.includes(extension));
}

const TEXT: FileFormat = { name: 'text', extensions: [] };

/** The format of a file that begins (and ends) so; undefined for what may well be keys. */
export function formatOfBytes(head: Uint8Array, tail?: Uint8Array): FileFormat | undefined {
  const found = ALL.find(({ matches }) => matches?.(head, tail));
  return found ?? (looksLikeText(head) ? TEXT : undefined);
}

/** Whether files of a format are read and written, or only known. */
export const isReadable = (format: FileFormat): format is KeyFormat =>
  (READABLE as readonly FileFormat[]).includes(format);
