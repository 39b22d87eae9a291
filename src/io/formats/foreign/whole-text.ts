/** Whether compressed texts are whole: DuckDB takes the beginning of one for all of it, and checks no sums. */
import { read } from 'node:fs';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { FormatError } from '../../../util/errors.js';
import { inflated } from '../../inflated.js';
import { assertGoing, PIECE_BYTES } from '../../raw.js';
import type { Compression } from './protocol.js';

/** Nodes before 22.15 have no zstd. */
const { createZstdDecompress } = zlib as unknown as {
  readonly createZstdDecompress?: typeof zlib.createGunzip;
};

const readAt = promisify(read);

const INFLATE = { gzip: zlib.createGunzip, zstd: createZstdDecompress };

/**
 * Goes once through a compressed file.
 *
 * @throws FormatError when it is cut or its sums are wrong, or this Node cannot tell, AbortedError
 */
export async function assertWholeText(
  name: string,
  { fd, compression, signal }: { fd: number; compression: Compression; signal?: AbortSignal | undefined },
): Promise<void> {
  const inflate = INFLATE[compression];
  if (!inflate) {
    throw new FormatError(
      `cannot read ${name}: it is compressed by ${compression}, which takes Node 22.15 or later; unpack it, or compress it by gzip`,
      { details: { path: name, compression } },
    );
  }
  const file = new Bytes(fd);
  try {
    for await (const _ of inflated(inflate(), file.pieces())) assertGoing(signal);
  } catch (cause) {
    assertGoing(signal);
    throw new FormatError(`cannot read ${name}: its ${compression} is broken: ${(cause as Error).message}`, {
      cause,
      details: { path: name, compression },
    });
  } finally {
    await file.left();
  }
}

/** What a descriptor of somebody else's gives: a stream of Node's would close it when it is destroyed, whatever `autoClose` says. */
class Bytes {
  readonly #fd: number;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** From the beginning on. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; ; ) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const reading = readAt(this.#fd, piece, 0, piece.length, at);
      this.#reading = reading;
      const { bytesRead } = await reading;
      if (bytesRead === 0) return;
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  /** Waits until nothing reads any more, so that the descriptor may be closed. */
  async left(): Promise<void> {
    await this.#reading.catch(() => undefined);
  }
}
