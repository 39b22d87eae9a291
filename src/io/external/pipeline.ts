/** The stages of a sort in partitions, one after the other. */
import type { SortReport } from '../../sort/api/report.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { MismatchError } from '../../util/errors.js';
import { thisProcess } from '../aside.js';
import { randomPoints } from '../multiset.js';
import { assertGoing } from '../raw.js';
import type { FileContext } from '../sort-file.js';
import { UnitMultiset } from '../unit-multiset.js';
import type { ExternalJob, ExternalReport } from './job.js';
import type { Reading } from './reading.js';
import type { Session } from './session.js';
import { type Leaf, type SortedOutput, sortPartitions } from './sort.js';
import { FileSpill, type Spill } from './spill.js';
import { Splitters } from './splitters.js';
import {
  chooseSplitters,
  lastShard,
  leavesOf,
  partitionInput,
  readingRoom,
  type StageWork,
  splitLarge,
  type Tasks,
} from './stages.js';

/** Chooses the sample where the job does not say. */
const DEFAULT_SEED = 0x5eed;

/** Part of the memory that an input without a size is read into, to see whether it fits. */
export const HELD = 0.5;

/** A session in which the result may be kept under a name of its own. */
export type KeptSession = Omit<Session, 'folder'> & { readonly part: string | undefined };

/** One run through the stages. */
export class Pipeline {
  readonly #sorter: Sorter;
  readonly #job: ExternalJob;
  readonly #context: FileContext;
  readonly #reading: Reading;
  /** All the memory that the stages have, but for what the device takes. */
  readonly #room: Uint8Array;
  readonly #seconds = { sample: 0, partition: 0, sort: 0 };
  #points: BigUint64Array | undefined;
  #spilledBytes = 0;
  #resumedBytes = 0;
  #doneBytes = 0;
  #sort: SortReport | undefined;

  constructor(sorter: Sorter, job: ExternalJob, context: FileContext, reading: Reading) {
    this.#sorter = sorter;
    this.#job = job;
    this.#context = context;
    this.#reading = reading;
    this.#room = new Uint8Array(4 * job.budget.partitionBytes);
    if (job.verify) this.#points = randomPoints();
  }

  async run(
    spill: Spill,
    tasks: Tasks,
    output: SortedOutput,
    session: KeptSession | undefined,
  ): Promise<ExternalReport> {
    const { order, budget, seed = DEFAULT_SEED } = this.#job;
    const { signal } = this.#context;
    const work = { order, budget, spill, tasks, room: this.#room, signal, seed };
    const splitters = await this.#timed('sample', () => this.#splitters(work, session));
    const [before, after] = [this.#checksum(), this.#checksum()];
    const leaves = await this.#timed('partition', () => this.#partition(work, splitters, before));
    const bytes = leaves.reduce((sum, leaf) => sum + leaf.bytes, 0);
    if (this.#reading.bytes !== undefined && bytes !== this.#reading.bytes) {
      throw new MismatchError(`partitions have ${bytes} bytes, and the input has ${this.#reading.bytes}`);
    }
    // What is not on disk yet is trusted only until the system goes down.
    // Those that are sorted last come first, since others are gone before their turn.
    const names = leaves.map(({ name }) => name).reverse();
    const syncing = session?.state && spill.sync(names);
    const synced = syncing?.then(() => session?.state?.put('synced', {}));
    synced?.catch(() => undefined); // it is awaited below
    try {
      await this.#timed('sort', () => this.#sortAll(leaves, { spill, output, after }));
    } finally {
      await Promise.allSettled([synced]);
    }
    await synced;
    if (before && after && !before.equals(after)) {
      throw new MismatchError('the result does not hold the units of the input: it is not used');
    }
    return {
      bytes,
      partitions: leaves.filter((leaf) => leaf.bytes > 0).length,
      spilledBytes: spill instanceof FileSpill ? this.#spilledBytes : 0,
      resumedBytes: this.#resumedBytes,
      seconds: this.#seconds,
      ...(after && { verified: { order: true, permutation: true } }),
      sort: this.#sort,
    };
  }

  async #sortAll(
    leaves: readonly Leaf[],
    { spill, output, after }: { spill: Spill; output: SortedOutput; after: UnitMultiset | undefined },
  ): Promise<void> {
    const { order, budget, options = {} } = this.#job;
    const { signal } = this.#context;
    const each = budget.partitionBytes;
    const buffer = (i: number): Uint8Array => this.#room.subarray(i * each, (i + 1) * each);
    const bytes = leaves.reduce((sum, leaf) => sum + leaf.bytes, 0);
    await sortPartitions(leaves, {
      sorter: this.#sorter,
      order,
      spill,
      output,
      buffers: [buffer(0), buffer(1), buffer(2), buffer(3)],
      options: { ...options, signal, onReport: (report) => this.#longest(report) },
      signal,
      checksum: after,
      fresh: () => this.#checksum(),
      onDone: (done, isOld) => {
        if (isOld) this.#resumedBytes += done;
        this.#progress('sort', done, bytes);
      },
    });
  }

  /** Those of the manifest, or new ones from a sample, with a manifest. */
  async #splitters(work: StageWork, session: KeptSession | undefined): Promise<Splitters> {
    const { order, orderName } = this.#job;
    const found = session?.manifest;
    if (found) {
      // What began to be proven is proven to its end.
      this.#points = found.points && BigUint64Array.from(found.points, BigInt);
      return new Splitters(order, found.splitters);
    }
    const reading = this.#reading;
    await reading.hold(HELD * work.budget.memory, work.signal);
    const known = Math.floor(reading.known / order.unit);
    const splitters = await chooseSplitters(reading.readAt, known, reading.bytes, work);
    if (session?.state && session.identity) {
      await session.state.begin({
        input: session.identity,
        unit: order.unit,
        order: orderName,
        part: session.part,
        splitters: splitters.stored,
        points: this.#points && Array.from(this.#points, String),
        boot: thisProcess().boot,
      });
    }
    return splitters;
  }

  async #partition(
    work: StageWork,
    splitters: Splitters,
    checksum: UnitMultiset | undefined,
  ): Promise<Leaf[]> {
    const from = await lastShard(work.tasks);
    const { bytes } = this.#reading;
    const began = from.record?.end ?? 0;
    this.#doneBytes = began;
    const pieces = this.#reading.pieces(began, work.order.unit, readingRoom(work));
    const onDone = (done: number): void => {
      this.#spilledBytes += done;
      this.#progress('partition', done, bytes);
    };
    const sizes = await partitionInput(pieces, splitters, from, { ...work, checksum, onDone });
    assertGoing(work.signal);
    const onSplit = (leaf: Leaf): void => {
      this.#spilledBytes += leaf.bytes;
    };
    return splitLarge(leavesOf({ sizes, ...splitters.facts }), { ...work, onSplit });
  }

  #checksum(): UnitMultiset | undefined {
    return this.#points && new UnitMultiset(this.#job.order.unit, this.#points);
  }

  /** Every unit is partitioned, and then sorted. */
  #progress(phase: string, done: number, bytes: number | undefined): void {
    this.#doneBytes += done;
    const { unit } = this.#job.order;
    const total = bytes === undefined ? Number.NaN : (2 * bytes) / unit;
    this.#context.onProgress?.({ phase, done: this.#doneBytes / unit, total });
  }

  #longest(report: SortReport): void {
    if (!this.#sort || report.seconds > this.#sort.seconds) this.#sort = report;
  }

  async #timed<T>(stage: 'sample' | 'partition' | 'sort', work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const result = await work();
    this.#seconds[stage] += (performance.now() - started) / 1000;
    return result;
  }
}
