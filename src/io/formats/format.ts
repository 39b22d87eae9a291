/** What a file holds besides raw keys, as its name and its first and last bytes tell. */
import { FORMATS } from './known.js';
import { looksLikeText } from './text.js';

/** A format that is known but, so far, not read. */
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
  readonly matches?: (head: Uint8Array, tail: Uint8Array | undefined) => boolean;
}

/** Bytes of the beginning that are looked at. */
export const HEAD_BYTES = 4096;
/** Bytes of the end that are looked at. */
export const TAIL_BYTES = 64;

/** The format that files of such a name usually have; undefined for names that say nothing. */
export function formatOfName(path: string): FileFormat | undefined {
  const [, extension = ''] = /[^/\\.][^/\\]*\.([^./\\]+)$/.exec(path) ?? [];
  return FORMATS.find(({ extensions }) => extensions.includes(extension.toLowerCase()));
}

const TEXT: FileFormat = { name: 'text', extensions: [] };

/** The format of a file that begins (and ends) so; undefined for what may well be keys. */
export function formatOfBytes(head: Uint8Array, tail?: Uint8Array): FileFormat | undefined {
  const found = FORMATS.find(({ matches }) => matches?.(head, tail));
  return found ?? (looksLikeText(head) ? TEXT : undefined);
}
