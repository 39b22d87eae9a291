import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { runBufferedPipeline } from '../../../src/io/streams/buffered-pipeline.js';

for (const [concurrency, places] of [
  [1, 2],
  [3, 4],
  [2, 5],
] as const) {
  test(`pieces are consumed in order from ${places} buffers, with ${concurrency} produced at a time`, async (t) => {
    const buffers = Array.from({ length: places }, () => ({ piece: -1 }));
    const taken: number[] = [];
    let making = 0;
    let maxRunning = 0;
    await runBufferedPipeline({
      count: 20,
      buffers,
      concurrency,
      produce: async (piece, buffer) => {
        maxRunning = Math.max(maxRunning, ++making);
        for (let i = 0; i < 1 + ((7 * piece) % 5); i++) await setImmediate();
        buffer.piece = piece;
        making--;
      },
      consume: async (piece, buffer) => {
        t.is(buffer.piece, piece);
        await setImmediate();
        t.is(buffer.piece, piece, 'the buffer is not reused meanwhile');
        taken.push(piece);
      },
    });
    t.deepEqual(taken, [...Array(20).keys()]);
    t.is(maxRunning, concurrency);
  });
}

test('a failure rejects once no buffer is in use', async (t) => {
  for (const fails of ['make', 'take'] as const) {
    let making = 0;
    const work = {
      count: 9,
      buffers: [0, 1, 2],
      concurrency: 2,
      produce: async (piece: number) => {
        making++;
        await setImmediate();
        making--;
        if (fails === 'make' && piece === 3) throw new Error('broken');
      },
      consume: async (piece: number) => {
        if (fails === 'take' && piece === 3) throw new Error('broken');
      },
    };
    await t.throwsAsync(runBufferedPipeline(work), { message: 'broken' });
    t.is(making, 0);
  }
  const never = async () => t.fail();
  await t.notThrowsAsync(
    runBufferedPipeline({ count: 0, buffers: [0, 1], concurrency: 1, produce: never, consume: never }),
  );
});
