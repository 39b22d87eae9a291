/**
 * Partitions host keys on the devices that sort them. Each device receives a part of the keys over its own
 * bus, sorts it chunk by chunk, and sends the other devices their slices of each chunk. With P devices, each
 * bus carries 1 / P + (P − 1) / P² of the keys in one direction and (P − 1) / P² in the other. With a
 * partition on the host it carries 1 / P. But the host only copies, and the transfers hide the sorts of
 * chunks.
 */
import { byteRange, type KeyWords } from '../../keys/array.js';
import { DeviceLostError } from '../../util/errors.js';
import { type Column, column } from '../model/column.js';
import type { HostJob } from '../model/job.js';
import { throwIfAborted } from '../model/options.js';
import { searchSorted } from '../operations/search-and-merge.js';
import { BorrowedColumns, send } from './exchange.js';
import type { DirectUpload } from './partition.js';
import { settleAll } from './settle-all.js';
import { tooManyKeysError } from './too-many-keys.js';

/** Chunks in flight per device: one is uploaded and sorted while the previous one is sent. */
const SLOTS_PER_DEVICE = 2;

/** Boundaries of all shards but the first: keys and, among equal keys, positions in the input. */
export interface Splitters {
  readonly keys: KeyWords;
  readonly positions: BigUint64Array;
}

/** Memory of one chunk, unsorted and sorted, and the transfer that has to end before it is reused. */
interface ChunkSlot {
  readonly unsorted: Column;
  readonly sorted: Column;
  sending: Promise<unknown>;
}

/**
 * Partitions the keys of a job on the devices of its shards.
 *
 * @param job keys without values, compared by all bits
 * @param splitters boundaries of the shards
 * @param shares direct upload of each shard
 * @param chunkKeys keys that each device sorts at a time
 * @returns the number of keys of each shard; they arrive in any order
 * @throws AbortedError when the signal is aborted
 * @throws MemoryError when a shard has more keys than its column holds
 * @throws the errors of the devices; the contents of the shards are then undefined
 */
export async function partitionOnDevices(
  { keys, settings }: HostJob,
  splitters: Splitters,
  shares: readonly DirectUpload[],
  chunkKeys: number,
): Promise<number[]> {
  const { n, info, dtype, view } = keys;
  const { onProgress: _, onReport: __, ...own } = settings;
  const { descending, nan } = settings;
  const splitterKeys = column(dtype, splitters.positions.length, splitters.keys);
  const counts = shares.map(() => 0);
  const borrowed = new BorrowedColumns();
  /** Reserves `count` keys of a shard, and returns its start. */
  const reserve = (s: number, count: number): number => {
    const at = counts[s] as number;
    counts[s] = at + count;
    const { maxKeys } = shares[s] as DirectUpload;
    if (at + count <= maxKeys) return at;
    throw tooManyKeysError(maxKeys);
  };

  /**
   * Sorts a chunk.
   *
   * @returns the start of each shard in the chunk, followed by the end of the chunk
   */
  const sortChunk = async (
    { worker }: DirectUpload,
    slot: ChunkSlot,
    start: number,
    count: number,
  ): Promise<number[]> => {
    const [unsorted, sorted] = [slot.unsorted, slot.sorted].map((one) => ({ ...one, n: count })) as [
      Column,
      Column,
    ];
    const [left, right] = [false, true].map(() => new Uint32Array(splitterKeys.n)) as [
      Uint32Array,
      Uint32Array,
    ];
    worker.arrays.assertLive([slot.unsorted, slot.sorted], 'a chunk');
    await worker.operate({ n: count, settings: own, onHost: false, again: false }, async (call) => {
      await call.sort({ keys: await call.bindInput(unsorted), sorted: sorted.place });
      for (const [places, ofRight] of [
        [left, false],
        [right, true],
      ] as const) {
        const to = column('u32', splitterKeys.n, places);
        await searchSorted(call, sorted, splitterKeys, { descending, nan, right: ofRight }, to);
      }
      return () => undefined;
    });
    // Keys equal to a splitter come before it if the whole chunk does.
    const cuts = Array.from(
      splitters.positions,
      (position, b) => (BigInt(start) < position ? right : left)[b] as number,
    );
    return [0, ...cuts, count];
  };

  /** Uploads a part of the keys to one device, and sends the sorted slices to their devices. */
  const distributePart = async (share: DirectUpload, m: number): Promise<void> => {
    const { worker } = share;
    const [first, end] = [m, m + 1].map((p) => Math.ceil((n * p) / shares.length)) as [number, number];
    const maxKeys = Math.min(chunkKeys, end - first);
    if (maxKeys === 0) return;
    const slots = Array.from(
      { length: SLOTS_PER_DEVICE },
      (): ChunkSlot => ({
        unsorted: borrowed.take(worker, dtype, maxKeys),
        sorted: borrowed.take(worker, dtype, maxKeys),
        sending: Promise.resolve(),
      }),
    );
    try {
      for (let start = first, i = 0; start < end; i = (i + 1) % SLOTS_PER_DEVICE) {
        throwIfAborted(settings.signal);
        const slot = slots[i] as ChunkSlot;
        const stop = chunkEnd(start, Math.min(start + maxKeys, end), splitters.positions);
        await slot.sending;
        await worker.arrays.fill(slot.unsorted, byteRange(view, start * info.bytes, stop * info.bytes), 0);
        const cuts = await sortChunk(share, slot, start, stop - start);
        const places = shares.map((_, s) => reserve(s, (cuts[s + 1] as number) - (cuts[s] as number)));
        slot.sending = settleAll(
          shares.map(async (to, s) => {
            const [from, until] = [cuts[s], cuts[s + 1]] as [number, number];
            const at = places[s] as number;
            if (from === until) return;
            if (s === m) await worker.arrays.copy(slot.sorted, from, to.keys, at, until - from);
            else {
              const destination = { receiver: to.worker, to: to.keys, start: at };
              await send({ sender: worker, run: slot.sorted, span: [from, until], ...destination });
            }
          }),
        );
        slot.sending.catch(() => undefined); // reported when the slot is reused, or below
        start = stop;
      }
      await settleAll(slots.map(({ sending }) => sending));
    } finally {
      await Promise.allSettled(slots.map(({ sending }) => sending));
    }
  };

  const before = shares.map(({ worker }) => worker.session.backend);
  try {
    await settleAll(shares.map(distributePart));
  } catch (error) {
    const lost = shares.find(({ worker }, s) => worker.session.backend !== before[s] || worker.lost);
    if (!lost || error instanceof DeviceLostError) throw error;
    // A call that began before the device was reopened has used memory that was lost.
    throw new DeviceLostError(`cannot partition the keys: ${lost.worker.info.name} was lost`, {
      cause: error,
    });
  } finally {
    borrowed.release();
  }
  return counts;
}

/** Returns the end of a chunk that does not cross the position of any splitter. */
function chunkEnd(start: number, end: number, positions: BigUint64Array): number {
  let stop = end;
  for (const position of positions) {
    if (BigInt(start) < position && position < BigInt(stop)) stop = Number(position);
  }
  return stop;
}
