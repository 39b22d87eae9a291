/** Trials of correct sorts, wrong sorts and sorts that give up. */
import test from 'ava';
import type { Algorithm, SortWork } from '../../src/algorithms/algorithm.js';
import { algorithmNamed } from '../../src/algorithms/registry.js';
import { enqueueTrial, runTrial, type TrialWork } from '../../src/algorithms/trial.js';
import type { Device } from '../../src/device/device.js';
import type { Queue } from '../../src/device/queue/queue.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import { Verifier } from '../../src/sort/verification/verify.js';
import { MemoryError } from '../../src/util/errors.js';
import { forEachDevice } from '../each-device.js';

const N = 300;
const SHAPE = { keyBits: 32, valueBytes: 4 } as const;
const KEYS = Uint32Array.from({ length: N }, (_, i) => (i * 7) % 64);

/** A stable sort whose calls go through `enqueue`. */
async function altered(device: Device, enqueue?: Algorithm['enqueue']): Promise<Algorithm> {
  const merge = await algorithmNamed('merge').create(device, SHAPE);
  return {
    name: 'merge',
    device,
    shape: SHAPE,
    supports: () => true,
    scratch: (n, options) => merge.scratch(n, options),
    enqueue: (queue, work) => {
      merge.enqueue(queue, work);
      return enqueue?.(queue, work) ?? {};
    },
  };
}

forEachDevice((title, device) => {
  /** Tries a sort that generates positions. */
  async function tried(enqueue?: Algorithm['enqueue'], { inPlace = false } = {}) {
    const opened = await device();
    const verifier = await Verifier.create(opened, SHAPE);
    const input = opened.buffer(N * 4);
    const output = inPlace ? input : opened.buffer(N * 4);
    const outputValues = opened.buffer(N * 4);
    const codec = keyCodec('u32');
    const work: TrialWork = { n: N, input, output, outputValues, indices: true, codec, bits: [0, 32] };
    opened.queue.write(input, KEYS);
    try {
      return await runTrial(await altered(opened, enqueue), opened.queue, work, verifier.trialCheck(work));
    } finally {
      for (const buffer of new Set([input, output, outputValues])) buffer.release();
    }
  }

  test.serial(title('a trial of a correct sort reports no error, in place and out of place'), async (t) => {
    t.deepEqual(await tried(), {});
    t.deepEqual(await tried(undefined, { inPlace: true }), {});
  });

  test.serial(title('a trial reports wrong order, changed elements and lost stability'), async (t) => {
    const overwrite = (at: number, words: readonly number[]) => (queue: Queue, work: SortWork) => {
      queue.write(work.output, Uint32Array.from(words), at * 4);
      return {};
    };
    t.deepEqual(await tried(overwrite(0, [63])), { wrong: 'not in order' });
    t.deepEqual(await tried(overwrite(N - 1, [64])), { wrong: 'elements were lost or changed' });
    const swapped = await tried((queue, { outputValues }) => {
      // Positions of the first two keys, which are equal, in the wrong order.
      if (outputValues) queue.write(outputValues, Uint32Array.of(64, 0));
      return {};
    });
    t.deepEqual(swapped, { wrong: 'not in order' });
  });

  test.serial(title('a trial reports a sort that gave up, whatever its result'), async (t) => {
    const outcome = await tried((queue, { output }) => {
      queue.write(output, Uint32Array.of(63));
      return { status: output };
    });
    t.regex(outcome.gaveUp ?? '', /stopped/);
    t.is(outcome.wrong, undefined);
  });

  test.serial(
    title('a trial poisons the output and releases its check once, or never if it cannot be enqueued'),
    async (t) => {
      const opened = await device();
      const merge = await altered(opened);
      const idle: Algorithm = { ...merge, scratch: () => ({}), enqueue: () => ({}) };
      const [input, output] = [opened.buffer(16), opened.buffer(16)];
      opened.queue.write(input, Uint32Array.of(4, 3, 2, 1));
      opened.queue.write(output, Uint32Array.of(1, 2, 3, 4));
      const got = new Uint32Array(4);
      let released = 0;
      const check = {
        after: () => opened.queue.read(output, got),
        wrong: () => undefined,
        release: () => {
          released++;
        },
      };
      const work: TrialWork = { n: 4, input, output, codec: keyCodec('u32'), bits: [0, 32] };
      const trial = enqueueTrial(idle, opened.queue, work, check);
      await opened.queue.finish();
      t.deepEqual([...got], Array(4).fill(0xa5a5a5a5), 'what was right before is not now');
      trial.release();
      t.is(released, 1);
      const failing: Algorithm = {
        ...idle,
        enqueue: () => {
          throw new MemoryError('no room');
        },
      };
      t.throws(() => enqueueTrial(failing, opened.queue, { ...work, n: 3 }, check), {
        instanceOf: MemoryError,
      });
      t.is(released, 1, 'left to the caller');
      await opened.queue.finish();
      for (const buffer of [input, output]) buffer.release();
    },
  );
});
