/** What a file was: by which it is told later that nobody has changed it. */
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { assertGoing } from '../io/raw.js';

export interface FileState {
  readonly bytes: number;
  /** Time of change, in nanoseconds since 1970, as a decimal number. */
  readonly modified: string;
}

export interface SummedState extends FileState {
  /** `crc32:` and eight digits; left out where it cannot be told of these very bytes. */
  readonly checksum?: string;
}

/** The state of a file; undefined where there is none, or what is there is no file, such as a pipe. */
export function fileState(path: string): FileState | undefined {
  try {
    const found = statSync(path, { bigint: true });
    return found.isFile() ? { bytes: Number(found.size), modified: String(found.mtimeNs) } : undefined;
  } catch {
    return undefined;
  }
}

export const isSameState = (a: FileState | undefined, b: FileState | undefined): boolean =>
  a !== undefined && b !== undefined && a.bytes === b.bytes && a.modified === b.modified;

const PIECE_BYTES = 4 * 2 ** 20;

/** Adds its checksum to the state of a file, which is left out when the file has changed since. @throws as reading does */
export async function summed(path: string, state: FileState, signal: AbortSignal): Promise<SummedState> {
  const handle = await open(path, 'r');
  let sum = 0;
  try {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, Math.max(1, state.bytes)));
    for (let at = 0; at < state.bytes; ) {
      assertGoing(signal);
      const { bytesRead } = await handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0) break;
      sum = crc32(piece.subarray(0, bytesRead), sum);
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
  if (!isSameState(fileState(path), state)) return state;
  return { ...state, checksum: `crc32:${sum.toString(16).padStart(8, '0')}` };
}
