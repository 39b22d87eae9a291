/** The report of a run, as printed by `clsort sort --json`, and its parser. */
import { InputError } from '../../util/errors.js';
import { orderOf } from '../job-records.js';
import type { RunFacts } from '../run-times.js';
import type { SortJob } from '../sort-job.js';
import { sampleSize } from '../stages.js';
import type { PartsReport } from '../verify-part.js';
import type { RunReport } from './fit.js';
import type { Rates } from './rates.js';

export const REPORT_SCHEMA = 'clsort.parts-report/1';
export const FORECAST_SCHEMA = 'clsort.plan/1';

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

/**
 * Parses a file with rates: the report of a run, or the output of an earlier forecast.
 *
 * @throws InputError when it is neither
 */
export function readRatesFile(text: string, name: string): RunReport | Rates {
  const value = parsed(text, name);
  if (
    value.schema === FORECAST_SCHEMA &&
    isObject(value.rates) &&
    areNumbers(value.rates.host, HOST_FIELDS)
  ) {
    return value.rates as unknown as Rates;
  }
  if (value.schema === REPORT_SCHEMA && isObject(value.run) && areNumbers(value.run, RUN_FIELDS)) {
    const { stages, host } = value.run;
    const isRight = isObject(host) && Array.isArray(stages);
    if (isRight && stages.every((stage) => areNumbers(stage, STAGE_FIELDS)))
      return value.run as unknown as RunReport;
  }
  throw noRatesError(name);
}

const HOST_FIELDS = ['unit', 'cores', 'full'];
const RUN_FIELDS = ['unit', 'n', 'bytes', 'shards', 'partitions', 'samples', 'workers', 'seconds'];
const STAGE_FIELDS = ['tasks', 'ran', 'seconds', 'busySeconds', 'cpuSeconds'];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const areNumbers = (value: unknown, names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => Number.isFinite(value[name]));

function parsed(text: string, name: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw noRatesError(name);
}

const noRatesError = (path: string): InputError =>
  new InputError(
    `cannot read rates from ${path}: it is not the output of 'clsort sort --engine … --json' or 'clsort plan --json'`,
    { details: { path } },
  );
