/** Exchange of slices of sorted runs between devices, through host memory. */
import { byteRange } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import type { Column } from '../model/column.js';
import type { DeviceWorker } from './device-worker.js';
import { settleAll } from './settle-all.js';

/** Bytes per transfer. */
const HOST_PIECE_BYTES = 2 ** 24;

/** Temporary columns on several devices. */
export class BorrowedColumns {
  readonly #columns: (readonly [DeviceWorker, Column])[] = [];

  take(worker: DeviceWorker, dtype: Dtype, n: number): Column {
    const taken = worker.arrays.borrow(dtype, n);
    this.#columns.push([worker, taken]);
    return taken;
  }

  release(): void {
    for (const [worker, taken] of this.#columns.splice(0)) worker.arrays.discard(taken);
  }
}

/** Copies slice p of every run to device p, in the order of the runs. */
export async function exchange(
  workers: readonly DeviceWorker[],
  runs: readonly Column[],
  cuts: readonly (readonly number[])[],
  starts: readonly number[],
  borrowed: BorrowedColumns,
): Promise<Column[]> {
  const to = workers.map((worker, p) => {
    const n = (starts[p + 1] as number) - (starts[p] as number);
    return borrowed.take(worker, (runs[0] as Column).dtype, n);
  });
  await settleAll(
    workers.map(async (worker, r) => {
      const run = runs[r] as Column;
      // Each device starts with its own slice and goes round, so that no device receives from all at once.
      for (let step = 0; step < workers.length; step++) {
        const p = (r + step) % workers.length;
        const [from, end] = [cuts[p]?.[r] as number, cuts[p + 1]?.[r] as number];
        const before = runs.slice(0, r).reduce((sum, _, i) => sum + sliceLength(cuts, p, i), 0);
        if (from === end) continue;
        if (p === r) await worker.arrays.copy(run, from, to[p] as Column, before, end - from);
        else {
          const destination = { receiver: workers[p] as DeviceWorker, to: to[p] as Column, start: before };
          await send({ sender: worker, run, span: [from, end], ...destination });
        }
      }
    }),
  );
  return to;
}

/** A transfer of elements from one device to another. */
export interface SliceTransfer {
  readonly sender: DeviceWorker;
  readonly run: Column;
  /** Range of the run: first position, and the one after the last. */
  readonly span: readonly [number, number];
  readonly receiver: DeviceWorker;
  readonly to: Column;
  /** First position in `to`. */
  readonly start: number;
}

/** Sends a slice: by threads if both devices have dedicated memory, otherwise through pinned slots. */
export async function send(transfer: SliceTransfer): Promise<void> {
  if (!transfer.sender.overlapsTransfers || !transfer.receiver.overlapsTransfers)
    return sendThroughHost(transfer);
  const { relay } = await import('./relay.js'); // loaded on demand, since it needs OpenCL
  return relay(transfer);
}

/**
 * Sends elements through host memory, which devices without dedicated memory access directly. One piece is
 * read while the previous one is written.
 */
async function sendThroughHost({
  sender,
  run,
  span: [from, end],
  receiver,
  to,
  start,
}: SliceTransfer): Promise<void> {
  const { bytes } = run.info;
  const piece = Math.min(end - from, Math.floor(HOST_PIECE_BYTES / bytes));
  const slots = sender.takeSlots(piece * bytes);
  const busy: Promise<void>[] = slots.all.map(() => Promise.resolve());
  try {
    for (let at = from, s = 0; at < end; at += piece, s = (s + 1) % busy.length) {
      await busy[s];
      const view = byteRange(slots.all[s] as Uint8Array, 0, Math.min(piece, end - at) * bytes);
      await sender.arrays.load(run, view, at);
      busy[s] = receiver.arrays.fill(to, view, start + at - from);
      busy[s]?.catch(() => undefined); // reported below
    }
    await Promise.all(busy);
  } finally {
    await Promise.allSettled(busy);
    sender.returnSlots(slots);
  }
}

/** Returns the number of elements of run r in slice p. */
const sliceLength = (cuts: readonly (readonly number[])[], p: number, r: number): number =>
  (cuts[p + 1]?.[r] as number) - (cuts[p]?.[r] as number);
