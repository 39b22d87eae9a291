/** Words that launches leave for the host. */
import test from 'ava';
import { Board, type Slot } from '../../src/device/board.js';
import { forEachDevice } from '../each-device.js';

forEachDevice((title, device) => {
  test.serial(
    title('words of a board are lent apart, told with the wait, and lent again behind it'),
    async (t) => {
      const opened = await device();
      const { queue } = opened;
      await queue.finish();
      for (let round = 0; round < 3; round++) {
        const lent = Array.from({ length: 5 }, (_, i) => Board.written(opened, i + 1));
        const zero = [Board.slot(opened), Board.slot(opened)];
        for (const [i, { board, at }] of lent.entries()) {
          const words = Uint32Array.from({ length: i + 1 }, (_, word) => 1000 * round + 10 * i + word);
          queue.write(board, words, 4 * at);
        }
        // What one launch writes is left alone by the next.
        const [left, written] = (round % 2 ? zero.reverse() : zero) as [Slot, Slot];
        queue.write(written.board, Uint32Array.of(7), 4 * written.at);
        await queue.finish();
        for (const [i, slot] of lent.entries()) {
          const expected = Array.from({ length: i + 1 }, (_, word) => 1000 * round + 10 * i + word);
          t.deepEqual([...slot.words()], expected, `round ${round}, ${i}`);
        }
        // What an earlier launch has left is not there any more.
        t.is(left.word(), 0);
        t.is(written.word(), 7);
      }
    },
  );

  test.serial(title('launches that want more words than a board has get them from another'), async (t) => {
    const opened = await device();
    await opened.queue.finish();
    const lent = Array.from({ length: 5 }, () => Board.written(opened, Board.MOST / 2));
    const places = lent.map(({ board, at }) => [board, at] as const);
    for (const [i, [board, at]] of places.entries()) {
      t.false(places.slice(0, i).some(([other, place]) => other === board && place === at));
      opened.queue.write(board, Uint32Array.of(i, i + 1), 4 * at);
    }
    await opened.queue.finish();
    t.deepEqual(
      lent.map((slot) => [...slot.words().subarray(0, 2)]),
      lent.map((_, i) => [i, i + 1]),
    );
    t.true(lent.every((slot) => slot.words().length === Board.MOST / 2));
  });
});
