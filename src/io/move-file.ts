/** Stretches of files that somebody else reads or writes, and hashes on the way. */
import type { FileRange, FileTransferResult, ThreadSeconds } from '../device/staging.js';
import { IoError } from '../util/errors.js';
import type { FileHash } from './file-hash.js';
import { assertNotAborted, ioError } from './raw.js';

/** Bytes that are moved before it is told how far it is; tests have fewer. */
const PART_BYTES = 128 * 2 ** 20;

/** What is to be moved. */
export interface MovedFile {
  /** For messages. */
  readonly name: string;
  readonly fd: number;
  /** Bytes from the file's start. */
  readonly position: number;
  readonly bytes: number;
  readonly hash?: FileHash | undefined;
  readonly signal: AbortSignal;
  readonly partBytes?: number | undefined;
}

/**
 * Moves a stretch of a file in parts.
 *
 * @param move moves one, which begins at byte `at` of all
 * @param onMoved hears how many bytes were moved so far
 * @returns what the threads did that moved them
 * @throws IoError, AbortedError; what `move` throws
 */
export async function moveFile(
  what: 'read' | 'write',
  { name, fd, position, bytes, hash, signal, partBytes = PART_BYTES }: MovedFile,
  move: (file: FileRange, at: number) => Promise<FileTransferResult>,
  onMoved: (bytes: number) => void,
): Promise<ThreadSeconds> {
  let threads: ThreadSeconds = { file: 0, hash: 0, turn: 0, device: 0 };
  for (let at = 0; at < bytes; at += partBytes) {
    assertNotAborted(signal);
    const part = { fd, position: position + at, bytes: Math.min(partBytes, bytes - at), signal };
    let made: FileTransferResult = { moved: 0, error: undefined, threads };
    const go = async (state?: FileRange['hash']): Promise<number> => {
      made = await move({ ...part, hash: state }, at);
      return made.moved;
    };
    await (hash ? hash.hashWhileMoving(part.position, go) : go());
    assertNotAborted(signal);
    if (made.error) throw ioError(what, name, made.error);
    if (made.moved < part.bytes) {
      const end = part.position + part.bytes;
      throw new IoError(`cannot ${what} ${name}: it has fewer than ${end} bytes; it was cut meanwhile`, {
        details: { path: name },
      });
    }
    threads = sumOf(threads, made.threads);
    onMoved(at + part.bytes);
  }
  return threads;
}

const sumOf = (a: ThreadSeconds, b: ThreadSeconds): ThreadSeconds => ({
  file: a.file + b.file,
  hash: a.hash + b.hash,
  turn: a.turn + b.turn,
  device: a.device + b.device,
});
