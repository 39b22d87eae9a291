/** Runs the stages of an external sort. */

import type { SortReport } from '../../sort/model/report.js';
import { MismatchError } from '../../util/errors.js';
import { Multiset, randomPoints } from '../checks/multiset.js';
import { assertNotAborted } from '../streams/raw.js';
import { thisProcess } from '../streams/temporary-files.js';
import type { ExternalReport, ExternalSort } from './job.js';
import { HELD_SHARE } from './policy.js';
import type { Session } from './session.js';
import { type Leaf, type SortedOutput, sortPartitions } from './sort.js';
import { FileSpill, type Spill } from './spill.js';
import { Splitters } from './splitters.js';
import {
  chooseSplitters,
  lastShard,
  leavesOf,
  partitionInput,
  readBuffer,
  type StageWork,
  splitLarge,
  type Tasks,
} from './stages.js';

/** Seed of the sample when the job has none. */
const DEFAULT_SEED = 0x5eed;

/** A session; `part` is the name of the unfinished result when that is kept. */
export type ResumableSession = Omit<Session, 'folder'> & { readonly part: string | undefined };

/** One run through the stages. */
export class Pipeline {
  readonly #external: ExternalSort;
  /** Memory of all stages, except for that of the device. */
  readonly #memory: Uint8Array;
  readonly #seconds = { sample: 0, partition: 0, sort: 0 };
  #points: BigUint64Array | undefined;
  #spilledBytes = 0;
  #resumedBytes = 0;
  #doneBytes = 0;
  #sort: SortReport | undefined;

  constructor(external: ExternalSort) {
    const { budget, verify } = external.job;
    this.#external = external;
    this.#memory = new Uint8Array(4 * budget.partitionBytes);
    if (verify) this.#points = randomPoints();
  }

  async run(
    spill: Spill,
    tasks: Tasks,
    output: SortedOutput,
    session: ResumableSession | undefined,
  ): Promise<ExternalReport> {
    const { order, budget, seed = DEFAULT_SEED } = this.#external.job;
    const { signal } = this.#external.context;
    const work = { order, budget, spill, tasks, memory: this.#memory, signal, seed };
    const splitters = await this.#measureStage('sample', () => this.#splitters(work, session));
    const [before, after] = [this.#checksum(), this.#checksum()];
    const leaves = await this.#measureStage('partition', () => this.#partition(work, splitters, before));
    const bytes = leaves.reduce((sum, leaf) => sum + leaf.bytes, 0);
    if (this.#external.reading.bytes !== undefined && bytes !== this.#external.reading.bytes) {
      throw new MismatchError(
        `cannot use the partitions: they have ${bytes} bytes, and the input has ${this.#external.reading.bytes}`,
      );
    }
    // Unsynced data are trusted only until the system goes down. The partitions sorted last are synced first, since the
    // others are removed before their turn.
    const names = leaves.map(({ name }) => name).reverse();
    const syncing = session?.state && spill.sync(names);
    const synced = syncing?.then(() => session?.state?.put('synced', {}));
    synced?.catch(() => undefined); // awaited below
    try {
      await this.#measureStage('sort', () => this.#sortAll(leaves, { spill, output, after }));
    } finally {
      await Promise.allSettled([synced]);
    }
    await synced;
    if (before && after && !before.equals(after)) {
      throw new MismatchError('cannot use the sorted result: it does not hold the records of the input');
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
    { spill, output, after }: { spill: Spill; output: SortedOutput; after: Multiset | undefined },
  ): Promise<void> {
    const { order, budget, options = {} } = this.#external.job;
    const { signal } = this.#external.context;
    const each = budget.partitionBytes;
    const buffer = (i: number): Uint8Array => this.#memory.subarray(i * each, (i + 1) * each);
    const bytes = leaves.reduce((sum, leaf) => sum + leaf.bytes, 0);
    await sortPartitions(leaves, {
      sorter: this.#external.sorter,
      order,
      spill,
      output,
      buffers: [buffer(0), buffer(1), buffer(2), buffer(3)],
      options: { ...options, signal, onReport: (report) => this.#recordLongest(report) },
      signal,
      checksum: after,
      points: this.#points,
      onDone: (done, isOld) => {
        if (isOld) this.#resumedBytes += done;
        this.#progress('sort', done, bytes);
      },
    });
  }

  /** Returns the splitters of the manifest, or chooses new ones from a sample and writes a manifest. */
  async #splitters(work: StageWork, session: ResumableSession | undefined): Promise<Splitters> {
    const { order, orderName } = this.#external.job;
    const found = session?.manifest;
    if (found) {
      // A resumed sort verifies its result if and only if the interrupted one did.
      this.#points = found.points && BigUint64Array.from(found.points, BigInt);
      return new Splitters(order, found.splitters);
    }
    const reading = this.#external.reading;
    await reading.hold(HELD_SHARE * work.budget.memory, work.signal);
    const known = Math.floor(reading.readableBytes / order.recordBytes);
    const splitters = await chooseSplitters(reading.readAt, known, reading.bytes, work);
    assertNotAborted(work.signal); // before there is something to resume
    if (session?.state && session.identity) {
      await session.state.begin({
        input: session.identity,
        unit: order.recordBytes,
        order: orderName,
        part: session.part,
        splitters: splitters.stored,
        points: this.#points && Array.from(this.#points, String),
        boot: thisProcess().boot,
      });
    }
    return splitters;
  }

  async #partition(work: StageWork, splitters: Splitters, checksum: Multiset | undefined): Promise<Leaf[]> {
    const from = await lastShard(work.tasks);
    const { bytes } = this.#external.reading;
    const began = from.record?.end ?? 0;
    this.#doneBytes = began;
    const pieces = this.#external.reading.pieces(began, work.order.recordBytes, readBuffer(work));
    const onDone = (done: number): void => {
      this.#spilledBytes += done;
      this.#progress('partition', done, bytes);
    };
    const sizes = await partitionInput(pieces, splitters, from, { ...work, checksum, onDone });
    assertNotAborted(work.signal);
    const onSplit = (leaf: Leaf): void => {
      this.#spilledBytes += leaf.bytes;
    };
    return splitLarge(leavesOf({ sizes, ...splitters.facts }), { ...work, onSplit });
  }

  #checksum(): Multiset | undefined {
    return this.#points && new Multiset(this.#external.job.order.recordBytes, this.#points);
  }

  /** Reports progress; every record counts twice, for partitioning and for sorting. */
  #progress(phase: string, done: number, bytes: number | undefined): void {
    this.#doneBytes += done;
    const { recordBytes } = this.#external.job.order;
    const total = bytes === undefined ? Number.NaN : (2 * bytes) / recordBytes;
    this.#external.context.onProgress?.({ phase, done: this.#doneBytes / recordBytes, total });
  }

  #recordLongest(report: SortReport): void {
    if (!this.#sort || report.seconds > this.#sort.seconds) this.#sort = report;
  }

  async #measureStage<T>(stage: 'sample' | 'partition' | 'sort', work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const result = await work();
    this.#seconds[stage] += (performance.now() - started) / 1000;
    return result;
  }
}
