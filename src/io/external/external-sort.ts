/**
 * Sorting what does not fit into memory: units are brought to partitions that do, in files, and these are sorted
 * one after the other into the output. Data cross the disk twice. What fits goes the same way with its partitions
 * in memory, since that takes less of it than a sort as a whole, and the output is written meanwhile.
 */
import { rmSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { SortReport } from '../../sort/api/report.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { MismatchError } from '../../util/errors.js';
import { thisProcess } from '../aside.js';
import { randomPoints } from '../multiset.js';
import { type Output, withOutput } from '../output.js';
import { assertGoing, isStdout } from '../raw.js';
import type { FileContext } from '../sort-file.js';
import type { UnitOrder, UnitSortOptions } from '../unit-order.js';
import { type Budget, memoryBudget } from './budget.js';
import { assertRoom, occupied } from './disk.js';
import type { UnitInput } from './input.js';
import { PlacedOutput, partPath } from './placed-output.js';
import { Reading } from './reading.js';
import { openSession, type Session } from './session.js';
import { type Leaf, type SortedOutput, sortPartitions } from './sort.js';
import { FileSpill, MemorySpill, type Spill } from './spill.js';
import { Splitters } from './splitters.js';
import {
  chooseSplitters,
  lastShard,
  leavesOf,
  partitionInput,
  readingRoom,
  type StageWork,
  sortedTask,
  splitLarge,
  type Tasks,
} from './stages.js';
import type { Manifest } from './state.js';
import { Checksum } from './verify.js';

export interface ExternalJob {
  readonly input: UnitInput;
  readonly order: UnitOrder;
  /** The order in words, by which a sort that was ended is known again. */
  readonly orderName: string;
  /** Where the result goes: `-` for stdout. */
  readonly out: string;
  /** How the result is written; by default its bytes as they are. */
  readonly writer?: ((output: Output) => Promise<UnitWriter>) | undefined;
  /** Bytes of memory that may be taken, and what is done with them. */
  readonly budget: Budget;
  /** Folder for temporary files; default that of the output. */
  readonly tmp?: string | undefined;
  /** Goes on where a sort with the same input, output and order was ended, if there is one. */
  readonly resume?: boolean | undefined;
  /** Proves the whole: order, count and checksum. */
  readonly verify?: boolean | undefined;
  readonly options?: UnitSortOptions | undefined;
  /** Chooses the sample. */
  readonly seed?: bigint | number | undefined;
}

/** Units on their way into a file of any format. */
export interface UnitWriter {
  write(piece: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/** What a sort through partitions did. */
export interface ExternalReport {
  readonly bytes: number;
  readonly partitions: number;
  /** Bytes of temporary files that this run wrote; 0 where partitions were in memory. */
  readonly spilledBytes: number;
  /** Bytes that an earlier run had sorted already. */
  readonly resumedBytes: number;
  readonly seconds: { readonly sample: number; readonly partition: number; readonly sort: number };
  readonly verified?: { readonly order: boolean; readonly permutation: boolean };
  /** Of the partition that took the longest; undefined where none had to be sorted. */
  readonly sort: SortReport | undefined;
}

const DEFAULT_SEED = 0x5eed;

/** Part of the memory that an input without a size is read into, to see whether it fits. */
const HELD = 0.5;

/**
 * Sorts units that are more than memory holds at once.
 *
 * @throws UsageError, InputError, IoError, AbortedError, MismatchError, and what the Sorter throws
 */
export async function externalSort(
  sorter: Sorter,
  job: ExternalJob,
  context: FileContext,
): Promise<ExternalReport> {
  const { input, order, budget } = job;
  const reading = await Reading.open(input, context.signal);
  try {
    if (reading.bytes === undefined) await reading.hold(HELD * budget.memory, context.signal);
    const { bytes } = reading;
    const inMemory = bytes === undefined ? undefined : memoryBudget(budget.memory, order, bytes);
    if (inMemory)
      return await new ExternalSort(sorter, { ...job, budget: inMemory }, context, reading).inMemory();
    return await new ExternalSort(sorter, job, context, reading).onDisk();
  } finally {
    await reading.close();
  }
}

/** A task that is not recorded is made again. */
const NO_TASKS: Tasks = { get: async () => undefined, put: async () => undefined };

class ExternalSort {
  readonly #sorter: Sorter;
  readonly #job: ExternalJob;
  readonly #context: FileContext;
  readonly #reading: Reading;
  readonly #room: Uint8Array;
  readonly #seconds = { sample: 0, partition: 0, sort: 0 };
  #points: BigUint64Array | undefined;
  #partitions = 0;
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

  /** With the partitions in memory. */
  async inMemory(): Promise<ExternalReport> {
    return this.#streamed(new MemorySpill(), NO_TASKS, true);
  }

  /** With the partitions in files. */
  async onDisk(): Promise<ExternalReport> {
    const { input, order, orderName, out, tmp, verify = false, resume = false, writer } = this.#job;
    const { signal, asides, onNote } = this.#context;
    const same = { input, order, orderName, out, tmp, verify };
    const session = await openSession(same, resume, asides);
    const { folder, state } = session;
    const spill = new FileSpill(folder);
    const kept = `what is done so far is kept in ${folder}: the same command with --resume goes on with it`;
    const tell = (): void => {
      if (state) onNote?.(kept);
      else rmSync(folder, { recursive: true, force: true });
    };
    signal.addEventListener('abort', tell, { once: true });
    try {
      await this.#assertRoom(session);
      const report =
        state && !writer
          ? await this.#placed(session, spill)
          : await this.#streamed(spill, state ?? NO_TASKS, state === undefined, session);
      await state?.remove();
      return report;
    } catch (error) {
      if (!signal.aborted && state && (await state.get('shard-000000'))) onNote?.(kept);
      throw error;
    } finally {
      signal.removeEventListener('abort', tell);
      await spill.close();
      if (!state) {
        await rm(folder, { recursive: true, force: true });
        asides?.delete(folder);
      }
    }
  }

  /** Tells what disks are to hold. @throws IoError when they have no room */
  async #assertRoom({ folder, state, manifest }: Session): Promise<void> {
    const { bytes } = this.#reading;
    const { out, writer, budget } = this.#job;
    if (bytes === undefined) {
      this.#context.onNote?.(`what does not fit into memory goes to temporary files in ${folder}`);
      return;
    }
    const there = manifest ? await occupied(folder) : 0;
    const wanted = [{ folder, bytes: Math.max(0, bytes - there), what: 'temporary files' }];
    const target = isStdout(out) ? undefined : dirname(resolve(out));
    const part = manifest?.part && (await fileBytes(await partPath(out, manifest.part)));
    if (target) wanted.push({ folder: target, bytes: Math.max(0, bytes - (part || 0)), what: 'the result' });
    // Partitions go when they are in the output, if that is kept.
    const saved = !manifest && state && !writer ? bytes - 4 * budget.partitionBytes : 0;
    await assertRoom(wanted, Math.max(0, saved));
    const mebibytes = (amount: number): string => `${Math.ceil(amount / 2 ** 20)} MiB`;
    this.#context.onNote?.(
      `${mebibytes(bytes)} are sorted in ${mebibytes(budget.memory)} of memory, with up to ` +
        `${mebibytes(bytes)} of temporary files in ${folder}`,
    );
  }

  /** Into a file that is kept, and gone on with, when the sort ends early. */
  async #placed({ state, manifest, identity }: Session, spill: Spill): Promise<ExternalReport> {
    if (!state || !identity) throw new Error('a result that is kept has a state');
    const { out } = this.#job;
    const part = manifest?.part ?? PlacedOutput.partName(out);
    const placed = await PlacedOutput.open(out, part);
    try {
      const output: SortedOutput = {
        write: (position, bytes) => placed.write(position, bytes),
        done: async (name, record) => {
          await placed.sync(); // before the partition goes
          await state.put(sortedTask({ name }), record);
          await spill.drop(name);
        },
        recordOf: (name) => state.get(sortedTask({ name })),
      };
      const report = await this.#run(spill, state, output, { state, manifest, identity, part });
      await placed.commit(report.bytes);
      return report;
    } finally {
      await placed.leave();
    }
  }

  /** Into an output that is written from its beginning to its end. */
  #streamed(spill: Spill, tasks: Tasks, drop: boolean, session?: Session): Promise<ExternalReport> {
    const { out, writer } = this.#job;
    let report: ExternalReport | undefined;
    const write = async (output: Output): Promise<void> => {
      if (this.#reading.bytes !== undefined) await output.reserve(this.#reading.bytes);
      const to = await writer?.(output);
      const sorted: SortedOutput = {
        write: (_, bytes) => (to ?? output).write(bytes),
        done: (name) => (drop ? spill.drop(name) : spill.leave(name)),
        recordOf: async () => undefined,
      };
      report = await this.#run(spill, tasks, sorted, session && { ...session, part: undefined });
      await to?.end();
    };
    return withOutput(out, this.#context, write).then(() => report as ExternalReport);
  }

  async #run(
    spill: Spill,
    tasks: Tasks,
    output: SortedOutput,
    session: (Omit<Session, 'folder'> & { part: string | undefined }) | undefined,
  ): Promise<ExternalReport> {
    const { order, budget, options = {}, seed = DEFAULT_SEED } = this.#job;
    const { signal } = this.#context;
    const work = { order, budget, spill, tasks, room: this.#room, signal, seed };
    const splitters = await this.#timed('sample', () => this.#splitters(work, session));
    const [before, after] = [this.#checksum(), this.#checksum()];
    const leaves = await this.#timed('partition', () => this.#partition(work, splitters, before));
    // What is not on disk yet is trusted only until the system goes down.
    const synced = session?.state && spill.sync(leaves.map(({ name }) => name));
    const recorded = synced?.then(() => session?.state?.put('synced', {}));
    recorded?.catch(() => undefined);
    const bytes = leaves.reduce((sum, leaf) => sum + leaf.bytes, 0);
    if (this.#reading.bytes !== undefined && bytes !== this.#reading.bytes) {
      throw new MismatchError(`partitions have ${bytes} bytes, and the input has ${this.#reading.bytes}`);
    }
    this.#partitions = leaves.filter((leaf) => leaf.bytes > 0).length;
    const quarter = budget.partitionBytes;
    const [a, b, c, d] = [0, 1, 2, 3].map((i) => this.#room.subarray(i * quarter, (i + 1) * quarter));
    await this.#timed('sort', () =>
      sortPartitions(leaves, {
        sorter: this.#sorter,
        order,
        spill,
        output,
        buffers: [a, b, c, d] as [Uint8Array, Uint8Array, Uint8Array, Uint8Array],
        options: { ...options, signal, onReport: (report) => this.#longest(report) },
        signal,
        checksum: after,
        fresh: () => this.#checksum(),
        onDone: (done, isOld) => {
          if (isOld) this.#resumedBytes += done;
          this.#progress('sort', done, bytes);
        },
      }),
    );
    await recorded;
    if (before && after && !before.equals(after)) {
      throw new MismatchError('the result does not hold the units of the input: it is not used');
    }
    return {
      bytes,
      partitions: this.#partitions,
      spilledBytes: spill instanceof FileSpill ? this.#spilledBytes : 0,
      resumedBytes: this.#resumedBytes,
      seconds: this.#seconds,
      ...(after && { verified: { order: true, permutation: true } }),
      sort: this.#sort,
    };
  }

  /** Those of the manifest, or new ones from a sample, with a manifest. */
  async #splitters(
    work: StageWork,
    session: (Omit<Session, 'folder'> & { part: string | undefined }) | undefined,
  ): Promise<Splitters> {
    const { order, orderName } = this.#job;
    const found: Manifest | undefined = session?.manifest;
    if (found) {
      this.#points = found.points && this.#points && BigUint64Array.from(found.points, BigInt);
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

  async #partition(work: StageWork, splitters: Splitters, checksum: Checksum | undefined): Promise<Leaf[]> {
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
    return splitLarge(leavesOf({ sizes, single: splitters.single }), { ...work, onSplit });
  }

  #checksum(): Checksum | undefined {
    return this.#points && new Checksum(this.#job.order.unit, this.#points);
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

const fileBytes = async (path: string): Promise<number> =>
  ((await stat(path).catch(() => undefined))?.blocks ?? 0) * 512;
