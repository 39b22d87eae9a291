import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { throughRooms } from '../../src/io/through-rooms.js';

for (const [ahead, places] of [
  [1, 2],
  [3, 4],
  [2, 5],
] as const) {
  test(`pieces are consumed in order from ${places} buffers, with ${ahead} produced at a time`, async (t) => {
    const rooms = Array.from({ length: places }, () => ({ piece: -1 }));
    const taken: number[] = [];
    let making = 0;
    let most = 0;
    await throughRooms({
      count: 20,
      rooms,
      ahead,
      make: async (piece, room) => {
        most = Math.max(most, ++making);
        for (let i = 0; i < 1 + ((7 * piece) % 5); i++) await setImmediate();
        room.piece = piece;
        making--;
      },
      take: async (piece, room) => {
        t.is(room.piece, piece);
        await setImmediate();
        t.is(room.piece, piece, 'the buffer is not reused meanwhile');
        taken.push(piece);
      },
    });
    t.deepEqual(taken, [...Array(20).keys()]);
    t.is(most, ahead);
  });
}

test('a failure rejects once no buffer is in use', async (t) => {
  for (const fails of ['make', 'take'] as const) {
    let making = 0;
    const work = {
      count: 9,
      rooms: [0, 1, 2],
      ahead: 2,
      make: async (piece: number) => {
        making++;
        await setImmediate();
        making--;
        if (fails === 'make' && piece === 3) throw new Error('broken');
      },
      take: async (piece: number) => {
        if (fails === 'take' && piece === 3) throw new Error('broken');
      },
    };
    await t.throwsAsync(throughRooms(work), { message: 'broken' });
    t.is(making, 0);
  }
  const never = async () => t.fail();
  await t.notThrowsAsync(throughRooms({ count: 0, rooms: [0, 1], ahead: 1, make: never, take: never }));
});
