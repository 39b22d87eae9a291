/**
 * Splitting keys of the host on the devices that sort them: each gets a part of them as they are, over a bus of its own, sorts it
 * stretch by stretch, and sends the others what is theirs of each. So of P devices each bus carries 1 / P + (P − 1) / P² of the
 * keys one way and (P − 1) / P² the other way, where a host that splits them sends 1 / P; but the host only copies, and the sorts
 * of stretches hide behind the bus.
 */
import { byteRange, type KeyWords } from '../../keys/array.js';
import { DeviceLostError } from '../../util/errors.js';
import { throwIfAborted } from '../api/options.js';
import { type Column, column } from '../backend/column.js';
import type { HostJob } from '../backend/job.js';
import { searchSorted } from '../operations/search-and-merge.js';
import { BorrowedColumns, send } from './exchange.js';
import type { DirectUpload } from './partition.js';
import { settleAll } from './settle-all.js';
import { tooManyKeysError } from './too-many-keys.js';

/** Stretches of a member that are under way: one arrives and is sorted while the one before leaves. */
const SLOTS_PER_DEVICE = 2;

/** Where all shares but the first one begin: at keys, and among the equals of each at a position. */
export interface Splitters {
  readonly keys: KeyWords;
  readonly positions: BigUint64Array;
}

/** Keys of a stretch, before and after they are sorted, and what they are waited for by. */
interface ChunkSlot {
  readonly unsorted: Column;
  readonly sorted: Column;
  sending: Promise<unknown>;
}

/**
 * @param job keys alone, all of whose bits count
 * @param chunkKeys that each device sorts at a time
 * @returns how many keys each share has; they come in any order
 * @throws AbortedError, MemoryError, what the devices fail with; then each share is whatever it is
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
  /** Takes a place for so many keys of a share. */
  const reserve = (s: number, count: number): number => {
    const at = counts[s] as number;
    counts[s] = at + count;
    const { maxKeys } = shares[s] as DirectUpload;
    if (at + count <= maxKeys) return at;
    throw tooManyKeysError(maxKeys);
  };

  /** Sorts a stretch. @returns where shares begin in it, and at last its end */
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
    worker.arrays.assertLive([slot.unsorted, slot.sorted], 'a stretch');
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
    // Equals of a border belong before it where the whole stretch does.
    const cuts = Array.from(
      splitters.positions,
      (position, b) => (BigInt(start) < position ? right : left)[b] as number,
    );
    return [0, ...cuts, count];
  };

  /** Brings a part of the keys to a member, and from there where they belong. */
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
        slot.sending.catch(() => undefined); // told when the slot is wanted again, or below
        start = stop;
      }
      await settleAll(slots.map(({ sending: sent }) => sent));
    } finally {
      await Promise.allSettled(slots.map(({ sending: sent }) => sent));
    }
  };

  const before = shares.map(({ worker }) => worker.session.backend);
  try {
    await settleAll(shares.map(distributePart));
  } catch (error) {
    const lost = shares.find(({ worker }, s) => worker.session.backend !== before[s] || worker.lost);
    if (!lost || error instanceof DeviceLostError) throw error;
    // What was begun before it was opened again has met memory that has gone.
    throw new DeviceLostError(`${lost.worker.info.name} was lost while it split keys`, { cause: error });
  } finally {
    borrowed.release();
  }
  return counts;
}

/** The end of a stretch whose keys are, for each border, all before its position or all from there on. */
function chunkEnd(start: number, end: number, positions: BigUint64Array): number {
  let stop = end;
  for (const position of positions) {
    if (BigInt(start) < position && position < BigInt(stop)) stop = Number(position);
  }
  return stop;
}
