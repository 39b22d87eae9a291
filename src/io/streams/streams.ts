/** Streams over file descriptors that do not occupy a pool thread while waiting, where the system supports it. */
import { createReadStream, fstatSync, writeSync } from 'node:fs';
import { Socket, type SocketConstructorOpts } from 'node:net';
import { type Readable, Writable } from 'node:stream';
import { isatty, ReadStream, WriteStream } from 'node:tty';

function isPipe(fd: number): boolean {
  const stat = fstatSync(fd);
  return stat.isFIFO() || stat.isSocket();
}

/** Returns a readable stream over `fd`, which reads nothing until it is consumed. */
export function readableOf(fd: number): Readable {
  if (isatty(fd)) return new ReadStream(fd);
  // Without manualStart the constructor starts to read, and a child process would miss those bytes.
  const options: SocketConstructorOpts & { manualStart: boolean } = {
    fd,
    readable: true,
    writable: false,
    manualStart: true,
  };
  if (isPipe(fd)) return new Socket(options);
  return createReadStream('', { fd });
}

/**
 * Returns a writable stream over `fd`. Writes to files are synchronous, which preserves their order across descriptors.
 */
export function writableOf(fd: number): Writable & { readonly isTTY?: boolean; readonly columns?: number } {
  if (isatty(fd)) return new WriteStream(fd);
  if (isPipe(fd)) return new Socket({ fd, readable: false, writable: true });
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      let failure: Error | undefined;
      try {
        for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
      } catch (error) {
        failure = error as Error;
      }
      setImmediate(done, failure); // lets other events run during a long output
    },
  });
}

/** Resolves when all earlier writes are flushed; never rejects, since each write reports its own failure. */
export const flushed = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write('', () => resolve());
  });
