/** Sorts small data over workers, and inspects the parts. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JobEvent, runSort } from '../../src/engines/coordinator.js';
import type { JobRunner } from '../../src/engines/job-runner.js';
import { LocalJobRunner } from '../../src/engines/local-job-runner.js';
import type { SortRequest } from '../../src/engines/make-job.js';
import { type OpenJob, openSortJob } from '../../src/engines/open-job.js';
import type { PartsReport } from '../../src/engines/verify-part.js';
import type { WorkerContext } from '../../src/engines/worker-context.js';
import { readParts } from '../../src/io/streams/parts.js';
import type { Sorter } from '../../src/sort/api/sorter.js';

/** Records of 16 bytes: a key of four bytes with repetitions, and the position of the record. */
export const RECORD = 16;

/** @param keys number of different keys */
export function recordsOf(n: number, keys = 2 ** 32, seed = 1): Buffer {
  const bytes = Buffer.alloc(n * RECORD);
  let state = seed >>> 0 || 1;
  for (let i = 0; i < n; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeUInt32BE((state >>> 0) % keys, i * RECORD);
    bytes.writeUInt32BE(i, i * RECORD + 8);
  }
  return bytes;
}

/** The same records in order, computed without the library. */
export function sortedRecords(bytes: Buffer): Buffer {
  const records = Array.from({ length: bytes.length / RECORD }, (_, i) =>
    bytes.subarray(i * RECORD, (i + 1) * RECORD),
  );
  return Buffer.concat(records.sort((a, b) => Buffer.compare(a.subarray(0, 4), b.subarray(0, 4))));
}

export const RECORDS = { record: RECORD, keys: ['0:4'] } as const;

/**
 * Writes the input of a sort of records.
 * @returns the request
 */
export function recordRequest(folder: string, bytes: Buffer, more: Partial<SortRequest> = {}): SortRequest {
  const path = join(folder, 'in.dat');
  // A rewritten file counts as changed.
  if (!existsSync(path)) writeFileSync(path, bytes);
  return {
    inputs: [path],
    out: join(folder, 'out'),
    records: RECORDS,
    how: {},
    partitions: 5,
    shards: 4,
    ...more,
  };
}

/** All parts concatenated in the order of the manifest. */
export async function joinedParts(out: string): Promise<Buffer> {
  const manifest = await readParts(out);
  if (!manifest) throw new Error(`${out} has no manifest`);
  return Buffer.concat(manifest.parts.map(({ name }) => readFileSync(join(out, name))));
}

export function contextFor(
  sorter: Sorter,
  open: Pick<OpenJob, 'shared'>,
  more: Partial<WorkerContext> = {},
): WorkerContext {
  return {
    shared: open.shared,
    sorter: async () => sorter,
    memory: 64 * 2 ** 20,
    signal: new AbortController().signal,
    ...more,
  };
}

export interface SortHere {
  readonly workersFolder?: string;
  readonly context?: Partial<WorkerContext>;
  readonly listen?: (event: JobEvent) => void;
  readonly runner?: (context: WorkerContext) => JobRunner | Promise<JobRunner>;
}

/** Sorts in this process. */
export async function sortHere(
  sorter: Sorter,
  request: SortRequest,
  { workersFolder, context: more = {}, listen = () => undefined, runner }: SortHere = {},
): Promise<PartsReport> {
  const signal = more.signal ?? new AbortController().signal;
  const open = await openSortJob(request, { workersFolder, signal });
  try {
    const context = contextFor(sorter, open, { signal, ...more });
    const runs = (await runner?.(context)) ?? new LocalJobRunner(context);
    return await runSort({ job: open.job, folder: open.folder, context }, runs, listen);
  } finally {
    await open.release();
  }
}
