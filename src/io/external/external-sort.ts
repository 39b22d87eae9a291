/**
 * Sorting what does not fit into memory: units are brought to partitions that do, in files, and these are sorted
 * one after the other into the output. Data cross the disk twice. What fits goes the same way with its partitions
 * in memory, since that takes less of it than a sort as a whole, and the output is written meanwhile.
 */
import { rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Sorter } from '../../sort/api/sorter.js';
import { MismatchError } from '../../util/errors.js';
import { type Output, withOutput } from '../output.js';
import { isStdout } from '../raw.js';
import type { FileContext } from '../sort-file.js';
import { cacheSizedBudget, memoryBudget } from './budget.js';
import { assertFreeSpace, diskUsage } from './disk.js';
import { InputReader } from './input-reader.js';
import type { ExternalJob, ExternalReport } from './job.js';
import { HELD_SHARE, Pipeline } from './pipeline.js';
import { partPath, ResumableOutput } from './resumable-output.js';
import { describeUnfinished, openSession, type Session } from './session.js';
import { MAX_UNSETTLED, type SortedOutput } from './sort.js';
import { FileSpill, MemorySpill, type Spill } from './spill.js';
import { lastShard, sortedTask, type Tasks } from './stages.js';
import { State } from './state.js';
import { removeFolder, removeFolderNow } from './temporary-folder.js';

/**
 * Sorts units that are more than memory holds at once.
 *
 * @param output the output, where it is open already: it is committed by who opened it
 * @throws UsageError, InputError, IoError, AbortedError, MismatchError, and what the Sorter throws
 */
export async function externalSort(
  sorter: Sorter,
  job: ExternalJob,
  context: FileContext,
  output?: Output,
): Promise<ExternalReport> {
  const { input, order, budget } = job;
  const reading = await InputReader.open(input, context.signal);
  try {
    if (reading.bytes === undefined) await reading.hold(HELD_SHARE * budget.memory, context.signal);
    const { bytes } = reading;
    const old = await describeUnfinished(job.out, job.tmp);
    const resumes = job.resume && old !== undefined; // though there may be more memory by now
    const inMemory = bytes === undefined || resumes ? undefined : memoryBudget(budget.memory, order, bytes);
    if (inMemory && old) context.onNote?.(old);
    const maxBudget = inMemory ?? budget;
    const chosenBudget =
      sorter.hasDedicatedMemory || resumes ? maxBudget : cacheSizedBudget(maxBudget, order, bytes);
    const sort = new ExternalSort(sorter, { ...job, budget: chosenBudget }, context, {
      reading,
      output,
    });
    return await (inMemory ? sort.inMemory() : sort.onDisk());
  } finally {
    await reading.close();
  }
}

/** Partitions whose files may be there beside their places in the result: one is read, one written, others settle. */
const MAX_OPEN_PARTITIONS = MAX_UNSETTLED + 3;

/** A task that is not recorded is made again. */
const NO_TASK_RECORDS: Tasks = { get: async () => undefined, put: async () => undefined };

/** Where the partitions of a sort are, and how its result gets to the output. */
class ExternalSort {
  readonly #sorter: Sorter;
  readonly #job: ExternalJob;
  readonly #context: FileContext;
  readonly #reading: InputReader;
  readonly #output: Output | undefined;

  constructor(
    sorter: Sorter,
    job: ExternalJob,
    context: FileContext,
    { reading, output }: { reading: InputReader; output: Output | undefined },
  ) {
    this.#output = output;
    this.#sorter = sorter;
    this.#job = job;
    this.#context = context;
    this.#reading = reading;
  }

  /** With the partitions in memory. */
  async inMemory(): Promise<ExternalReport> {
    return this.#sortToStream(new MemorySpill(), NO_TASK_RECORDS, true);
  }

  /** With the partitions in files. */
  async onDisk(): Promise<ExternalReport> {
    const { input, order, orderName, out, tmp, verify = false, resume = false, writer } = this.#job;
    const { signal, temporaryFiles, onNote } = this.#context;
    const same = { input, order, orderName, out, tmp, verify };
    const session = await openSession(same, resume, temporaryFiles);
    const { folder, state } = session;
    const spill = new FileSpill(folder);
    let isNoted = false;
    const noteResumable = (): void => {
      if (!isNoted)
        onNote?.(`what is done so far is kept in ${folder}: the same command with --resume goes on with it`);
      isNoted = true;
    };
    // There may be no time to wait for the sort to end.
    const leave = (): void => {
      if (!state) removeFolderNow(folder);
      else if (session.manifest || state.hasBegun) noteResumable();
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      await this.#assertFreeSpace(session);
      const report =
        state && !writer && !this.#output
          ? await this.#sortInPlace(session, spill)
          : await this.#sortToStream(spill, state ?? NO_TASK_RECORDS, state === undefined, session);
      await state?.remove();
      return report;
    } catch (error) {
      const started = state && (await State.find(folder));
      if (state && (!started || error instanceof MismatchError)) {
        await state.remove(); // nothing is there yet, or nothing that may be gone on with
        if (started?.part) await rm(await partPath(out, started.part), { force: true });
      } else if (state) noteResumable();
      throw error;
    } finally {
      signal.removeEventListener('abort', leave);
      await spill.close();
      if (!state) await removeFolder(folder, temporaryFiles);
    }
  }

  /** Tells what disks are to hold. @throws IoError when they have no room */
  async #assertFreeSpace({ folder, state, manifest }: Session): Promise<void> {
    const { bytes } = this.#reading;
    const { out, writer, budget } = this.#job;
    if (bytes === undefined) {
      this.#context.onNote?.(`what does not fit into memory goes to temporary files in ${folder}`);
      return;
    }
    const existingBytes = manifest ? await diskUsage(folder) : 0;
    const spilled = state && manifest ? ((await lastShard(state)).record?.end ?? 0) : 0;
    const wanted = [{ folder, bytes: bytes - spilled, what: 'temporary files' }];
    const target = isStdout(out) ? undefined : dirname(resolve(out));
    const part = manifest?.part ? await fileBytes(await partPath(out, manifest.part)) : 0;
    if (target) wanted.push({ folder: target, bytes: Math.max(0, bytes - part), what: 'the result' });
    // Where the result is kept, partitions go when they are in it: both together are little more than one of both.
    const saved =
      state && !writer ? bytes - spilled + existingBytes - MAX_OPEN_PARTITIONS * budget.partitionBytes : 0;
    await assertFreeSpace(wanted, Math.max(0, saved));
    const mebibytes = (amount: number): string => `${Math.ceil(amount / 2 ** 20)} MiB`;
    this.#context.onNote?.(
      `${mebibytes(bytes)} are sorted in ${mebibytes(budget.memory)} of memory, ` +
        (manifest
          ? `going on with what is in ${folder}`
          : `with up to ${mebibytes(bytes)} of temporary files in ${folder}`),
    );
  }

  /** Into a file that is kept, and gone on with, when the sort ends early. */
  async #sortInPlace({ state, manifest, identity }: Session, spill: Spill): Promise<ExternalReport> {
    if (!state || !identity) throw new Error('a result that is kept has a state');
    const { out } = this.#job;
    const part = manifest?.part ?? ResumableOutput.partName(out);
    await ResumableOutput.assertWritable(out);
    // Made when the manifest names it: no run leaves one that the next does not know.
    let opened: Promise<ResumableOutput> | undefined;
    const open = (): Promise<ResumableOutput> => {
      opened ??= ResumableOutput.open(out, part);
      return opened;
    };
    try {
      const output: SortedOutput = {
        write: async (position, bytes) => (await open()).write(position, bytes),
        done: async (name, record) => {
          await (await open()).sync(); // before the partition goes
          await state.put(sortedTask({ name }), record);
          await spill.drop(name);
        },
        recordOf: (name) => state.get(sortedTask({ name })),
      };
      const report = await this.#runPipeline(spill, state, output, { state, manifest, identity, part });
      await (await open()).commit(report.bytes);
      return report;
    } finally {
      await opened?.then((sortInPlace) => sortInPlace.keep()).catch(() => undefined);
    }
  }

  #runPipeline(...[spill, tasks, output, session]: Parameters<Pipeline['run']>): Promise<ExternalReport> {
    const pipeline = new Pipeline(this.#sorter, this.#job, this.#context, this.#reading);
    return pipeline.run(spill, tasks, output, session);
  }

  /** Into an output that is written from its beginning to its end. */
  async #sortToStream(spill: Spill, tasks: Tasks, drop: boolean, session?: Session): Promise<ExternalReport> {
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
      report = await this.#runPipeline(spill, tasks, sorted, session && { ...session, part: undefined });
      await to?.end();
    };
    await (this.#output ? write(this.#output) : withOutput(out, this.#context, write));
    return report as unknown as ExternalReport;
  }
}

const fileBytes = async (path: string): Promise<number> =>
  ((await stat(path).catch(() => undefined))?.blocks ?? 0) * 512;
