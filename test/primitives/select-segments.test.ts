/** Selection of the first keys of segments, against a sort of each segment. */
import test from 'ava';
import { codecArgument } from '../../src/device/codec-argument.js';
import { u64 } from '../../src/device/queue/queue.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import { buildForGroups } from '../../src/primitives/group.js';
import { Random } from '../../src/util/random.js';
import { forEachDevice } from '../each-device.js';

const GUARD = 0xdeadbeef;

forEachDevice((title, device, small) => {
  test.serial(
    title('the first keys of segments are selected, and nothing is written behind them'),
    async (t) => {
      const opened = await device();
      const { queue } = opened;
      const groupSize = opened.capabilities.type === 'cpu' ? 1 : 64;
      const defines = { KEY_BITS: 32, VALUE_BYTES: 0 };
      const { program, groupSize: local } = await buildForGroups(
        opened,
        'select_segments.cl',
        ['select_segments'],
        defines,
        { groupSize },
      );
      const random = new Random(3);
      const codec = codecArgument(keyCodec('u32'));
      for (const length of small ? [30] : [30, 300, 3000]) {
        for (const k of [1, 7, 29]) {
          // One segment at a time, so that no other overwrites its surplus. Few values: the threshold has ties.
          const keys = Uint32Array.from({ length }, () => random.below(9));
          const expected = [...keys.keys()]
            .toSorted((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0) || a - b)
            .slice(0, k);
          const arrays = [keys, Uint32Array.of(0, length), Uint32Array.of(0, k)];
          const made = [0, 1].map(() => new Uint32Array(k + 1).fill(GUARD));
          const buffers = [...arrays, ...made].map((words) => {
            const buffer = opened.buffer(words.byteLength);
            queue.write(buffer, words);
            return buffer;
          });
          queue.run(program.kernel('select_segments'), [...buffers, u64(length), codec], {
            global: local,
            local,
          });
          for (const [i, words] of made.entries()) queue.read(buffers[i + arrays.length] as never, words);
          await queue.finish();
          const [selected, positions] = made as [Uint32Array, Uint32Array];
          t.deepEqual([selected[k], positions[k]], [GUARD, GUARD], `${k} of ${length}`);
          t.deepEqual(
            [...positions.subarray(0, k)],
            expected.toSorted((a, b) => a - b),
            `${k} of ${length}`,
          );
          t.deepEqual(
            [...selected.subarray(0, k)],
            [...positions.subarray(0, k)].map((at) => keys[at]),
          );
          for (const buffer of buffers) buffer.release();
        }
      }
    },
  );
});
