import { enqueueWithScratch } from '../../src/algorithms/run.js';
import { tiledRadix } from '../../src/algorithms/tiled-radix.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import { keysOf } from '../distributions.js';
import { forEachOpened, testIf } from '../each-device.js';
import { bytesOf } from './sorts.js';

const N = 5000;
const SHAPE = { keyBits: 32, valueBytes: 0 } as const;

await forEachOpened((title, device) => {
  /** Keys on the device, a buffer for the result, and the sort between the two. */
  async function prepared() {
    const algorithm = await tiledRadix.create(device, SHAPE);
    const [input, output] = [device.buffer(N * 4), device.buffer(N * 4)];
    const keys = bytesOf(keysOf('u32', 'uniform', N));
    device.queue.write(input, keys);
    return {
      algorithm,
      work: { n: N, input, output, codec: keyCodec('u32'), bits: [0, 32] } as const,
      expected: new Uint32Array(keys.slice().buffer).sort(),
      sizes: Object.values(algorithm.scratch(N, { inPlace: false, bits: [0, 32] })),
      release: () => {
        for (const buffer of [input, output]) buffer.release();
      },
    };
  }

  testIf(
    tiledRadix.available(device, SHAPE),
    title('a repeated sort between the same buffers is replayed, whatever else the pool holds'),
    async (t) => {
      const { queue, pool } = device;
      const { algorithm, work, expected, sizes, release: releaseAll } = await prepared();
      let replays = 0;
      const { replay } = queue;
      queue.replay = (recording) => {
        replays++;
        replay.call(queue, recording);
      };
      const sort = async (): Promise<void> => {
        const { release } = enqueueWithScratch(algorithm, queue, work);
        await queue.finish();
        release();
      };
      try {
        for (let i = 0; i < 2; i++) await sort(); // the second one is cached
        // Other buffers would fit each of the sort's buffers.
        for (const buffer of sizes.flatMap((bytes) => [pool.take(bytes), pool.take(bytes + 64)])) {
          pool.give(buffer);
        }
        for (let i = 0; i < 5; i++) await sort();
        t.is(replays, 5);
      } finally {
        queue.replay = replay;
      }
      const sorted = new Uint32Array(N);
      queue.read(work.output, sorted);
      await queue.finish();
      t.deepEqual(sorted, expected);
      releaseAll();
    },
  );

  testIf(
    tiledRadix.available(device, SHAPE),
    title('a sort whose scratch buffers change every time is recorded at most twice'),
    async (t) => {
      const { queue, pool } = device;
      const { algorithm, work, expected, sizes, release: releaseAll } = await prepared();
      let records = 0;
      const { record } = queue;
      queue.record = (enqueue) => {
        records++;
        return record.call(queue, enqueue);
      };
      const once = async (): Promise<Uint32Array> => {
        queue.fill(work.output, 0);
        const { release } = enqueueWithScratch(algorithm, queue, work);
        const sorted = new Uint32Array(N);
        queue.read(work.output, sorted);
        await queue.finish();
        release();
        return sorted;
      };
      const others: ReturnType<typeof pool.take>[] = [];
      try {
        for (let i = 0; i < 12; i++) {
          t.deepEqual(await once(), expected);
          // Its scratch buffers come from the pool again, as for the results of a chain.
          others.push(...sizes.map((bytes) => pool.take(bytes)));
        }
        t.true(records <= 2, `${records} records`);
      } finally {
        queue.record = record;
        for (const buffer of others) pool.give(buffer);
      }
      releaseAll();
    },
  );
});
