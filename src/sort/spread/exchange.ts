/** Slices of sorted runs that go from device to device, through memory of the host. */
import { part } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import type { Column } from '../backend/column.js';
import type { Member } from './member.js';
import { allSettled } from './settled.js';

/** Bytes that are carried at a time. */
const CARRIED_BYTES = 2 ** 24;

/** Memory on members that is given back. */
export class Borrowed {
  readonly #columns: (readonly [Member, Column])[] = [];

  take(member: Member, dtype: Dtype, n: number): Column {
    const taken = member.arrays.borrow(dtype, n);
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
        else {
          const there = { receiver: members[p] as Member, to: to[p] as Column, start: before };
          await send({ sender: member, run, span: [from, end], ...there });
        }
      }
    }),
  );
  return to;
}

/** Elements that go from one member to another. */
export interface Sending {
  readonly sender: Member;
  readonly run: Column;
  /** Of the run: from the first position up to the second one. */
  readonly span: readonly [number, number];
  readonly receiver: Member;
  readonly to: Column;
  /** Where they go there. */
  readonly start: number;
}

/** Sends them, by threads where both members have memory of their own. */
export async function send(sending: Sending): Promise<void> {
  if (!sending.sender.streams || !sending.receiver.streams) return carry(sending);
  const { relay } = await import('./relay.js'); // which needs OpenCL
  return relay(sending);
}

/** Sends elements through memory of the host, which who works there reads and writes as it is: one piece leaves while the one before arrives. */
async function carry({ sender, run, span: [from, end], receiver, to, start }: Sending): Promise<void> {
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

/** Elements of run r in slice p. */
const sliceOf = (cuts: readonly (readonly number[])[], p: number, r: number): number =>
  (cuts[p + 1]?.[r] as number) - (cuts[p]?.[r] as number);
