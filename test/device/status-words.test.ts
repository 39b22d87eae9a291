/** Words that launches leave for the host. */
import test from 'ava';
import { type StatusSlot, StatusWords } from '../../src/device/status-words.js';
import { forEachDevice } from '../each-device.js';

forEachDevice((title, device) => {
  test.serial(title('status words are disjoint, read back by the wait, and reused after it'), async (t) => {
    const opened = await device();
    const { queue } = opened;
    await queue.finish();
    for (let round = 0; round < 3; round++) {
      const slots = Array.from({ length: 5 }, (_, i) => StatusWords.uninitialized(opened, i + 1));
      const zero = [StatusWords.zeroed(opened), StatusWords.zeroed(opened)];
      for (const [i, { buffer, firstWord }] of slots.entries()) {
        const words = Uint32Array.from({ length: i + 1 }, (_, word) => 1000 * round + 10 * i + word);
        queue.write(buffer, words, 4 * firstWord);
      }
      // A launch does not change the words of another one.
      const [untouched, written] = (round % 2 ? zero.reverse() : zero) as [StatusSlot, StatusSlot];
      queue.write(written.buffer, Uint32Array.of(7), 4 * written.firstWord);
      await queue.finish();
      for (const [i, slot] of slots.entries()) {
        const expected = Array.from({ length: i + 1 }, (_, word) => 1000 * round + 10 * i + word);
        t.deepEqual([...slot.words()], expected, `round ${round}, ${i}`);
      }
      // Words of an earlier launch are cleared.
      t.is(untouched.word(), 0);
      t.is(written.word(), 7);
    }
  });

  test.serial(
    title('launches that need more status words than one buffer holds get them from another buffer'),
    async (t) => {
      const opened = await device();
      await opened.queue.finish();
      const slots = Array.from({ length: 5 }, () => StatusWords.uninitialized(opened, StatusWords.MAX / 2));
      const places = slots.map(({ buffer, firstWord }) => [buffer, firstWord] as const);
      for (const [i, [buffer, firstWord]] of places.entries()) {
        t.false(places.slice(0, i).some(([other, place]) => other === buffer && place === firstWord));
        opened.queue.write(buffer, Uint32Array.of(i, i + 1), 4 * firstWord);
      }
      await opened.queue.finish();
      t.deepEqual(
        slots.map((slot) => [...slot.words().subarray(0, 2)]),
        slots.map((_, i) => [i, i + 1]),
      );
      t.true(slots.every((slot) => slot.words().length === StatusWords.MAX / 2));
    },
  );
});
