/** Keys that threads partition into two buffers. */
import test from 'ava';
import { keyWords } from '../../src/keys/array.js';
import { DTYPES, dtypeInfo } from '../../src/keys/dtype.js';
import { codecWords, encode, keyCodec } from '../../src/keys/key-codec.js';
import * as cl from '../../src/opencl/index.js';
import { bytesOf } from '../algorithms/sorts.js';
import { keysOf } from '../distributions.js';
import { pick, referenceArgsort } from '../reference.js';
import { where } from '../where.js';
import { type Opened, opened, rejected } from './devices.js';

const { COUNT, STATUS, WORDS } = cl.SPLIT_TRANSFER;

/** The same elements, ordered by their bits. */
function inOrder(elements: Uint8Array, bytes: number): Uint8Array {
  const copy = elements.slice();
  const words = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array }[bytes];
  if (words) new words(copy.buffer).sort();
  return copy;
}

interface PartitionCase {
  readonly codec: BigUint64Array;
  readonly code: bigint;
  readonly equal?: bigint;
  readonly capacities: readonly [number, number];
  readonly piece?: number;
  readonly threads?: number;
  readonly offset?: number;
}

for (const one of opened) {
  const { name, context, queue } = one;
  const title = (claim: string): string => `${name}: ${claim}`;
  // PoCL's basic device runs commands on any waiting thread.
  const maxThreads = /^basic/.test(String(cl.getDeviceInfo(one.device, cl.DEVICE_NAME))) ? 1 : 4;

  /** Two buffers that hold `offset` bytes of 7, then the transferred keys. */
  async function partition(
    keys: ArrayBufferView,
    width: 1 | 2 | 4 | 8,
    { codec, code, equal = 0n, capacities, piece = 4096, threads = maxThreads, offset = 8 }: PartitionCase,
  ): Promise<{ result: BigInt64Array; parts: Uint8Array[] }> {
    const bytes = keys.byteLength + 32;
    const buffers = [0, 1].map(() => cl.createBuffer(context, cl.MEM_READ_WRITE, bytes)) as [
      cl.MemObject,
      cl.MemObject,
    ];
    for (const buffer of buffers) {
      cl.enqueueWriteBuffer(queue, buffer, true, 0, bytes, new Uint8Array(bytes).fill(7));
    }
    const result = new BigInt64Array(2 * WORDS);
    const rings = [new Uint8Array(3 * piece), new Uint8Array(2 * piece)] as const;
    const ends = [
      BigUint64Array.of(BigInt(offset), BigInt(offset)),
      BigUint64Array.from(capacities, BigInt),
    ] as const;
    const queues = [queue, queue] as const;
    const to = [queues, buffers, ...ends, rings, piece, result, threads] as const;
    await cl.splitToBuffersAsync(keys, width, codec, code, equal, 0, ...to);
    const parts = buffers.map((buffer) => {
      const all = new Uint8Array(bytes);
      cl.enqueueReadBuffer(queue, buffer, true, 0, bytes, all);
      cl.releaseMemObject(buffer);
      return all;
    });
    return { result, parts };
  }

  for (const dtype of DTYPES) {
    test.serial(
      title(`${dtype}: each buffer gets the keys of its share, and nothing else is written`),
      async (t) => {
        const { bytes, width } = dtypeInfo(dtype);
        for (const [distribution, n] of [
          ['uniform', 40_001],
          ['special', 3001],
          ['constant', 20_000],
        ] as const) {
          const keys = keysOf(dtype, distribution, n);
          const all = bytesOf(keys);
          const sorted = referenceArgsort(all, dtype, {});
          const codec = codecWords(keyCodec(dtype), (1n << BigInt(width)) - 1n);
          for (const share of [0, 0.3, 0.999]) {
            const first = sorted[Math.floor(share * n)] ?? 0;
            const view = keyWords(keys, dtypeInfo(dtype));
            const code = encode(keyCodec(dtype), BigInt(view[first] ?? 0));
            for (const [piece, threads] of [
              [64, maxThreads],
              [4096, 1],
              [2 ** 16, maxThreads],
            ] as const) {
              const at = Math.floor(share * n);
              const capacity = n * bytes;
              const { result, parts } = await partition(view, bytes as 1 | 2 | 4 | 8, {
                ...{ codec, code, equal: BigInt(first), capacities: [capacity, capacity], piece, threads },
              });
              t.deepEqual([...result], [BigInt(at), 0n, BigInt(n - at), 0n], `${distribution} ${share}`);
              for (const [s, positions] of [sorted.slice(0, at), sorted.slice(at)].entries()) {
                const end = 8 + positions.length * bytes;
                const came = parts[s]?.slice(8, end) ?? new Uint8Array();
                t.is(Buffer.compare(inOrder(came, bytes), inOrder(pick(all, bytes, positions), bytes)), 0);
                t.true(parts[s]?.subarray(0, 8).every((byte) => byte === 7));
                t.true(
                  parts[s]?.subarray(end).every((byte) => byte === 7),
                  `${piece} behind`,
                );
              }
            }
          }
        }
      },
    );
  }

  test.serial(title('keys that do not fit are counted, and the other share is complete'), async (t) => {
    const keys = Uint32Array.from({ length: 30_000 }, (_, i) => (i * 2_654_435_761) >>> 0);
    const codec = codecWords(keyCodec('u32'), 0xffff_ffffn);
    const below = keys.filter((key) => key < 2 ** 31);
    const { result, parts } = await partition(keys, 4, {
      codec,
      code: 2n ** 31n,
      capacities: [4000, 4 * keys.length],
    });
    t.is(result[COUNT], BigInt(below.length));
    t.is(result[WORDS + COUNT], BigInt(keys.length - below.length));
    t.deepEqual([result[STATUS], result[WORDS + STATUS]], [0n, 0n]);
    t.true(parts[0]?.subarray(4008).every((byte) => byte === 7));
    const end = 8 + 4 * (keys.length - below.length);
    const above = bytesOf(keys.filter((key) => key >= 2 ** 31));
    t.is(Buffer.compare(inOrder(parts[1]?.slice(8, end) ?? new Uint8Array(), 4), inOrder(above, 4)), 0);
  });

  test.serial(title('an empty input and a share of all keys are split correctly'), async (t) => {
    const codec = codecWords(keyCodec('u32'), 0xffff_ffffn);
    const none = await partition(new Uint32Array(0), 4, { codec, code: 5n, capacities: [0, 0] });
    t.deepEqual([...none.result], [0n, 0n, 0n, 0n]);
    const all = await partition(new Uint32Array(5000), 4, { codec, code: 5n, capacities: [20_000, 0] });
    t.deepEqual([...all.result], [5000n, 0n, 0n, 0n]);
    t.true(all.parts[0]?.subarray(8, 20_008).every((byte) => byte === 0));
  });

  test.serial(title('arguments that cannot be are refused'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const right: Parameters<typeof cl.splitToBuffersAsync> = [
      ...([new Uint32Array(8), 4, codecWords(keyCodec('u32'), 0xffff_ffffn), 5n, 0n, 0] as const),
      ...([[queue, queue], [buffer, buffer], new BigUint64Array(2), BigUint64Array.of(32n, 32n)] as const),
      ...([[new Uint8Array(64), new Uint8Array(64)], 16, new BigInt64Array(2 * WORDS), 1] as const),
    ];
    const wrong: readonly (readonly [number, unknown, number])[] = [
      [0, new Uint8Array(5), -30],
      [1, 3, -30],
      [2, new Uint8Array(8), -30],
      [3, -1, -30],
      [6, [queue], -30],
      [6, [queue, buffer], -36],
      [7, [buffer, queue], -38],
      [8, BigUint64Array.of(40n, 0n), -30],
      [9, BigUint64Array.of(0n, 65n), -30],
      [10, [new Uint8Array(64), new Uint8Array(8)], -30],
      [11, 0, -30],
      [11, 6, -30],
      [12, new BigInt64Array(3), -30],
      [13, 0, -30],
      [13, 65, -30],
    ];
    for (const [at, value, code] of wrong) {
      const given = right.with(at, value as never) as typeof right;
      t.is((await rejected(cl.splitToBuffersAsync(...given))).code, code, `argument ${at}`);
    }
    cl.releaseMemObject(buffer);
  });
}

where(opened.length > 1, 'there is one driver')('shares go to devices of two drivers', async (t) => {
  const [one, other] = opened as unknown as readonly [Opened, Opened];
  const keys = Uint32Array.from({ length: 50_000 }, (_, i) => (i * 2_654_435_761) >>> 0);
  const codec = codecWords(keyCodec('u32'), 0xffff_ffffn);
  const devices = [one, other] as const;
  const make = ({ context }: typeof one) => cl.createBuffer(context, cl.MEM_READ_WRITE, keys.byteLength);
  const buffers = [make(one), make(other)] as const;
  const result = new BigInt64Array(2 * WORDS);
  await cl.splitToBuffersAsync(
    ...([
      keys,
      4,
      codec,
      2n ** 31n,
      0n,
      0,
      [one.queue, other.queue],
      buffers,
      new BigUint64Array(2),
    ] as const),
    ...([BigUint64Array.of(200_000n, 200_000n), [new Uint8Array(8192), new Uint8Array(8192)]] as const),
    ...([4096, result, 1] as const),
  );
  for (const [s, { queue }] of devices.entries()) {
    const buffer = buffers[s] as cl.MemObject;
    const expected = keys.filter((key) => key < 2 ** 31 === (s === 0)).sort();
    t.deepEqual([result[s * WORDS + COUNT], result[s * WORDS + STATUS]], [BigInt(expected.length), 0n]);
    const came = new Uint32Array(expected.length);
    cl.enqueueReadBuffer(queue, buffer, true, 0, came.byteLength, came);
    t.deepEqual(came.sort(), expected);
    cl.releaseMemObject(buffer);
  }
});
