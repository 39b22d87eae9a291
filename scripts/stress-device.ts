/**
 * Sorts over and over on one device and verifies every result there.
 *
 *     node dist/scripts/stress-device.js --device nvidia --sorts 10000 --algorithm onesweep
 *     node dist/scripts/stress-device.js --device nvidia --algorithm tiled --count 4294967303
 *
 * Without `--count`: arrays of all lengths up to `--most` keys, while another queue of the same device sorts
 * something else, so that work-groups of two kernels compete for the units. With `--count`: one sort of that many
 * keys, which never leave the device.
 */
import { randomFillSync } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Algorithm } from '../src/algorithms/algorithm.js';
import { algorithmNamed } from '../src/algorithms/registry.js';
import { enqueueWithScratch } from '../src/algorithms/run.js';
import { tiledRadix } from '../src/algorithms/tiled-radix.js';
import { Device } from '../src/device/device.js';
import { Queue } from '../src/device/queue.js';
import { keyCodec } from '../src/keys/key-codec.js';
import * as cl from '../src/opencl/index.js';
import { Verifier, verdict } from '../src/sort/verify.js';

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'auto' },
    algorithm: { type: 'string', default: 'onesweep' },
    sorts: { type: 'string', default: '10000' },
    most: { type: 'string', default: '2000000' },
    count: { type: 'string' },
  },
});

const BITS = [0, 32] as const;
const codec = keyCodec('u32');
const device = await Device.open(options.device);
const { queue } = device;
const verifier = await Verifier.create(device, { keyBits: 32, valueBytes: 0 });
const factory = algorithmNamed(options.algorithm);
const compiled = new Map<string, Algorithm>();

async function algorithmFor(n: number): Promise<Algorithm> {
  const shape = { keyBits: 32, valueBytes: 0 } as const;
  const tuned = factory.tune?.(device, shape, n) ?? shape;
  if (typeof tuned === 'string') throw new Error(tuned);
  const key = JSON.stringify(tuned);
  const algorithm = compiled.get(key) ?? (await factory.create(device, tuned));
  compiled.set(key, algorithm);
  return algorithm;
}

/** Random keys, a block of random ones over and over. */
function upload(n: number): ReturnType<Device['buffer']> {
  const buffer = device.buffer(n * 4);
  const block = randomFillSync(new Uint8Array(Math.min(n * 4, 2 ** 30)));
  queue.write(buffer, block);
  for (let at = block.byteLength; at < n * 4; at += block.byteLength) {
    queue.copy(buffer, buffer, { bytes: Math.min(block.byteLength, n * 4 - at), toOffset: at });
  }
  return buffer;
}

/** Sorts the first n keys; returns what went wrong. */
async function sortOnce(
  n: number,
  input: ReturnType<Device['buffer']>,
  output: typeof input,
): Promise<string | undefined> {
  const algorithm = await algorithmFor(n);
  const work = { n, codec, bits: BITS, indices: false };
  const before = verifier.input({ keys: input }, work);
  const sorted = enqueueWithScratch(algorithm, queue, { n, input, output, codec, bits: BITS });
  const after = verifier.output({ keys: output }, work);
  const status = new Uint32Array(1);
  if (sorted.status) queue.read(sorted.status, status);
  await queue.finish(60);
  sorted.release();
  if (status[0]) return 'gave up';
  const { order, permutation } = verdict(before, after);
  return order && permutation ? undefined : `wrong: order ${order}, permutation ${permutation}`;
}

let failures = 0;
if (options.count) {
  const n = Number(options.count);
  const input = upload(n);
  const output = device.buffer(n * 4);
  await queue.finish();
  const problem = await sortOnce(n, input, output);
  queue.startProfile();
  const again = enqueueWithScratch(await algorithmFor(n), queue, { n, input, output, codec, bits: BITS });
  await queue.finish();
  again.release();
  const seconds = queue.endProfile().at(-1)?.ended ?? Number.NaN;
  console.log(`${n} keys: ${problem ?? `right, ${(n / seconds / 1e9).toFixed(2)} Gkeys/s`}`);
  if (problem) failures++;
} else {
  const most = Number(options.most);
  const input = upload(most);
  const output = device.buffer(most * 4);

  // The competitor: a chain of sorts in a queue of its own, never idle.
  const rival = new Queue(cl.createCommandQueue(device.context, device.handle, 0), device.capabilities);
  const rivalKeys = 2 ** 22;
  const rivalSort = await tiledRadix.create(device, { keyBits: 32, valueBytes: 0 });
  const rivalInput = upload(rivalKeys);
  const rivalOutput = device.buffer(rivalKeys * 4);
  const scratch = Object.fromEntries(
    Object.entries(rivalSort.scratch(rivalKeys, { inPlace: false, bits: BITS })).map(([name, bytes]) => [
      name,
      device.buffer(bytes),
    ]),
  );
  await queue.finish();
  let running = true;
  let rivalSorts = 0;
  const competing = (async () => {
    while (running) {
      for (let i = 0; i < 8; i++) {
        rivalSort.enqueue(rival, {
          n: rivalKeys,
          input: rivalInput,
          output: rivalOutput,
          codec,
          bits: BITS,
          scratch,
        });
      }
      await rival.finish();
      rivalSorts += 8;
    }
  })();

  const problems = new Map<string, number>();
  const sorts = Number(options.sorts);
  for (let i = 0; i < sorts; i++) {
    // Lengths of every size class alike.
    const n = Math.min(most, Math.max(1, Math.floor(2 ** (Math.random() * Math.log2(most)))));
    const problem = await sortOnce(n, input, output);
    if (problem) problems.set(problem, (problems.get(problem) ?? 0) + 1);
  }
  running = false;
  await competing;
  failures = [...problems.values()].reduce((a, b) => a + b, 0);
  console.log(
    `${sorts} sorts by ${factory.name}, ${rivalSorts} beside them: ${failures} failed`,
    Object.fromEntries(problems),
  );
}
await device.close();
process.exitCode = failures > 0 ? 1 : 0;
