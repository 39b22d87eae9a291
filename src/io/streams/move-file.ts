/** Transfers of file ranges by native threads, with hashing on the way. */
import type { FileRange, FileTransferResult, ThreadSeconds } from '../../device/memory/staging.js';
import { IoError } from '../../util/errors.js';
import type { FileHash } from './file-hash.js';
import { assertNotAborted, ioError } from './raw.js';

/** Bytes per transfer, between two progress reports; tests use fewer. */
const PART_BYTES = 128 * 2 ** 20;

/** The file range to transfer. */
export interface MovedFile {
  /** Name for messages. */
  readonly name: string;
  readonly fd: number;
  /** Byte offset from the start of the file. */
  readonly position: number;
  readonly bytes: number;
  readonly hash?: FileHash | undefined;
  readonly signal: AbortSignal;
  readonly partBytes?: number | undefined;
}

/**
 * Transfers a file range in parts.
 *
 * @param what direction, for messages
 * @param range file, offset, length, hash and signal
 * @param move transfers one part that starts `at` bytes into the range
 * @param onMoved receives the number of bytes transferred so far
 * @returns the seconds that the transfer threads spent
 * @throws IoError when a transfer fails or the file was truncated
 * @throws AbortedError when the signal aborts
 * @throws errors of `move`
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
      throw new IoError(
        `cannot ${what} ${name}: it was truncated to fewer than ${end} bytes during the transfer`,
        { details: { path: name } },
      );
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
