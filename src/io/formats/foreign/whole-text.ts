/** Whether compressed texts are whole: DuckDB takes the beginning of one for all of it, and checks no sums. */
import { createReadStream } from 'node:fs';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';
import { FormatError, UnsupportedError } from '../../../util/errors.js';
import { assertGoing, PIECE_BYTES } from '../../raw.js';
import type { Compression } from './protocol.js';

/** Nodes before 22.15 have no zstd. */
const { createZstdDecompress } = zlib as unknown as {
  readonly createZstdDecompress?: typeof zlib.createGunzip;
};

const INFLATE = { gzip: zlib.createGunzip, zstd: createZstdDecompress };

/**
 * Goes once through a compressed file.
 *
 * @throws FormatError when it is cut or its sums are wrong, UnsupportedError where this Node cannot tell, AbortedError
 */
export async function assertWholeText(
  name: string,
  { fd, compression, signal }: { fd: number; compression: Compression; signal?: AbortSignal | undefined },
): Promise<void> {
  const inflate = INFLATE[compression];
  if (!inflate) {
    throw new UnsupportedError(
      `cannot read ${name}: it is compressed by ${compression}, which takes Node 22.15 or later; unpack it, or compress it by gzip`,
      { details: { path: name, compression } },
    );
  }
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const file = createReadStream('', { fd, start: 0, autoClose: false, highWaterMark: PIECE_BYTES });
  try {
    await pipeline(file, inflate(), nowhere, { ...(signal && { signal }) });
  } catch (cause) {
    assertGoing(signal);
    throw new FormatError(`cannot read ${name}: its ${compression} is broken: ${(cause as Error).message}`, {
      cause,
      details: { path: name, compression },
    });
  }
}
