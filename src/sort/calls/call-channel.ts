/** The diagnostics channel of calls. Without a subscriber, a call only checks that there is none. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import type { ReportDevice, SortReport } from '../model/report.js';

/** Message of the diagnostics channel `clsort:call`, published when a call of an operation has ended. */
export interface CallMessage {
  /** Name of the method, such as `topK`. */
  readonly operation: string;
  /** Number of elements that the call processed; 0 if it failed before it began, and without elements. */
  readonly n: number;
  /** Device that the call ran on, or the host; missing like the elements. */
  readonly device?: ReportDevice;
  /**
   * Reports of the sorts that the call consists of. A device records stages only with option `onReport`. Small sorts
   * that were combined are reported by one of their calls.
   */
  readonly reports: readonly SortReport[];
  /** Error that the call rejected with; missing if it succeeded. */
  readonly error?: unknown;
  /** Wall-clock seconds from the call to its end. */
  readonly seconds: number;
}

/** What is known of a call that has not ended. */
interface CallRecord {
  n: number;
  device?: ReportDevice;
  readonly reports: SortReport[];
}

/** The channel. Callers check `hasSubscribers` themselves, so that a call without a subscriber does not pass this file. */
export const callChannel = channel('clsort:call');
const records = new AsyncLocalStorage<CallRecord>();

/** Returns the record of the call that the caller belongs to; undefined if it began without a subscriber. */
export const currentRecord = (): CallRecord | undefined => records.getStore();

/** Runs a call and publishes its message. Settles as the call does. */
export async function publishCall<T>(operation: string, run: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const record: CallRecord = { n: 0, reports: [] };
  const publish = (failure?: { readonly error: unknown }): void => {
    const message: CallMessage = {
      operation,
      ...record,
      ...failure,
      seconds: (performance.now() - started) / 1000,
    };
    callChannel.publish(message);
  };
  try {
    const result = await records.run(record, run);
    publish();
    return result;
  } catch (error) {
    publish({ error });
    throw error;
  }
}
