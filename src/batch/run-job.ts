/** One job, in the process of its device. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ioError } from '../io/raw.js';
import { type FileContext, sortFile, timed } from '../io/sort-file.js';
import { sortParts } from '../io/sort-parts.js';
import { sortRecordFile } from '../io/sort-record-file.js';
import { sortTableFile } from '../io/tables/sort-table-file.js';
import type { Sorter } from '../sort/api/sorter.js';
import { type FileState, fileState, summed } from './file-state.js';
import type { Job } from './jobs.js';
import type { Made } from './protocol.js';

/**
 * Sorts the file of a job, and says what it was and what became of it.
 *
 * @param memory bytes that it may take; what is larger goes by way of the disk, and is gone on with after an end by force
 * @throws as `sortFile`
 */
export async function runJob(
  sorter: Sorter,
  { name: _, device: __, ...job }: Job,
  memory: number,
  context: FileContext,
): Promise<Made> {
  const [began, started] = [Date.now(), performance.now()];
  await mkdir(dirname(job.out), { recursive: true }).catch((error) => {
    throw ioError('write', job.out, error);
  });
  const before = fileState(job.in);
  const summing = sumOf(job.in, before, context);
  // What a job replaces cannot be looked at afterwards.
  const [, earlySeconds] = await timed(async () => job.in === job.out && (await summing));
  const how = { memory, resume: true };
  const report = await ('by' in job
    ? sortTableFile(sorter, { ...job, memory }, context)
    : 'record' in job
      ? sortRecordFile(sorter, { ...job, ...how }, context)
      : sortFile(sorter, { ...job, ...how }, context, sortParts));
  const [[input, output], lateSeconds] = await timed(() =>
    Promise.all([summing, sumOf(job.out, fileState(job.out), context)]),
  );
  return {
    report,
    ...(input && { input }),
    ...(output && { output }),
    sumSeconds: earlySeconds + lateSeconds,
    began,
    seconds: (performance.now() - started) / 1000,
  };
}

/** A checksum is worth no failure of what is sorted already: then there is none. */
const sumOf = async (path: string, state: FileState | undefined, { signal }: FileContext) =>
  state && summed(path, state, signal).catch(() => state);
