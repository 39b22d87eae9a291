/** The state of a file, to detect later changes. */
import { type BigIntStats, statSync } from 'node:fs';

export interface FileState {
  readonly bytes: number;
  /** Time of last modification in nanoseconds since 1970, as a decimal number. */
  readonly modified: string;
}

export interface ChecksummedState extends FileState {
  /**
   * Algorithm and digits: `xxh64:` (seed 0), or `crc32:` without the addon. Absent when the file changed before its
   * checksum was complete.
   */
  readonly checksum?: string;
}

/** Returns the state of a file; undefined when it does not exist or is not a regular file. */
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

/** @param b may come from a damaged journal */
export const isSameState = (a: FileState | undefined, b: FileState | null | undefined): boolean =>
  a !== undefined && a.bytes === b?.bytes && a.modified === b?.modified;
