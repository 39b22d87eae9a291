/** Execution of one job, in a worker process or for small files in this one. */
import { statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileContext, FileReport } from '../io/file-sort/file-job.js';
import { sortFile } from '../io/file-sort/sort-file.js';
import { type FileHash, FileHashes } from '../io/streams/file-hash.js';
import { makeFolder } from '../io/streams/folder.js';
import { measureSpan, now, type WorkSpan } from '../io/streams/spans.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';
import { type ChecksummedState, type FileState, fileState, isSameState, stateOf } from './file-state.js';
import { inputsOf, type Job, oneOrAll } from './jobs.js';
import type { JobCompletion } from './protocol.js';

/** A job, and how it is run. */
export interface JobExecution {
  readonly job: Job;
  /**
   * Memory limit in bytes; larger inputs use temporary files and are resumed after a kill. Without it, the job is sorted
   * as a whole.
   */
  readonly memory?: number | undefined;
  /** Whether the completion has the states of files, with checksums; default true. */
  readonly hashes?: boolean | undefined;
}

/**
 * Sorts the file of a job and returns the states of its files.
 *
 * @param sorter sorts the file
 * @param execution the job, and what limits it
 * @param outer context of the process
 * @throws the errors of `sortFile`
 */
export async function runJob(
  sorter: SorterOperations,
  { job, memory, hashes: isHashed = true }: JobExecution,
  outer: FileContext,
): Promise<JobCompletion> {
  const [began, started] = [now(), performance.now()];
  const hashes = isHashed ? new FileHashes() : undefined;
  const spans: WorkSpan[] = [];
  const context = { ...outer, hashes, onSpan: (span: WorkSpan) => void spans.push(span) };
  const inputs = inputsOf(job);
  const replaced =
    hashes && inputs.includes(job.out) ? await open(job.out).catch(() => undefined) : undefined;
  try {
    for (const path of [job.out, ...(job.counts === undefined ? [] : [job.counts])]) {
      if (!isFolder(dirname(path))) await makeFolder(dirname(path), path);
    }
    const before = hashes ? inputs.map(fileState) : [];
    const report = await sortJob(sorter, job, memory, context);
    const hashing = async (hashes: FileHashes) => {
      const input: ChecksummedState[] = [];
      for (const [i, path] of inputs.entries()) {
        const file = path === job.out ? replaced : path;
        input.push(...(await withChecksum(hashes.forInput(path), file ?? path, before[i], context.signal)));
      }
      const output = await withChecksum(
        hashes.forOutput(job.out),
        job.out,
        fileState(job.out),
        context.signal,
      );
      return { input, output };
    };
    const counts = hashes && job.counts !== undefined ? fileState(job.counts) : undefined;
    const { input = [], output = [] } = hashes
      ? await measureSpan('checksum', context.onSpan, () => hashing(hashes))
      : {};
    return {
      report,
      spans,
      ...(input.length > 0 && { input: oneOrAll(input) }),
      ...(output[0] && { output: output[0] }),
      ...(counts && { counts }),
      began,
      seconds: (performance.now() - started) / 1000,
    };
  } finally {
    await replaced?.close();
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Loads only the modules of the job's kind: loading all takes longer than a hundred small sorts. */
async function sortJob(
  sorter: SorterOperations,
  { name: _, device: __, ...job }: Job,
  memory: number | undefined,
  context: FileContext,
): Promise<FileReport> {
  const how = memory === undefined ? {} : { memory, resume: true };
  if ('by' in job) {
    const { sortTableFile } = await import('../io/tables/sort-table-file.js');
    return sortTableFile(sorter, { ...job, memory }, context);
  }
  if ('record' in job) {
    const { sortRecordFile } = await import('../io/file-sort/sort-record-file.js');
    return sortRecordFile(sorter, { ...job, ...how }, context);
  }
  return sortFile(sorter, { ...job, ...how }, context);
}

/**
 * Adds the checksum to the state of a file. It is left out when the file has changed or cannot be read, since the sort
 * has already succeeded. Returns an empty list when there is no regular file.
 *
 * @param hash hash of the bytes seen so far
 * @param file path, or an open handle when another file has taken that path
 * @param state state of the file before hashing
 * @param signal aborts the reading
 */
async function withChecksum(
  hash: FileHash,
  file: string | FileHandle,
  state: FileState | undefined,
  signal: AbortSignal,
): Promise<ChecksummedState[]> {
  if (!state) return [];
  try {
    const checksum = await hash.end(state.bytes, file, signal);
    const after = typeof file === 'string' ? fileState(file) : stateOf(await file.stat({ bigint: true }));
    return [isSameState(after, state) ? { ...state, checksum } : state];
  } catch {
    return [state];
  }
}
