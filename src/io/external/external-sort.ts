/**
 * External sort: records are distributed to partitions that fit in memory, stored in files, and then sorted one by one
 * into the output. The data cross the disk twice. Smaller inputs take the same way with partitions in memory: this
 * needs less memory than a sort as a whole, and overlaps with writing the output.
 */

import { rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Sorter } from '../../sort/api/sorter.js';
import { MismatchError } from '../../util/errors.js';
import { type Output, withOutput } from '../streams/output.js';
import { isStdout } from '../streams/raw.js';
import { cacheSizedBudget, memoryBudget } from './budget.js';
import { assertFreeSpace, diskUsage } from './disk.js';
import { InputReader } from './input-reader.js';
import type { ExternalContext, ExternalJob, ExternalReport, ExternalSort } from './job.js';
import { Pipeline } from './pipeline.js';
import { HELD_SHARE, MAX_UNSETTLED } from './policy.js';
import { partPath, ResumableOutput } from './resumable-output.js';
import { describeUnfinished, openSession, type Session } from './session.js';
import type { SortedOutput } from './sort.js';
import { FileSpill, MemorySpill, type Spill } from './spill.js';
import { lastShard, sortedTask, type Tasks } from './stages.js';
import { State } from './state.js';
import { removeFolder, removeFolderNow } from './temporary-folder.js';

/**
 * Sorts records that may exceed memory.
 *
 * @param sorter sorts the partitions
 * @param job input, order, output and memory budget
 * @param context streams and callbacks
 * @param output the output when it is already open; its opener commits it
 * @throws UsageError when an unfinished sort exists and `resume` is not set, or options differ from it
 * @throws InputError when the input has changed since the sort to resume
 * @throws IoError when reading or writing fails, or disk space is insufficient
 * @throws AbortedError when the signal aborts
 * @throws MismatchError when a check fails
 * @throws the errors of the sorter
 */
export async function externalSort(
  sorter: Sorter,
  job: ExternalJob,
  context: ExternalContext,
  output?: Output,
): Promise<ExternalReport> {
  const { order, budget } = job;
  const reading = new InputReader(job.input);
  if (reading.bytes === undefined) await reading.hold(HELD_SHARE * budget.memory, context.signal);
  const { bytes } = reading;
  const old = await describeUnfinished(job.out, job.tmp);
  const resumes = job.resume && old !== undefined; // even if more memory is available now
  const inMemory = bytes === undefined || resumes ? undefined : memoryBudget(budget.memory, order, bytes);
  if (inMemory && old) context.onNote?.(old);
  const maxBudget = inMemory ?? budget;
  const chosenBudget =
    sorter.hasDedicatedMemory || resumes ? maxBudget : cacheSizedBudget(maxBudget, order, bytes);
  const sort = { sorter, job: { ...job, budget: chosenBudget }, context, reading, output };
  return inMemory ? sortToStream(sort, new MemorySpill(), NO_TASK_RECORDS) : sortOnDisk(sort);
}

/** Partitions whose files may exist next to their bytes in the result: one read, one written, the rest syncing. */
const MAX_OPEN_PARTITIONS = MAX_UNSETTLED + 3;

/** Without task records, every task runs. */
const NO_TASK_RECORDS: Tasks = { get: async () => undefined, put: async () => undefined };

/** Sorts with partitions in files. */
async function sortOnDisk(sort: ExternalSort): Promise<ExternalReport> {
  const { job, context, output } = sort;
  const { out, resume = false, writer } = job;
  const { signal, temporaryFiles, onNote } = context;
  const session = await openSession(job, resume, temporaryFiles);
  const { folder, state } = session;
  const spill = new FileSpill(folder);
  let isNoted = false;
  const noteResumable = (): void => {
    if (!isNoted)
      onNote?.(`the state of the sort is kept in ${folder}. The same command with --resume continues it`);
    isNoted = true;
  };
  // The process may end before the sort does.
  const leave = (): void => {
    if (!state) removeFolderNow(folder);
    else if (session.manifest || state.hasBegun) noteResumable();
  };
  signal.addEventListener('abort', leave, { once: true });
  try {
    await assertRoom(sort, session);
    const report =
      state && !writer && !output
        ? await sortInPlace(sort, session, spill)
        : await sortToStream(sort, spill, state ?? NO_TASK_RECORDS, session);
    await state?.remove();
    return report;
  } catch (error) {
    const started = state && (await State.find(folder));
    if (state && (!started || error instanceof MismatchError)) {
      await state.remove(); // there is nothing to resume, or it must not be resumed
      if (started?.part) await rm(await partPath(out, started.part), { force: true });
    } else if (state) noteResumable();
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
    await spill.close();
    if (!state) await removeFolder(folder, temporaryFiles);
  }
}

/**
 * Reports the disk space that the sort needs.
 *
 * @throws IoError when there is not enough
 */
async function assertRoom(
  { job: { out, writer, budget }, context, reading: { bytes } }: ExternalSort,
  { folder, state, manifest }: Session,
): Promise<void> {
  if (bytes === undefined) {
    context.onNote?.(`keys that do not fit in memory are written to temporary files in ${folder}`);
    return;
  }
  const existingBytes = manifest ? await diskUsage(folder) : 0;
  const spilled = state && manifest ? ((await lastShard(state)).record?.end ?? 0) : 0;
  const wanted = [{ folder, bytes: bytes - spilled, what: 'temporary files' }];
  const target = isStdout(out) ? undefined : dirname(resolve(out));
  const part = manifest?.part ? await fileBytes(await partPath(out, manifest.part)) : 0;
  if (target) wanted.push({ folder: target, bytes: Math.max(0, bytes - part), what: 'the result' });
  // With a resumable result, partition files are removed as the result grows; both take little more than one of them.
  const saved =
    state && !writer ? bytes - spilled + existingBytes - MAX_OPEN_PARTITIONS * budget.partitionBytes : 0;
  await assertFreeSpace(wanted, Math.max(0, saved));
  const mebibytes = (amount: number): string => `${Math.ceil(amount / 2 ** 20)} MiB`;
  context.onNote?.(
    `${mebibytes(bytes)} are sorted in ${mebibytes(budget.memory)} of memory, ` +
      (manifest
        ? `resumed from ${folder}`
        : `with up to ${mebibytes(bytes)} of temporary files in ${folder}`),
  );
}

/** Sorts into a file that is kept for a later run if the sort is interrupted. */
async function sortInPlace(
  sort: ExternalSort,
  { state, manifest, identity }: Session,
  spill: Spill,
): Promise<ExternalReport> {
  if (!state || !identity) throw new Error('cannot sort in place: the session has no state');
  const { out } = sort.job;
  const part = manifest?.part ?? ResumableOutput.partName(out);
  await ResumableOutput.assertWritable(out);
  // Created after the manifest names it, so that a later run always knows the file.
  let opened: Promise<ResumableOutput> | undefined;
  const open = (): Promise<ResumableOutput> => {
    opened ??= ResumableOutput.open(out, part);
    return opened;
  };
  try {
    const output: SortedOutput = {
      write: async (position, bytes) => (await open()).write(position, bytes),
      done: async (name, record) => {
        await (await open()).sync(); // before the partition file is removed
        await state.put(sortedTask({ name }), record);
        await spill.drop(name);
      },
      recordOf: (name) => state.get(sortedTask({ name })),
    };
    const report = await new Pipeline(sort).run(spill, state, output, { state, manifest, identity, part });
    await (await open()).commit(report.bytes);
    return report;
  } finally {
    await opened?.then((file) => file.keep()).catch(() => undefined);
  }
}

/** Sorts into an output that is written sequentially. Partitions that cannot be used again are dropped. */
async function sortToStream(
  sort: ExternalSort,
  spill: Spill,
  tasks: Tasks,
  session?: Session,
): Promise<ExternalReport> {
  const { job, context, reading } = sort;
  const write = async (output: Output): Promise<ExternalReport> => {
    if (reading.bytes !== undefined) await output.reserve(reading.bytes);
    const to = await job.writer?.(output);
    const sorted: SortedOutput = {
      write: (_, bytes) => (to ?? output).write(bytes),
      done: (name) => (tasks === NO_TASK_RECORDS ? spill.drop(name) : spill.leave(name)),
      recordOf: async () => undefined,
    };
    const report = await new Pipeline(sort).run(
      spill,
      tasks,
      sorted,
      session && { ...session, part: undefined },
    );
    await to?.end();
    return report;
  };
  return sort.output ? write(sort.output) : withOutput(job.out, context, write);
}

const fileBytes = async (path: string): Promise<number> =>
  ((await stat(path).catch(() => undefined))?.blocks ?? 0) * 512;
