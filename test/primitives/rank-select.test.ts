/** Keys by rank, checked against a sort of their codes. */
import test from 'ava';
import { DTYPES } from '../../src/keys/dtype.js';
import { encode, keyCodec } from '../../src/keys/key-codec.js';
import { enqueueRankSelect } from '../../src/primitives/rank-select.js';
import { column, wordsOf } from '../../src/sort/model/column.js';
import { type Distribution, keysOf } from '../distributions.js';
import { forEachDevice } from '../each-device.js';

const KINDS: readonly Distribution[] = ['random-bits', 'and3', 'constant', 'special', 'low-byte'];

forEachDevice((title, device, small) => {
  test.serial(title('keys are selected by rank, with lists of all sizes'), async (t) => {
    const opened = await device();
    const { queue } = opened;
    for (const dtype of small ? (['u32'] as const) : DTYPES) {
      for (const kind of small ? KINDS.slice(0, 1) : KINDS) {
        for (const n of small ? [700] : [1, 5000]) {
          const keys = keysOf(dtype, kind, n);
          for (const nan of ['first', 'last'] as const) {
            const codec = keyCodec(dtype, { nan });
            const words = wordsOf(column(dtype, n, keys)) as ArrayLike<number | bigint>;
            const codes = Array.from(words, (bits) => encode(codec, BigInt(bits)));
            codes.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
            const ranks = [...new Set([0, n >> 2, n >> 1, n - 1])];
            const buffer = opened.buffer(Math.ceil(keys.byteLength / 4) * 4);
            queue.write(buffer, keys);
            // A list of 1 key, of a part of the keys, and of all of them.
            for (const [capacity, groups] of [
              [1, 1],
              [n >> 3 || 1, 3],
              [n, 16],
            ] as const) {
              const read = await enqueueRankSelect(opened, {
                keys: buffer,
                n,
                codec,
                ranks,
                capacity,
                groups,
              });
              await queue.finish();
              const expected = ranks.map((rank) => codes[rank] as bigint);
              t.deepEqual(read(), expected, `${n} ${kind} ${dtype}, lists of ${capacity}, NaN ${nan}`);
            }
            buffer.release();
          }
        }
      }
    }
  });
});
