/** Streams over file descriptors that hold no thread of the pool while they wait, where the system allows it. */
import { createReadStream, fstatSync, writeSync } from 'node:fs';
import { Socket, type SocketConstructorOpts } from 'node:net';
import { type Readable, Writable } from 'node:stream';
import { isatty, ReadStream, WriteStream } from 'node:tty';

function isPipe(fd: number): boolean {
  const stat = fstatSync(fd);
  return stat.isFIFO() || stat.isSocket();
}

/** What comes from `fd`; nothing is read before somebody asks for it. */
export function readableOf(fd: number): Readable {
  if (isatty(fd)) return new ReadStream(fd);
  // Without manualStart the constructor begins to read, and what nobody wants would be lost to a child.
  const options: SocketConstructorOpts & { manualStart: boolean } = {
    fd,
    readable: true,
    writable: false,
    manualStart: true,
  };
  if (isPipe(fd)) return new Socket(options);
  return createReadStream('', { fd });
}

/** What goes to `fd`. Lines to a file and lines to another descriptor of it stay in their order. */
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
      setImmediate(done, failure); // so that a long output lets other events through
    },
  });
}

/** Waits until all that was written has left; never rejects, since who writes hears of failures. */
export const flushed = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write('', () => resolve());
  });
