import test from 'ava';
import { Multiset, randomPoints } from '../../../src/io/checks/multiset.js';
import { type SortWork, sortPartitions } from '../../../src/io/external/sort.js';
import { MemorySpill } from '../../../src/io/external/spill.js';
import type { SortedRecord } from '../../../src/io/external/state.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { MismatchError } from '../../../src/util/errors.js';
import { orderOf } from './small.js';

const host = Sorter.open({ device: 'host' });
test.after.always(async () => (await host).close());

const points = randomPoints();
const sum = async (...bytes: number[]): Promise<Multiset> => {
  const checksum = new Multiset(1, points);
  await checksum.add(Uint8Array.from(bytes));
  return checksum;
};

/** Work on partitions of bytes, with an output that records its writes. */
async function workOn(partitions: Record<string, number[]>, records: Record<string, SortedRecord> = {}) {
  const spill = new MemorySpill();
  for (const [name, bytes] of Object.entries(partitions)) await spill.write(name, 0, Uint8Array.from(bytes));
  const written = new Uint8Array(12);
  const done: string[] = [];
  const work: SortWork = {
    sorter: await host,
    order: orderOf('u8'),
    spill,
    output: {
      write: async (position, bytes) => written.set(bytes, position),
      done: async (name) => void done.push(name),
      recordOf: async (name) => records[name],
    },
    buffers: [new Uint8Array(4), new Uint8Array(4), new Uint8Array(4), new Uint8Array(4)],
    options: {},
    signal: new AbortController().signal,
    checksum: await sum(),
    points,
    onDone: () => undefined,
  };
  return { work, written, done };
}

const leaf = (name: string, bytes: number, single = false) => ({ name, bytes, single });

test('partitions are sorted to their positions, and a partition of equal records may exceed the buffers', async (t) => {
  const { work, written, done } = await workOn({ a: [2, 1, 0], b: [5, 5, 5, 5, 5, 5], d: [9, 8, 7] });
  await sortPartitions([leaf('a', 3), leaf('b', 6, true), leaf('c', 0), leaf('d', 3)], work);
  t.deepEqual([...written], [0, 1, 2, 5, 5, 5, 5, 5, 5, 7, 8, 9]);
  t.deepEqual(done, ['a', 'b', 'd']);
  t.true(work.checksum?.equals(await sum(...written)));
});

test('a partition with a record is not sorted again and counts for the checksum', async (t) => {
  const { stored: products } = await sum(1, 2);
  const base64 = (byte: number): string => Buffer.of(byte).toString('base64');
  const record = { bytes: 2, ends: [base64(1), base64(2)] as const, products };
  const { work, written, done } = await workOn({ b: [4, 3] }, { a: record });
  await sortPartitions([leaf('a', 2), leaf('b', 2)], work);
  t.deepEqual([...written.subarray(0, 4)], [0, 0, 3, 4]);
  t.deepEqual(done, ['b']);
  t.true(work.checksum?.equals(await sum(1, 2, 3, 4)));
});

test('overlapping partitions are a MismatchError', async (t) => {
  const { work } = await workOn({ a: [1, 5], b: [4, 9] });
  await t.throwsAsync(sortPartitions([leaf('a', 2), leaf('b', 2)], work), {
    instanceOf: MismatchError,
    message: /before the end of its predecessor/,
  });
  const other = await workOn({ a: [5, 5, 4] });
  await t.throwsAsync(sortPartitions([leaf('a', 3, true)], other.work), { instanceOf: MismatchError });
});

test('a failed write or an abort signal ends the sort', async (t) => {
  const { work } = await workOn({ a: [1], b: [2], c: [3] });
  const write = async (): Promise<void> => {
    throw new Error('the disk is full');
  };
  const leaves = [leaf('a', 1), leaf('b', 1), leaf('c', 1)];
  await t.throwsAsync(sortPartitions(leaves, { ...work, output: { ...work.output, write } }), {
    message: 'the disk is full',
  });
  await t.throwsAsync(sortPartitions(leaves, { ...work, signal: AbortSignal.abort() }), {
    name: 'AbortError',
  });
});

test('partitions whose keys differ in few bits are sorted by those bits', async (t) => {
  const { work, written } = await workOn({ a: [18, 17, 16, 17], b: [33, 35, 32] });
  const windows: (readonly [number, number] | undefined)[] = [];
  const sorting = work.order.sort;
  const order: typeof work.order = {
    ...work.order,
    sort: (sorter, bytes, options, differing) =>
      sorting(
        sorter,
        bytes,
        { ...options, onReport: ({ bitRange }) => void windows.push(bitRange) },
        differing,
      ),
  };
  const leaves = [{ ...leaf('a', 4), differing: 2 }, leaf('b', 3)];
  await sortPartitions(leaves, { ...work, order });
  t.deepEqual([...written.subarray(0, 7)], [16, 17, 17, 18, 32, 33, 35]);
  t.deepEqual(windows, [
    [0, 2],
    [0, 8],
  ]);
});
