/** Unnamed temporary files, for data that has to be in a file but is not. */
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Output } from '../../streams/output.js';
import { PIECE_BYTES } from '../../streams/policy.js';
import { assertNotAborted, ioError, type Source, writeFully } from '../../streams/raw.js';
import { temporaryName } from '../../streams/temporary-files.js';

/**
 * Creates an empty, unlinked file in the system's temporary folder. It disappears when it is closed or the process
 * exits.
 *
 * @throws IoError when the file cannot be created
 */
export async function spool(): Promise<FileHandle> {
  const path = join(tmpdir(), temporaryName('spool'));
  try {
    const handle = await open(path, 'wx+', 0o600);
    await unlink(path);
    return handle;
  } catch (error) {
    throw ioError('write', path, error);
  }
}

/** Copies a source to a temporary file, which the caller has to close. */
export async function spoolSource(source: Source, signal: AbortSignal | undefined): Promise<FileHandle> {
  const handle = await spool();
  try {
    for await (const piece of source.pieces(1)) {
      assertNotAborted(signal);
      await writeFully(handle, piece, 'a temporary file');
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export async function copySpool(handle: FileHandle, output: Output): Promise<void> {
  const piece = new Uint8Array(PIECE_BYTES);
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    if (bytesRead === 0) return;
    await output.write(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
}
