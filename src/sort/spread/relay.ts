import { COPY_THREADS, type Feed } from '../../device/staging.js';
import { typedError } from '../../device/status.js';
import * as cl from '../../opencl/index.js';
import type { Sending } from './exchange.js';

/** Bytes that a device transfers at once, and of the memory on either side that they pass through, which caches should hold. */
const PIECE_BYTES = 2 ** 21;
const RING_BYTES = 2 ** 25;

/** Sends elements between devices with memory of their own, by threads that copy what leaves one device into what the other one takes. */
export async function relay({ sender, run, span: [from, end], receiver, to, start }: Sending): Promise<void> {
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
