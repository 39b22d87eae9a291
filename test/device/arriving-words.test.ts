import test from 'ava';
import { ArrivingWords } from '../../src/device/arriving-words.js';

test('words are unknown until they are read back, and only the requested ones are kept', (t) => {
  const words = new ArrivingWords({} as never, 8);
  words.want(3);
  words.want(2);
  t.is(words.count, 3);
  t.is(words.word(0), 0xffffffff);
  t.deepEqual([...words.words(1, 2)], [0xffffffff, 0xffffffff]);
  t.false(words.areZero);
  // Memory of an abandoned device is detached.
  words.arrive(new Uint8Array(0));
  t.is(words.word(2), 0xffffffff);
  const place = new Uint8Array(Uint32Array.of(9, 0, 4, 5, 9).buffer);
  words.arrive(place.subarray(4, 16));
  place.fill(255); // the memory is reused
  t.deepEqual([words.word(0), words.word(1), words.word(2)], [0, 4, 5]);
  t.deepEqual([...words.words(1, 2)], [4, 5]);
  t.false(words.areZero);
  const zero = new ArrivingWords({} as never, 0);
  zero.want(2);
  zero.arrive(new Uint32Array(2));
  t.true(zero.areZero);
});
