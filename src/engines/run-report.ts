import { orderOf } from './job-records.js';
import type { RunFacts } from './run-times.js';
import type { SortJob } from './sort-job.js';
import { sampleSize } from './stages.js';
import type { PartsReport } from './verify-part.js';

export const REPORT_SCHEMA = 'clsort.parts-report/1';

/** Report of a finished run. */
export interface RunReport extends RunFacts, Omit<PartsReport, 'out' | 'units'> {
  readonly of: 'keys' | 'records';
  /** Record size in bytes. */
  readonly unit: number;
  readonly engine: string;
  readonly date: string;
  readonly shards: number;
  readonly partitions: number;
  /** Total number of sampled records. */
  readonly samples: number;
}

/** Returns the report of a run, except for the result itself. */
export function runReport(
  job: SortJob,
  { n, bytes, parts }: PartsReport,
  facts: RunFacts & { readonly engine: string },
): RunReport {
  const { recordBytes } = orderOf(job.units);
  return {
    ...facts,
    ...{ of: job.units.is, unit: recordBytes, n, bytes, parts },
    date: new Date().toISOString().slice(0, 10),
    shards: job.shards.length,
    partitions: job.partitions,
    samples: Math.min(n, sampleSize(job.partitions, recordBytes)),
  };
}
