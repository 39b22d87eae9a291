import {
  assertNotAbandoned,
  COPY_THREADS,
  type StagedTransferTarget,
  type TransferTarget,
} from '../../device/staging.js';
import { typedError } from '../../device/status.js';
import * as cl from '../../opencl/index.js';
import type { SliceTransfer } from './exchange.js';

/** How elements pass through host memory. */
interface RelaySettings {
  /** Bytes per transfer. */
  readonly piece: number;
  /** Bytes of the staging ring on each side. */
  readonly ring: number;
  /** Threads that copy between the rings. */
  readonly threads: number;
}

/**
 * Through a ring of each device, which should fit the caches. On 32 cores and two H100s, in both directions
 * at once, 8 threads reach 48 GB/s. Pieces of 2 MiB reach 43 GB/s; with those, 16 threads reach 32 GB/s and
 * 32 threads 24 GB/s.
 */
const COPIED: RelaySettings = { piece: 2 ** 22, ring: 2 ** 25, threads: Math.min(8, COPY_THREADS) };
/** Through one ring that both devices access, without copies: 60 GB/s on the same machine. */
const SHARED: RelaySettings = { piece: 2 ** 23, ring: 2 ** 26, threads: 1 };

/**
 * Sends elements between devices with dedicated memory. The sender writes to host memory that the receiver
 * accesses directly, or threads copy from one ring to the other.
 *
 * @throws the error of the device that failed
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
    const action = ['send a slice', 'receive a slice'][side] as string;
    if (status !== 0) throw typedError({ status, message: `status ${status}` }, action);
  };
  const shared = sender.sharesPinnedWith(receiver);
  const { piece, ring, threads } = shared ? SHARED : COPIED;
  let failure: { readonly error: unknown } | undefined;
  // Each relay takes its send ring before any receive ring, so no circular wait can occur.
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
      failure = { error }; // the receiver's failure must not reach the sender
    }
    check(0);
  });
  if (failure) throw failure.error;
}
