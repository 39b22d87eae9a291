/** Words that launches leave for the host. */
import test from 'ava';
import { Board, type Slot } from '../../src/device/board.js';
import { forEachDevice } from '../each-device.js';

forEachDevice((title, device) => {
  test.serial(title('status words are disjoint, read back by the wait, and reused after it'), async (t) => {
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
      // A launch does not change the words of another one.
      const [left, written] = (round % 2 ? zero.reverse() : zero) as [Slot, Slot];
      queue.write(written.board, Uint32Array.of(7), 4 * written.at);
      await queue.finish();
      for (const [i, slot] of lent.entries()) {
        const expected = Array.from({ length: i + 1 }, (_, word) => 1000 * round + 10 * i + word);
        t.deepEqual([...slot.words()], expected, `round ${round}, ${i}`);
      }
      // Words of an earlier launch are cleared.
      t.is(left.word(), 0);
      t.is(written.word(), 7);
    }
  });

  test.serial(
    title('launches that need more status words than one buffer holds get them from another buffer'),
    async (t) => {
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
    },
  );
});
