/** Jobs that wait: the largest first, so that nothing long is left for the end, and those to be tried again last. */
import type { Job } from './jobs.js';

/** A job on its way. */
export interface Entry {
  readonly job: Job;
  /** Its place among all, for the order of results. */
  readonly index: number;
  /** Bytes of its input, 0 where that is not known. */
  readonly bytes: number;
  /** Bytes of memory that it takes. */
  readonly memory: number;
  /** Bytes that it may take, should it be more than was thought. */
  readonly limit: number;
  /** How much of one of the jobs at once it is: small ones are run many together. */
  readonly weight: number;
  /** How often it has failed by itself. */
  failures: number;
  /** It was under way when a process ended: to be run with nothing beside it, so that it is known which job was at fault. */
  isSuspect: boolean;
  /** The device that it failed on: another one is asked first. */
  avoid?: string | undefined;
}

/** Entries, the smallest first: the next one is the last. */
class SizeOrderedQueue {
  readonly #entries: Entry[] = [];

  add(entries: readonly Entry[]): void {
    for (const entry of entries) this.#entries.push(entry);
    // Of the same size, those that came first go first.
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

/** Entries to be tried again, in lists of those that the same devices may take: of very many one is found at once. */
class RetryQueue {
  readonly #lists = new Map<string, Entry[]>();

  add(entry: Entry): void {
    const name = JSON.stringify([entry.job.device, entry.avoid]);
    const list = this.#lists.get(name);
    if (list) list.push(entry);
    else this.#lists.set(name, [entry]);
  }

  /** The first one of a list that a device may take; removed by `take`. */
  nextFor(consumer: QueueConsumer): { readonly entry: Entry; readonly take: () => void } | undefined {
    for (const list of this.#lists.values()) {
      const [entry] = list;
      if (entry && isEligible(entry, consumer)) return { entry, take: () => void list.shift() };
    }
    return undefined;
  }

  /** Takes out the entries of which `isLost` is true. */
  removeLost(isLost: (entry: Entry) => boolean): Entry[] {
    return [...this.#lists.values()].flatMap((list) => (list[0] && isLost(list[0]) ? list.splice(0) : []));
  }
}

/** Who asks for a job. */
export interface QueueConsumer {
  readonly device: string;
  /** Whether it does jobs that name no device. */
  readonly shares: boolean;
  /** Whether nothing is under way on it. */
  readonly isIdle: boolean;
  /** Other devices, at work, that take jobs without one of their own. */
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

  /** Puts back what is to be tried again, when all else has been. A suspect comes before everything. */
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

  /** The next job for a device, which `take` removes; `wait` while there is one that needs the device for itself. */
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

  /** Takes out all that nobody is left to do. */
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
