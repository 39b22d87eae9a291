import { Readable } from 'node:stream';
import test from 'ava';
import { encodeFrame, type Frame, framesOf } from '../../../../src/io/formats/subprocess/frames.js';

const FRAMES: readonly Frame[] = [
  { message: { is: 'table', fields: [{ name: 'ä "k"', text: 'INTEGER', type: { is: 'i32' } }], rows: null } },
  { batch: { rows: 3, buffers: [Uint8Array.of(), Uint8Array.of(1, 2, 3), Uint8Array.of(4)] } },
  { batch: { rows: 0, buffers: [] } },
  { batch: { rows: 2, buffers: [new Uint8Array(100_000).fill(7)] } },
  { message: { is: 'end', rows: 2 ** 40 } },
];

const bytes = Buffer.concat(FRAMES.flatMap(encodeFrame));

const cut = (length: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
      bytes.subarray(i * length, (i + 1) * length),
    ),
  );

async function all(stream: Readable): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of framesOf(stream)) frames.push(frame);
  return frames;
}

test('frames are read from chunks of any length', async (t) => {
  for (const length of [1, 7, 8, 9, 4096, bytes.length])
    t.deepEqual(await all(cut(length)), [...FRAMES], `${length}`);
});

test('buffers are aligned to 8 bytes', async (t) => {
  for (const frame of await all(cut(1000))) {
    if ('batch' in frame) for (const buffer of frame.batch.buffers) t.is(buffer.byteOffset % 8, 0);
  }
});

test('a truncated stream yields its complete frames, and invalid data is an error', async (t) => {
  t.deepEqual(await all(Readable.from([bytes.subarray(0, -1)])), FRAMES.slice(0, -1));
  await t.throwsAsync(all(Readable.from([Buffer.from('Segmentation fault (core dumped)')])), {
    message: /a frame of the subprocess is invalid/,
  });
});
