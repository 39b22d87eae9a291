/**
 * Splitting keys of the host on two devices: each gets half of them as they are, over a bus of its own, divides what it gets, and
 * sends on what is the other one's. So each bus carries three quarters of the keys one way and a quarter the other way, where the
 * host that splits them sends half; but the host only copies.
 */
import { part } from '../../keys/array.js';
import type { CodeRange } from '../../primitives/compact.js';
import { DeviceLostError, MemoryError } from '../../util/errors.js';
import { throwIfAborted } from '../api/options.js';
import type { HostJob } from '../backend/job.js';
import { partition } from '../operations/choices.js';
import { Borrowed, send } from './exchange.js';
import { allSettled } from './settled.js';
import type { Border, Direct } from './split.js';

/** Stretches of a member that are under way: one arrives and is divided while the one before leaves. */
const SLOTS = 2;

/**
 * @param job keys alone, in the ascending order of their codes
 * @param border where the second share begins
 * @param keysAtOnce that each device divides at a time
 * @returns how many keys either share has; they come in any order
 * @throws AbortedError, MemoryError, what the devices fail with; then either share is whatever it is
 */
export async function splitOnDevices(
  { keys, settings }: HostJob,
  border: Border,
  shares: readonly [Direct, Direct],
  keysAtOnce: number,
): Promise<number[]> {
  const { n, info, dtype, view } = keys;
  const { onProgress: _, onReport: __, ...own } = settings;
  const middle = Math.ceil(n / 2);
  const counts = [0, 0];
  const borrowed = new Borrowed();
  /** Takes a place for so many keys of a share. */
  const reserve = (s: number, count: number): number => {
    const at = counts[s] as number;
    counts[s] = at + count;
    const { most } = shares[s] as Direct;
    if (at + count > most) {
      throw new MemoryError(`a share has more than the ${most} keys that a sample let expect`);
    }
    return at;
  };

  /** Brings the keys of a stretch to a member, and those of either share where they belong. */
  const half = async (m: 0 | 1): Promise<void> => {
    const { member } = shares[m];
    const [first, end] = m === 0 ? [0, middle] : [middle, n];
    const room = Math.min(keysAtOnce, end - first);
    if (room === 0) return;
    const slots = Array.from({ length: SLOTS }, () => ({
      come: borrowed.take(member, dtype, room),
      divided: borrowed.take(member, dtype, room),
      sent: Promise.resolve() as Promise<unknown>,
    }));
    try {
      for (let start = first, i = 0; start < end; i = (i + 1) % SLOTS) {
        throwIfAborted(settings.signal);
        const slot = slots[i] as (typeof slots)[number];
        const [stop, range] = stretchOf(start, Math.min(start + room, end), border);
        const count = stop - start;
        await slot.sent;
        await member.arrays.fill(slot.come, part(view, start * info.bytes, stop * info.bytes), 0);
        const task = { n: count, settings: own, onHost: false, again: false };
        const below = await member.operate(task, (call) =>
          partition(call, { ...slot.come, n: count }, range, { ...slot.divided, n: count }),
        );
        const places = [reserve(0, below), reserve(1, count - below)] as const;
        slot.sent = allSettled(
          shares.map(async (share, s) => {
            const [from, to] = s === 0 ? [0, below] : [below, count];
            const at = places[s] as number;
            if (from === to) return;
            if (s === m) await member.arrays.copy(slot.divided, from, share.keys, at, to - from);
            else await send(member, slot.divided, [from, to], share.member, share.keys, at);
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
    await allSettled([half(0), half(1)]);
  } catch (error) {
    const lost = shares.find(({ member }, s) => member.keeper.backend !== before[s] || member.lost);
    if (!lost || error instanceof DeviceLostError) throw error;
    // What was begun before it was opened again has met memory that has gone.
    throw new DeviceLostError(`${lost.member.info.name} was lost while it divided keys`, { cause: error });
  } finally {
    borrowed.release();
  }
  return counts;
}

/** Where a stretch ends whose keys are all before the border's position, or all behind it, and which codes are below the border there. */
function stretchOf(start: number, end: number, { code, position }: Border): readonly [number, CodeRange] {
  const isBefore = BigInt(start) < position;
  const high = isBefore ? code : code - 1n;
  const range = high < 0n ? { low: 1n, high: 0n, not: false } : { low: 0n, high, not: false };
  return [isBefore && position < BigInt(end) ? Number(position) : end, range];
}
