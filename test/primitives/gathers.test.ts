/** Queued gathers, checked against the host. */
import test from 'ava';
import type { Buffer } from '../../src/device/memory/buffer.js';
import { Queue } from '../../src/device/queue/queue.js';
import { StatusWords } from '../../src/device/status-words.js';
import { Gathers } from '../../src/primitives/gather.js';
import { UsageError } from '../../src/util/errors.js';
import { Random } from '../../src/util/random.js';
import { forEachDevice } from '../each-device.js';

/** Names of the kernels enqueued since this call, in order. */
function kernelsOf(queue: Queue): string[] {
  const names: string[] = [];
  const run = Queue.prototype.run;
  queue.run = (kernel, ...rest) => {
    names.push(kernel.name);
    run.call(queue, kernel, ...rest);
  };
  return names;
}

forEachDevice((title, device, small) => {
  test.serial(
    title('gathers in any order, including reads of earlier results, match gathers run one at a time'),
    async (t) => {
      const opened = await device();
      const { queue } = opened;
      const gathers = await Gathers.of(opened, 4);
      const random = new Random(11);
      const [arrays, length] = [6, 700];
      for (let round = 0; round < (small ? 6 : 40); round++) {
        // Every array may be input, output or index array. Some indices are out of range, which the slot reports.
        const held = Array.from({ length: arrays }, () =>
          Uint32Array.from({ length }, () => random.below(length + 1)),
        );
        const buffers = held.map((words) => {
          const buffer = opened.buffer(words.byteLength);
          queue.write(buffer, words);
          return buffer;
        });
        await queue.finish();
        const slots: [slot: ReturnType<typeof StatusWords.zeroed>, expected: number][] = [];
        for (let i = 0; i < 25; i++) {
          const [input, indices] = [random.below(arrays), random.below(arrays)];
          const output = (Math.max(input, indices) + 1 + random.below(arrays - 1)) % arrays;
          if (output === input || output === indices) continue;
          const [n, among] = [1 + random.below(length), 1 + random.below(length)];
          const slot = StatusWords.zeroed(opened);
          const [from, by, to] = [input, indices, output].map((at) => buffers[at]) as [
            Buffer,
            Buffer,
            Buffer,
          ];
          gathers.enqueue({ input: from, indices: by, output: to, n, length: among, slot });
          const read = [held[input], held[indices], held[output]] as [Uint32Array, Uint32Array, Uint32Array];
          let beyond = 0;
          for (let k = 0; k < n; k++) {
            const at = read[1][k] as number;
            read[2][k] = at < among ? (read[0][at] as number) : 0;
            beyond = Math.max(beyond, at - among + 1);
          }
          slots.push([slot, beyond]);
          // Sometimes another command or kernel is enqueued in between.
          const between = random.below(12);
          if (between === 0) {
            queue.fill(to, round, { bytes: 8 });
            read[2].fill(round, 0, 2);
          } else if (between < 3) {
            queue.copy(from, to, { bytes: length * 4 });
            read[2].set(read[0]);
          }
        }
        const made = buffers.map((buffer) => {
          const words = new Uint32Array(length);
          queue.read(buffer, words);
          return words;
        });
        await queue.finish();
        for (const [i, words] of made.entries()) t.deepEqual(words, held[i], `round ${round}, array ${i}`);
        t.deepEqual(
          slots.map(([slot]) => slot.word()),
          slots.map(([, expected]) => expected),
        );
        for (const buffer of buffers) buffer.release();
      }
    },
  );

  test.serial(title('gathers keep their order, each with its own launch'), async (t) => {
    const opened = await device();
    const { queue } = opened;
    const gathers = await Gathers.of(opened, 8);
    const [input, indices] = [opened.buffer(64), opened.buffer(32)];
    queue.write(
      input,
      BigUint64Array.from({ length: 8 }, (_, i) => BigInt(i) << 33n),
    );
    queue.write(indices, Uint32Array.of(7, 6, 5, 4, 3, 2, 1, 0));
    await queue.finish();
    const outputs = Array.from({ length: 19 }, () => opened.buffer(64));
    const names = kernelsOf(queue);
    const gather = (output: Buffer, from = input): void =>
      gathers.enqueue({ input: from, indices, output, n: 8, length: 8, slot: StatusWords.zeroed(opened) });
    try {
      for (const output of outputs) gather(output);
      await queue.finish();
      t.deepEqual(
        names.splice(0),
        outputs.map(() => 'gather'),
      );
      const made = outputs.map((output) => {
        const elements = new BigUint64Array(8);
        queue.read(output, elements);
        return elements;
      });
      await queue.finish();
      const expected = Array.from({ length: 8 }, (_, i) => BigInt(7 - i) << 33n);
      for (const [i, elements] of made.entries()) t.deepEqual([...elements], expected, `gather ${i}`);
      // Each reads the output of the one before.
      const [first, second, third] = outputs as [Buffer, Buffer, Buffer];
      gather(first);
      gather(second, first);
      gather(third, second);
      await queue.finish();
      t.deepEqual(names.splice(0), ['gather', 'gather', 'gather']);
      queue.startProfile(false);
      for (const output of outputs.slice(0, 3)) gather(output);
      await queue.finish();
      t.deepEqual(
        queue.endProfile().map(({ stage }) => stage),
        ['gather', 'gather', 'gather'],
      );
    } finally {
      Reflect.deleteProperty(queue, 'run');
      for (const buffer of [input, indices, ...outputs]) buffer.release();
    }
    await t.throwsAsync(async () => Gathers.of(opened, 17), { instanceOf: UsageError });
  });
});
