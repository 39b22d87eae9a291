import test from 'ava';
import { keyWords } from '../../../src/keys/array.js';
import { DTYPES, dtypeInfo } from '../../../src/keys/dtype.js';
import type { HostJob } from '../../../src/sort/model/job.js';
import type { SortOptions } from '../../../src/sort/model/options.js';
import { parseSortOptions } from '../../../src/sort/model/parse-options.js';
import type { DeviceWorker } from '../../../src/sort/multi-device/device-worker.js';
import {
  Partitioner,
  type PartitionWriter,
  type PieceBuffers,
} from '../../../src/sort/multi-device/partition.js';
import { MAX_CONCURRENT_PIECES } from '../../../src/sort/multi-device/policy.js';
import { HostShardWriter } from '../../../src/sort/multi-device/shard-writer.js';
import { MemoryError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';
import { patterns, pick, referenceArgsort } from '../../reference.js';

/** Gathers a share in one array. */
class ArrayWriter implements PartitionWriter {
  readonly keys: Uint8Array;
  readonly positions: Uint32Array;
  readonly #bytes: number;
  count = 0;

  constructor(n: number, bytes: number) {
    this.keys = new Uint8Array(n * bytes);
    this.positions = new Uint32Array(n);
    this.#bytes = bytes;
  }

  async reserve(): Promise<PieceBuffers> {
    return {
      keys: this.keys.subarray(this.count * this.#bytes),
      values: this.positions.subarray(this.count),
    };
  }

  pieceWritten(count: number): void {
    this.count += count;
  }
}

function jobOf(dtype: (typeof DTYPES)[number], array: ArrayBufferView, options: SortOptions): HostJob {
  const info = dtypeInfo(dtype);
  const view = keyWords(array, info);
  return {
    keys: { dtype, info, n: view.length, place: view },
    settings: parseSortOptions(options),
    moved: new Uint32Array(view.length),
  };
}

async function partition(job: HostJob, weights: readonly number[]): Promise<ArrayWriter[]> {
  const writers = weights.map(() => new ArrayWriter(job.keys.n, job.keys.info.bytes));
  const counts = await new Partitioner(job, weights).partitionInto(writers);
  writers.forEach((writer, s) => {
    if (writer.count !== counts[s]) throw new Error('the counts are not what came');
  });
  return writers;
}

for (const dtype of DTYPES) {
  test(`${dtype}: shares partition the keys by value, and each share keeps the input order`, async (t) => {
    const { bytes, width } = dtypeInfo(dtype);
    for (const distribution of ['uniform', 'constant', 'two', 'special'] as const) {
      const keys = keysOf(dtype, distribution, 1000);
      const all = new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength);
      const windows: SortOptions[] = [
        {},
        { bitRange: [Math.floor(width / 3), width - 1] },
        { bitRange: [3, 3] },
      ];
      for (const order of [{}, { descending: true }, { nan: 'first' }] as const) {
        for (const window of windows) {
          const options = { ...order, ...window };
          const shares = await partition(jobOf(dtype, keys, options), [1, 2, 1]);
          const sorted = referenceArgsort(all, dtype, options);
          let at = 0;
          for (const share of shares) {
            // A share must equal the same range of a stable sort of the whole, in input order.
            const expected = sorted.slice(at, at + share.count).sort((a, b) => a - b);
            t.deepEqual([...share.positions.subarray(0, share.count)], expected, distribution);
            t.deepEqual(share.keys.subarray(0, share.count * bytes), pick(all, bytes, expected));
            at += share.count;
          }
          t.is(at, 1000);
        }
      }
    }
    t.is(patterns(new Uint8Array(bytes), dtype).length, 1);
  });
}

/** The same elements ordered by their bits. */
function inOrder(elements: Uint8Array, bytes: number): Uint8Array {
  const order = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array }[bytes];
  const copy = elements.slice();
  if (order) new order(copy.buffer).sort();
  return copy;
}

for (const dtype of DTYPES) {
  test(`${dtype}: keys alone are split into the same two shares as keys with positions`, async (t) => {
    const { bytes, width } = dtypeInfo(dtype);
    for (const [distribution, n] of [
      ['uniform', 999],
      ['special', 999],
      ['constant', 140_003],
      ['two', 140_003],
    ] as const) {
      const keys = keysOf(dtype, distribution, n);
      for (const options of [
        {},
        { descending: true },
        { nan: 'first', bitRange: [Math.floor(width / 3), width - 1] },
      ] as const) {
        for (const weights of [
          [1, 1],
          [1, 9],
          [70, 1],
        ]) {
          const job = jobOf(dtype, keys, options);
          const { moved: _, ...alone } = job;
          const [expected, shares] = [await partition(job, weights), await partition(alone, weights)];
          t.deepEqual(
            shares.map(({ count }) => count),
            expected.map(({ count }) => count),
          );
          // In order where keys with equal codes differ, otherwise in any order.
          const arranged = (some: Uint8Array) => ('bitRange' in options ? some : inOrder(some, bytes));
          for (const [s, { keys: wanted, count }] of expected.entries()) {
            const got = shares[s]?.keys.subarray(0, count * bytes) ?? new Uint8Array(0);
            const isSame = Buffer.compare(arranged(got), arranged(wanted.subarray(0, count * bytes))) === 0;
            t.true(isSame, `${distribution} ${weights}`);
            t.true(shares[s]?.keys.subarray(count * bytes).every((byte) => byte === 0));
          }
        }
      }
    }
  });
}

const skewed: Readonly<Record<string, (i: number) => number>> = {
  'all keys equal': () => 7,
  'two values': (i) => i % 2,
  'sorted keys': (i) => i,
  'one giant bucket': (i) => (i % 50 === 0 ? i : 123_456),
};

for (const [name, key] of Object.entries(skewed)) {
  test(`shares are as large as their weights require: ${name}`, async (t) => {
    const n = 200_000;
    const keys = Uint32Array.from({ length: n }, (_, i) => key(i));
    const counts = (await partition(jobOf('u32', keys, {}), [3, 1])).map(({ count }) => count);
    t.true(Math.abs((counts[0] ?? 0) - 0.75 * n) < 0.02 * n, counts.join());
  });
}

test('several pieces are split, and a share without a writer is skipped', async (t) => {
  const n = 9_000_003; // of 32 MiB each
  const keys = keysOf('u32', 'uniform', n) as Uint32Array;
  const job = jobOf('u32', keys, {});
  const whole = new Partitioner(job, [1, 1]);
  const writers = [1, 2].map(() => new ArrayWriter(n, 4));
  const counts = await whole.partitionInto(writers);
  const again = new ArrayWriter(n, 4);
  t.deepEqual(await whole.partitionInto([undefined, again]), counts);
  t.is(Buffer.compare(again.keys, writers[1]?.keys ?? new Uint8Array()), 0);
  t.true(
    writers.every(({ positions, count }) =>
      positions.subarray(1, count).every((p, i) => p > (positions[i] ?? 0)),
    ),
  );
  const border = writers[0]?.positions
    .subarray(0, writers[0].count)
    .reduce((maxReserved, p) => Math.max(maxReserved, keys[p] ?? 0), 0);
  t.true(writers[1]?.positions.subarray(0, writers[1].count).every((p) => (keys[p] ?? 0) >= (border ?? 0)));
});

test('keys with a bit window stay in input order, whichever thread finishes first', async (t) => {
  const keys = Uint32Array.from({ length: 2 ** 22 }, (_, i) => (((i * 7) % 256) << 24) | i);
  const { moved: _, ...job } = jobOf('u32', keys, { bitRange: [24, 32] });
  for (let round = 0; round < 3; round++) {
    for (const share of await partition(job, [1, 1])) {
      const came = new Uint32Array(share.keys.buffer, 0, share.count);
      t.true(came.every((key, i) => i === 0 || (key & 0xff_ffff) > ((came[i - 1] as number) & 0xff_ffff)));
    }
  }
});

test('a writer that allocates ahead receives pieces in order', async (t) => {
  const n = 4 * 2 ** 23 + 5; // in five pieces
  const keys = keysOf('u32', 'uniform', n) as Uint32Array;
  const { moved: _, ...job } = jobOf('u32', keys, {});
  let maxReserved = 0;
  const writers = [0, 1].map(() => {
    const reserved: Uint8Array[] = [];
    const came: Uint8Array[] = [];
    const reserve = async () => {
      reserved.push(new Uint8Array(2 ** 25));
      maxReserved = Math.max(maxReserved, reserved.length - came.length);
      return { keys: reserved.at(-1) as Uint8Array };
    };
    const pieceWritten = (count: number) => {
      came.push((reserved[came.length] as Uint8Array).subarray(0, 4 * count));
    };
    return { reservesAhead: true, reserve, pieceWritten, came };
  });
  await new Partitioner(job, [1, 1]).partitionInto(writers);
  t.is(maxReserved, MAX_CONCURRENT_PIECES);
  for (let p = 0; p < 5; p++) {
    const both = Buffer.concat(writers.map(({ came }) => came[p] as Uint8Array));
    const piece = keys.subarray(p * 2 ** 23, (p + 1) * 2 ** 23);
    const wanted = new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
    t.is(Buffer.compare(inOrder(new Uint8Array(both), 4), inOrder(wanted, 4)), 0);
  }
});

test('a piece that cannot be split ends the split after concurrent pieces are done', async (t) => {
  const n = 3 * 2 ** 23;
  const { moved: _, ...job } = jobOf('u32', new Uint32Array(n), {});
  let asked = 0;
  const writer: PartitionWriter = {
    reservesAhead: true,
    reserve: async () => {
      if (asked++ === 1) throw new MemoryError('no more slots');
      return { keys: new Uint8Array(2 ** 25) };
    },
    pieceWritten: () => undefined,
  };
  await t.throwsAsync(new Partitioner(job, [1, 1]).partitionInto([writer, undefined]), {
    message: 'no more slots',
  });
});

test('a share that does not fit is counted and not written', async (t) => {
  const keys = Uint32Array.from({ length: 1000 }, (_, i) => i);
  const job = jobOf('u32', keys, {});
  const memory = new Uint8Array(4096);
  const small = { keys: memory.subarray(0, 40), positions: new Uint32Array(10) };
  const writer: PartitionWriter = {
    reserve: async () => ({ keys: small.keys, values: small.positions }),
    pieceWritten: () => undefined,
  };
  const { moved: _, ...alone } = job;
  for (const some of [job, alone]) {
    const [first, second] = await new Partitioner(some, [1, 1]).partitionInto([writer, undefined]);
    t.is((first ?? 0) + (second ?? 0), 1000);
    t.true(memory.every((byte) => byte === 0));
  }
});

test('a share larger than its sample predicted is an error, and nothing is written beyond its memory', async (t) => {
  const job = jobOf(
    'u32',
    Uint32Array.from({ length: 1000 }, (_, i) => i),
    {},
  );
  const memory = new Uint8Array(4 * 1000);
  const worker = { allocateHostMemory: () => memory.subarray(0, 400) } as unknown as DeviceWorker;
  const writer = new HostShardWriter(worker, job, 100);
  const counts = await new Partitioner(job, [1, 1]).partitionInto([writer, undefined]);
  t.true((counts[0] ?? 0) > 100);
  await t.throwsAsync(writer.finish(), { instanceOf: MemoryError, message: /predicted \(100\)/ });
  t.true(memory.every((byte) => byte === 0));
});

test('an aborted signal rejects the split', async (t) => {
  const job = jobOf('u32', new Uint32Array(1000), { signal: AbortSignal.abort() });
  await t.throwsAsync(new Partitioner(job, [1, 1]).partitionInto([undefined, undefined]), {
    name: 'AbortError',
  });
});
