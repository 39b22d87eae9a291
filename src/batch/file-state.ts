/** What a file was: by which it is told later that nobody has changed it. */
import { type BigIntStats, statSync } from 'node:fs';

export interface FileState {
  readonly bytes: number;
  /** Time of change, in nanoseconds since 1970, as a decimal number. */
  readonly modified: string;
}

export interface ChecksummedState extends FileState {
  /**
   * The kind of checksum and its digits, `xxh64:` (of seed 0) and where there is no addon `crc32:`; left out where it cannot be
   * told of these very bytes.
   */
  readonly checksum?: string;
}

/** The state of a file; undefined where there is none, or what is there is no file, such as a pipe. */
export function fileState(path: string): FileState | undefined {
  try {
    const found = statSync(path, { bigint: true });
    return found.isFile() ? stateOf(found) : undefined;
  } catch {
    return undefined;
  }
}

export const stateOf = ({ size, mtimeNs }: BigIntStats): FileState => ({
  bytes: Number(size),
  modified: String(mtimeNs),
});

/** @param b may be of a journal that something has damaged */
export const isSameState = (a: FileState | undefined, b: FileState | null | undefined): boolean =>
  a !== undefined && a.bytes === b?.bytes && a.modified === b?.modified;
