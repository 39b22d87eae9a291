/** The queue of jobs: largest first, so that no long job starts last; retries come after all others. */
import type { Job } from './jobs.js';

/** A queued job. */
export interface Entry {
  readonly job: Job;
  /** Position among all jobs, for the order of results. */
  readonly index: number;
  /** Input size in bytes; 0 when unknown. */
  readonly bytes: number;
  /** Estimated memory in bytes. */
  readonly memory: number;
  /** Maximum memory in bytes, when the estimate is too low. */
  readonly limit: number;
  /** Whether the inputs are few bytes of uncompressed keys or records. */
  readonly isSmall: boolean;
  /** Fraction of a concurrency slot; small jobs share one. */
  readonly weight: number;
  /** Number of failures attributed to this job. */
  failures: number;
  /** The job was running when a worker process ended. It runs alone next, to identify the job at fault. */
  isSuspect: boolean;
  /** Device of the last failure; another one is preferred. */
  avoid?: string | undefined;
}

/** Entries in ascending order of size; the last one is next. */
class SizeOrderedQueue {
  readonly #entries: Entry[] = [];

  add(entries: readonly Entry[]): void {
    for (const entry of entries) this.#entries.push(entry);
    // Entries of equal size keep their order.
    this.#entries.sort((a, b) => a.bytes - b.bytes || b.index - a.index);
  }

  get next(): Entry | undefined {
    return this.#entries.at(-1);
  }

  take(): void {
    this.#entries.pop();
  }

  drain(): Entry[] {
    return this.#entries.splice(0);
  }
}

/** Entries to retry, grouped by eligible devices, so that the next one is found without a scan. */
class RetryQueue {
  readonly #lists = new Map<string, Entry[]>();

  add(entry: Entry): void {
    const name = JSON.stringify([entry.job.device, entry.avoid]);
    const list = this.#lists.get(name);
    if (list) list.push(entry);
    else this.#lists.set(name, [entry]);
  }

  /** Returns the first entry that a device may run; `take` removes it. */
  nextFor(consumer: QueueConsumer): { readonly entry: Entry; readonly take: () => void } | undefined {
    for (const list of this.#lists.values()) {
      const [entry] = list;
      if (entry && isEligible(entry, consumer)) return { entry, take: () => void list.shift() };
    }
    return undefined;
  }

  /** Removes and returns the entries for which `isLost` is true. */
  removeLost(isLost: (entry: Entry) => boolean): Entry[] {
    return [...this.#lists.values()].flatMap((list) => (list[0] && isLost(list[0]) ? list.splice(0) : []));
  }
}

/** A device that requests a job. */
export interface QueueConsumer {
  readonly device: string;
  /** Whether it accepts jobs without a device. */
  readonly shares: boolean;
  /** Whether no job is running on it. */
  readonly isIdle: boolean;
  /** Other working devices that accept jobs without a device. */
  readonly others: readonly string[];
}

export class JobQueue {
  readonly #shared = new SizeOrderedQueue();
  readonly #own = new Map<string, SizeOrderedQueue>();
  readonly #suspects = new RetryQueue();
  readonly #failed = new RetryQueue();

  add(entries: readonly Entry[]): void {
    const lists = new Map<SizeOrderedQueue, Entry[]>();
    for (const entry of entries) {
      const list = this.#listOf(entry.job);
      const some = lists.get(list);
      if (some) some.push(entry);
      else lists.set(list, [entry]);
    }
    for (const [list, some] of lists) list.add(some);
  }

  /** Queues a job for a retry: after all others, or before all others if it is a suspect. */
  requeue(entry: Entry): void {
    (entry.isSuspect ? this.#suspects : this.#failed).add(entry);
  }

  #listOf({ device }: Job): SizeOrderedQueue {
    if (device === undefined) return this.#shared;
    let list = this.#own.get(device);
    if (!list) {
      list = new SizeOrderedQueue();
      this.#own.set(device, list);
    }
    return list;
  }

  /** Returns the next job for a device, which `take` removes; `wait` while a job needs the device to itself. */
  next(consumer: QueueConsumer): { readonly entry: Entry; readonly take: () => void } | 'wait' | undefined {
    const suspect = this.#suspects.nextFor(consumer);
    if (suspect) return consumer.isIdle ? suspect : 'wait';
    const lists = [this.#own.get(consumer.device), consumer.shares ? this.#shared : undefined];
    const [list] = lists
      .filter((one) => one?.next !== undefined)
      .toSorted((a, b) => (b?.next?.bytes ?? 0) - (a?.next?.bytes ?? 0));
    if (list?.next) return { entry: list.next, take: () => list.take() };
    return this.#failed.nextFor(consumer);
  }

  /** Removes and returns the jobs that no remaining device can run. */
  removeUnassignable(devices: readonly string[], shares: boolean): Entry[] {
    const isLost = ({ job: { device } }: Entry): boolean =>
      device === undefined ? !shares : !devices.includes(device);
    const lost = [...this.#suspects.removeLost(isLost), ...this.#failed.removeLost(isLost)];
    for (const [device, list] of this.#own) if (!devices.includes(device)) lost.push(...list.drain());
    if (!shares) lost.push(...this.#shared.drain());
    return lost;
  }
}

function isEligible({ job, avoid }: Entry, { device, shares, others }: QueueConsumer): boolean {
  if (job.device !== undefined) return job.device === device;
  if (!shares) return false;
  return avoid !== device || others.length === 0;
}
