/**
 * Splitting keys of the host on the devices that sort them: each gets a part of them as they are, over a bus of its own, sorts it
 * stretch by stretch, and sends the others what is theirs of each. So of P devices each bus carries 1 / P + (P − 1) / P² of the
 * keys one way and (P − 1) / P² the other way, where a host that splits them sends 1 / P; but the host only copies, and the sorts
 * of stretches hide behind the bus.
 */
import { type KeyWords, part } from '../../keys/array.js';
import { DeviceLostError } from '../../util/errors.js';
import { throwIfAborted } from '../api/options.js';
import { type Column, column } from '../backend/column.js';
import type { HostJob } from '../backend/job.js';
import { searchSorted } from '../operations/sorted.js';
import { Borrowed, send } from './exchange.js';
import { allSettled } from './settled.js';
import type { Direct } from './split.js';
import { tooMany } from './too-many.js';

/** Stretches of a member that are under way: one arrives and is sorted while the one before leaves. */
const SLOTS = 2;

/** Where all shares but the first one begin: at keys, and among the equals of each at a position. */
export interface Borders {
  readonly keys: KeyWords;
  readonly positions: BigUint64Array;
}

/** Keys of a stretch, before and after they are sorted, and what they are waited for by. */
interface Slot {
  readonly come: Column;
  readonly sorted: Column;
  sent: Promise<unknown>;
}

/**
 * @param job keys alone, all of whose bits count
 * @param keysAtOnce that each device sorts at a time
 * @returns how many keys each share has; they come in any order
 * @throws AbortedError, MemoryError, what the devices fail with; then each share is whatever it is
 */
export async function splitOnDevices(
  { keys, settings }: HostJob,
  borders: Borders,
  shares: readonly Direct[],
  keysAtOnce: number,
): Promise<number[]> {
  const { n, info, dtype, view } = keys;
  const { onProgress: _, onReport: __, ...own } = settings;
  const { descending, nan } = settings;
  const borderKeys = column(dtype, borders.positions.length, borders.keys);
  const counts = shares.map(() => 0);
  const borrowed = new Borrowed();
  /** Takes a place for so many keys of a share. */
  const reserve = (s: number, count: number): number => {
    const at = counts[s] as number;
    counts[s] = at + count;
    const { most } = shares[s] as Direct;
    if (at + count <= most) return at;
    throw tooMany(most);
  };

  /** Sorts a stretch. @returns where shares begin in it, and at last its end */
  const sortStretch = async (
    { member }: Direct,
    slot: Slot,
    start: number,
    count: number,
  ): Promise<number[]> => {
    const [come, sorted] = [slot.come, slot.sorted].map((one) => ({ ...one, n: count })) as [Column, Column];
    const [left, right] = [false, true].map(() => new Uint32Array(borderKeys.n)) as [
      Uint32Array,
      Uint32Array,
    ];
    member.arrays.assertLive([slot.come, slot.sorted], 'a stretch');
    await member.operate({ n: count, settings: own, onHost: false, again: false }, async (call) => {
      await call.sort({ keys: await call.bindInput(come), sorted: sorted.place });
      for (const [places, ofRight] of [
        [left, false],
        [right, true],
      ] as const) {
        const to = column('u32', borderKeys.n, places);
        await searchSorted(call, sorted, borderKeys, { descending, nan, right: ofRight }, to);
      }
      return () => undefined;
    });
    // Equals of a border belong before it where the whole stretch does.
    const cuts = Array.from(
      borders.positions,
      (position, b) => (BigInt(start) < position ? right : left)[b] as number,
    );
    return [0, ...cuts, count];
  };

  /** Brings a part of the keys to a member, and from there where they belong. */
  const bringPart = async (share: Direct, m: number): Promise<void> => {
    const { member } = share;
    const [first, end] = [m, m + 1].map((p) => Math.ceil((n * p) / shares.length)) as [number, number];
    const most = Math.min(keysAtOnce, end - first);
    if (most === 0) return;
    const slots = Array.from(
      { length: SLOTS },
      (): Slot => ({
        come: borrowed.take(member, dtype, most),
        sorted: borrowed.take(member, dtype, most),
        sent: Promise.resolve(),
      }),
    );
    try {
      for (let start = first, i = 0; start < end; i = (i + 1) % SLOTS) {
        throwIfAborted(settings.signal);
        const slot = slots[i] as Slot;
        const stop = stretchEnd(start, Math.min(start + most, end), borders.positions);
        await slot.sent;
        await member.arrays.fill(slot.come, part(view, start * info.bytes, stop * info.bytes), 0);
        const cuts = await sortStretch(share, slot, start, stop - start);
        const places = shares.map((_, s) => reserve(s, (cuts[s + 1] as number) - (cuts[s] as number)));
        slot.sent = allSettled(
          shares.map(async (to, s) => {
            const [from, until] = [cuts[s], cuts[s + 1]] as [number, number];
            const at = places[s] as number;
            if (from === until) return;
            if (s === m) await member.arrays.copy(slot.sorted, from, to.keys, at, until - from);
            else {
              const there = { receiver: to.member, to: to.keys, start: at };
              await send({ sender: member, run: slot.sorted, span: [from, until], ...there });
            }
          }),
        );
        slot.sent.catch(() => undefined); // told when the slot is wanted again, or below
        start = stop;
      }
      await allSettled(slots.map(({ sent }) => sent));
    } finally {
      await Promise.allSettled(slots.map(({ sent }) => sent));
    }
  };

  const before = shares.map(({ member }) => member.keeper.backend);
  try {
    await allSettled(shares.map(bringPart));
  } catch (error) {
    const lost = shares.find(({ member }, s) => member.keeper.backend !== before[s] || member.lost);
    if (!lost || error instanceof DeviceLostError) throw error;
    // What was begun before it was opened again has met memory that has gone.
    throw new DeviceLostError(`${lost.member.info.name} was lost while it split keys`, { cause: error });
  } finally {
    borrowed.release();
  }
  return counts;
}

/** The end of a stretch whose keys are, for each border, all before its position or all from there on. */
function stretchEnd(start: number, end: number, positions: BigUint64Array): number {
  let stop = end;
  for (const position of positions) {
    if (BigInt(start) < position && position < BigInt(stop)) stop = Number(position);
  }
  return stop;
}
