import {
  assertNotAbandoned,
  COPY_THREADS,
  type StagedTransferTarget,
  type TransferTarget,
} from '../../device/staging.js';
import { typedError } from '../../device/status.js';
import * as cl from '../../opencl/index.js';
import type { SliceTransfer } from './exchange.js';

/** How elements pass through memory of the host. */
interface RelaySettings {
  /** Bytes that a device transfers at once. */
  readonly piece: number;
  /** Bytes of the memory on either side. */
  readonly ring: number;
  /** Threads that copy from side to side. */
  readonly threads: number;
}

/**
 * Through memory of both: caches should hold it. On 32 cores and two H100, both ways at once, 8 threads bring 48 GB/s so, 43 in pieces
 * of 2 MiB, of which 16 threads bring 32 and 32 bring 24.
 */
const COPIED: RelaySettings = { piece: 2 ** 22, ring: 2 ** 25, threads: Math.min(8, COPY_THREADS) };
/** Through memory that both reach, where nothing is copied: 60 GB/s on these. */
const SHARED: RelaySettings = { piece: 2 ** 23, ring: 2 ** 26, threads: 1 };

/**
 * Sends elements between devices with memory of their own: what leaves one device comes into memory that the other one reaches, or
 * is copied there by threads.
 */
export async function relay({
  sender,
  run,
  span: [from, end],
  receiver,
  to,
  start,
}: SliceTransfer): Promise<void> {
  const { bytes } = run.info;
  const offsets = BigUint64Array.of(BigInt(from * bytes), BigInt(start * bytes));
  const statuses = new BigInt64Array(2);
  const check = (side: 0 | 1): void => {
    const status = Number(statuses[side]);
    const doing = ['sending a slice', 'taking a slice'][side] as string;
    if (status !== 0) throw typedError({ status, message: `status ${status}` }, doing);
  };
  const shared = sender.sharesPinnedWith(receiver);
  const { piece, ring, threads } = shared ? SHARED : COPIED;
  let failure: { readonly error: unknown } | undefined;
  // Each takes the ring in which it sends before any in which another one gets, so none waits in a circle.
  await sender.arrays.drain(run, async (out) => {
    const copyInto = async (into: TransferTarget | StagedTransferTarget): Promise<void> => {
      assertNotAbandoned(out);
      const own = out.ring.subarray(0, ring);
      await cl.relayAsync(
        [out.queue, into.queue],
        [out.buffer, into.buffer],
        offsets,
        (end - from) * bytes,
        'ring' in into ? [own, into.ring.subarray(0, ring)] : [own],
        piece,
        statuses,
        threads,
      );
      check(1);
    };
    try {
      await (shared ? receiver.arrays.feedUnstaged(to, copyInto) : receiver.arrays.feed(to, copyInto));
    } catch (error) {
      failure = { error }; // the receiver's, which is none of the sender's business
    }
    check(0);
  });
  if (failure) throw failure.error;
}
