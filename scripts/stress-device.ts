/**
 * Sorts over and over on one device and verifies every result there.
 *
 *     node dist/scripts/stress-device.js --device nvidia --sorts 10000 --algorithm onesweep
 *     node dist/scripts/stress-device.js --device nvidia --algorithm tiled --count 4294967303
 *
 * Without `--count`: arrays of all lengths up to `--most` keys, while another queue of the same device sorts
 * something else, so that work-groups of two kernels compete for the units. With `--count`: one sort of that many
 * keys, which never leave the device. `--shape`: dtype, and bytes of a value: u64, u32+4, ...; values of 4 bytes are the
 * keys' positions, which show whether equal keys kept their order.
 */
import { randomFillSync } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Algorithm, tunedShape } from '../src/algorithms/algorithm.js';
import { algorithmNamed } from '../src/algorithms/registry.js';
import { enqueueWithScratch } from '../src/algorithms/run.js';
import { tiledRadix } from '../src/algorithms/tiled-radix.js';
import { runTrial } from '../src/algorithms/trial.js';
import { readShape } from '../src/cli/arguments.js';
import type { Buffer } from '../src/device/buffer.js';
import { Device } from '../src/device/device.js';
import { Queue } from '../src/device/queue.js';
import { dtypeInfo } from '../src/keys/dtype.js';
import { keyCodec } from '../src/keys/key-codec.js';
import * as cl from '../src/opencl/index.js';
import { Verifier } from '../src/sort/verification/verify.js';
import { UnsupportedError } from '../src/util/errors.js';

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'auto' },
    algorithm: { type: 'string', default: 'onesweep' },
    shape: { type: 'string', default: 'u32' },
    sorts: { type: 'string', default: '10000' },
    most: { type: 'string', default: '2000000' },
    count: { type: 'string' },
  },
});

const { dtype, valueBytes } = readShape(options.shape);
const { width, bytes: keyBytes } = dtypeInfo(dtype);
const BITS = [0, width] as const;
const codec = keyCodec(dtype);
/** Made by the sort. */
const indices = valueBytes === 4;
const device = await Device.open(options.device);
const { queue } = device;
const verifier = await Verifier.create(device, { keyBits: width, valueBytes });
const factory = algorithmNamed(options.algorithm);
const compiled = new Map<string, Algorithm>();

async function algorithmFor(n: number): Promise<Algorithm> {
  const shape = { keyBits: width, valueBytes };
  const tuned = tunedShape(factory, device, shape, n);
  if (typeof tuned === 'string') throw new UnsupportedError(tuned);
  const key = JSON.stringify(tuned);
  const algorithm = compiled.get(key) ?? (await factory.create(device, tuned));
  compiled.set(key, algorithm);
  const supported = algorithm.supports({ dtype, n, bits: BITS, valueBytes });
  if (supported !== true) {
    throw new UnsupportedError(
      `${n} keys of ${options.shape} by ${factory.name}: ${supported}; give a smaller --most or --count`,
    );
  }
  return algorithm;
}

/** Random bytes, a block of random ones over and over. */
function upload(bytes: number): Buffer {
  const buffer = device.buffer(bytes);
  const block = randomFillSync(new Uint8Array(Math.min(bytes, 2 ** 30)));
  queue.write(buffer, block);
  for (let at = block.byteLength; at < bytes; at += block.byteLength) {
    queue.copy(buffer, buffer, { bytes: Math.min(block.byteLength, bytes - at), toOffset: at });
  }
  return buffer;
}

interface Arrays {
  readonly input: Buffer;
  readonly output: Buffer;
  readonly inputValues?: Buffer;
  readonly outputValues?: Buffer;
}

const arraysOf = (n: number): Arrays => ({
  input: upload(n * keyBytes),
  output: device.buffer(n * keyBytes),
  ...(valueBytes > 0 && { outputValues: device.buffer(n * valueBytes) }),
  ...(valueBytes > 0 && !indices && { inputValues: upload(n * valueBytes) }),
});

/** Sorts the first n keys; returns what went wrong. */
async function sortOnce(n: number, arrays: Arrays): Promise<string | undefined> {
  const algorithm = await algorithmFor(n);
  const work = { n, codec, bits: BITS, indices, ...arrays };
  const { gaveUp, wrong } = await runTrial(algorithm, queue, work, verifier.trialCheck(work), 60);
  return gaveUp ?? wrong;
}

let failures = 0;
if (options.count) {
  const n = Number(options.count);
  const arrays = arraysOf(n);
  await queue.finish();
  const problem = await sortOnce(n, arrays);
  queue.startProfile();
  const again = enqueueWithScratch(await algorithmFor(n), queue, {
    n,
    codec,
    bits: BITS,
    indices,
    ...arrays,
  });
  await queue.finish();
  again.release();
  const seconds = queue.endProfile().at(-1)?.ended ?? Number.NaN;
  console.log(
    `${n} keys of ${options.shape}: ${problem ?? `right, ${(n / seconds / 1e9).toFixed(2)} Gkeys/s`}`,
  );
  if (problem) failures++;
} else {
  const maxKeys = Number(options.most);
  const arrays = arraysOf(maxKeys);

  // The competitor: a chain of sorts in a queue of its own, never idle.
  const rival = new Queue(() => cl.createCommandQueue(device.context, device.handle, 0), device.capabilities);
  const rivalKeys = 2 ** 22;
  const rivalSort = await tiledRadix.create(device, { keyBits: 32, valueBytes: 0 });
  const rivalBits = [0, 32] as const;
  const rivalInput = upload(rivalKeys * 4);
  const rivalOutput = device.buffer(rivalKeys * 4);
  const scratch = Object.fromEntries(
    Object.entries(rivalSort.scratch(rivalKeys, { inPlace: false, bits: rivalBits })).map(([name, bytes]) => [
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
          codec: keyCodec('u32'),
          bits: rivalBits,
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
    const n = Math.min(maxKeys, Math.max(1, Math.floor(2 ** (Math.random() * Math.log2(maxKeys)))));
    const problem = await sortOnce(n, arrays);
    if (problem) problems.set(problem, (problems.get(problem) ?? 0) + 1);
  }
  running = false;
  await competing;
  failures = [...problems.values()].reduce((a, b) => a + b, 0);
  console.log(
    `${sorts} sorts of ${options.shape} by ${factory.name}, ${rivalSorts} beside them: ${failures} failed`,
    Object.fromEntries(problems),
  );
}
await device.close();
process.exitCode = failures > 0 ? 1 : 0;
