/** Slices of sorted runs that go from device to device, through memory of the host. */
import { COPY_THREADS, type Feed } from '../../device/staging.js';
import { typedError } from '../../device/status.js';
import { part } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import * as cl from '../../opencl/index.js';
import type { Column } from '../backend/column.js';
import type { Member } from './member.js';
import { allSettled } from './settled.js';

/** Bytes that a device transfers at once, and of the memory on either side that they pass through, which caches should hold. */
const PIECE_BYTES = 2 ** 21;
const RING_BYTES = 2 ** 25;
/** Bytes that are carried at a time. */
const CARRIED_BYTES = 2 ** 24;

/** Memory on members that is given back. */
export class Borrowed {
  readonly #columns: (readonly [Member, Column])[] = [];

  take(member: Member, dtype: Dtype, n: number): Column {
    const taken = member.arrays.take(dtype, n);
    this.#columns.push([member, taken]);
    return taken;
  }

  release(): void {
    for (const [member, taken] of this.#columns.splice(0)) member.arrays.discard(taken);
  }
}

/** Brings slice p of every run to member p, in the order of the runs. */
export async function exchange(
  members: readonly Member[],
  runs: readonly Column[],
  cuts: readonly (readonly number[])[],
  starts: readonly number[],
  borrowed: Borrowed,
): Promise<Column[]> {
  const to = members.map((member, p) => {
    const n = (starts[p + 1] as number) - (starts[p] as number);
    return borrowed.take(member, (runs[0] as Column).dtype, n);
  });
  await allSettled(
    members.map(async (member, r) => {
      const run = runs[r] as Column;
      // Each begins with its own part, then goes round: no device is sent to by all at once.
      for (let turn = 0; turn < members.length; turn++) {
        const p = (r + turn) % members.length;
        const [from, end] = [cuts[p]?.[r] as number, cuts[p + 1]?.[r] as number];
        const before = runs.slice(0, r).reduce((sum, _, i) => sum + sliceOf(cuts, p, i), 0);
        if (from === end) continue;
        if (p === r) await member.arrays.copy(run, from, to[p] as Column, before, end - from);
        else await send(member, run, [from, end], members[p] as Member, to[p] as Column, before);
      }
    }),
  );
  return to;
}

/** Sends elements from the first position up to the second one. */
export function send(
  sender: Member,
  run: Column,
  span: readonly [number, number],
  receiver: Member,
  to: Column,
  start: number,
): Promise<void> {
  // Who works in memory of the host reads and writes it as it is.
  const by = sender.streams && receiver.streams ? relay : carry;
  return by(sender, run, span, receiver, to, start);
}

/** Sends elements through memory of the host: one piece leaves while the one before arrives. */
async function carry(
  sender: Member,
  run: Column,
  [from, end]: readonly [number, number],
  receiver: Member,
  to: Column,
  start: number,
): Promise<void> {
  const { bytes } = run.info;
  const piece = Math.min(end - from, Math.floor(CARRIED_BYTES / bytes));
  const slots = sender.takeSlots(piece * bytes);
  const busy: Promise<void>[] = slots.all.map(() => Promise.resolve());
  try {
    for (let at = from, s = 0; at < end; at += piece, s = (s + 1) % busy.length) {
      await busy[s];
      const view = part(slots.all[s] as Uint8Array, 0, Math.min(piece, end - at) * bytes);
      await sender.arrays.load(run, view, at);
      busy[s] = receiver.arrays.fill(to, view, start + at - from);
      busy[s]?.catch(() => undefined); // told below
    }
    await Promise.all(busy);
  } finally {
    await Promise.allSettled(busy);
    sender.give(slots);
  }
}

/** Sends elements between devices with memory of their own, by threads that copy what leaves one device into what the other one takes. */
async function relay(
  sender: Member,
  run: Column,
  [from, end]: readonly [number, number],
  receiver: Member,
  to: Column,
  start: number,
): Promise<void> {
  const { bytes } = run.info;
  const offsets = BigUint64Array.of(BigInt(from * bytes), BigInt(start * bytes));
  const told = new BigInt64Array(2);
  const check = (side: 0 | 1): void => {
    const status = Number(told[side]);
    const doing = ['sending a slice', 'taking a slice'][side] as string;
    if (status !== 0) throw typedError({ status, message: `status ${status}` }, doing);
  };
  let failure: { readonly error: unknown } | undefined;
  // Each takes the ring in which it sends before any in which another one gets, so none waits in a circle.
  await sender.arrays.drain(run, async (out) => {
    const take = async (into: Feed): Promise<void> => {
      await cl.relayAsync(
        [out.queue, into.queue],
        [out.buffer, into.buffer],
        offsets,
        (end - from) * bytes,
        [out.ring.subarray(0, RING_BYTES), into.ring.subarray(0, RING_BYTES)],
        PIECE_BYTES,
        told,
        COPY_THREADS,
      );
      check(1);
    };
    try {
      await receiver.arrays.feed(to, take);
    } catch (error) {
      failure = { error }; // the receiver's, which is none of the sender's business
    }
    check(0);
  });
  if (failure) throw failure.error;
}

/** Elements of run r in slice p. */
const sliceOf = (cuts: readonly (readonly number[])[], p: number, r: number): number =>
  (cuts[p + 1]?.[r] as number) - (cuts[p]?.[r] as number);
