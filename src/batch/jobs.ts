import { type BigIntStats, lstatSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { ALGORITHMS } from '../algorithms/registry.js';
import { KEY_FORMATS } from '../io/keys.js';
import { type RecordLayout, recordKeys } from '../io/record-keys.js';
import type { FileJob } from '../io/sort-file.js';
import type { RecordJob } from '../io/sort-record-file.js';
import { DTYPES, dtypeInfo } from '../keys/dtype.js';
import { dtypeOfName } from '../keys/dtype-name.js';
import { UsageError } from '../util/errors.js';
import { suggestion } from '../util/suggest.js';

/** One job of a batch: a file of keys, or of records. */
export type Job = JobFacts & ((FileJob & { readonly in: string }) | RecordJob);

/** What every job has. */
interface JobFacts {
  /** For reports; by default the name of the input as the batch has it. */
  readonly name: string;
  /** The device that is to do it; by default whichever is free. */
  readonly device?: string;
}

export interface Batch {
  /** Devices that share the jobs without one of their own; empty where the batch does not say. */
  readonly devices: readonly string[];
  readonly jobs: readonly Job[];
}

/** Most errors that are told at once. */
const MOST_ERRORS = 10;

interface Rule {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

const text: Rule = {
  expected: 'a name',
  accepts: (value) => typeof value === 'string' && value.trim() !== '',
};
const file: Rule = {
  expected: "a file (a batch has no stdin and stdout, so not '-')",
  accepts: (value) => text.accepts(value) && value !== '-',
};
const boolean: Rule = { expected: 'true or false', accepts: (value) => typeof value === 'boolean' };
const oneOf = (...values: readonly unknown[]): Rule => ({
  expected: `one of ${values.join(' ')}`,
  accepts: (value) => values.includes(value),
});
const list = (rule: Rule): Rule => ({
  expected: `a list, each ${rule.expected}`,
  accepts: (value) => Array.isArray(value) && value.every(rule.accepts),
});

const JOB_RULES: Readonly<Record<keyof (JobFacts & FileJob & RecordJob), Rule>> = {
  name: text,
  in: file,
  out: file,
  dtype: {
    expected: `a dtype: ${DTYPES.join(' ')}, with be for big-endian`,
    accepts: (value) => typeof value === 'string' && dtypeOfName(value) !== undefined,
  },
  descending: boolean,
  nan: oneOf('first', 'last'),
  bits: {
    expected: '[begin, end] with 0 <= begin <= end',
    accepts: (value) =>
      Array.isArray(value) &&
      value.length === 2 &&
      value.every((bit) => Number.isInteger(bit) && bit >= 0) &&
      value[0] <= value[1],
  },
  argsort: boolean,
  algorithm: oneOf('auto', 'host', ...ALGORITHMS.map(({ name }) => name)),
  scan: oneOf(3, 5, 'auto'),
  radixBits: oneOf(...Array.from({ length: 12 }, (_, i) => i + 1)),
  verify: boolean,
  record: { expected: 'a number of bytes', accepts: (value) => Number.isInteger(value) },
  keys: list(text),
  format: oneOf(...KEY_FORMATS),
  to: oneOf(...KEY_FORMATS),
  column: {
    expected: 'a number from 0 on, or a name',
    accepts: (value) => text.accepts(value) || (Number.isInteger(value) && (value as number) >= 0),
  },
  axis: oneOf(-2, -1, 0, 1),
  header: boolean,
  delimiter: text,
  device: text,
};

const REQUIRED = ['in', 'out'] as const;

/** What is said of keys, and of records in their keys. */
const OF_KEYS = ['dtype', 'descending', 'bits', 'to', 'column', 'axis', 'header', 'delimiter'] as const;
/** What is said of records. */
const OF_RECORDS = ['record', 'keys'] as const;

const isOfRecords = (job: Readonly<Record<string, unknown>>): boolean =>
  OF_RECORDS.some((field) => job[field] !== undefined);

const without = (job: Readonly<Record<string, unknown>>, fields: readonly string[]) =>
  Object.fromEntries(Object.entries(job).filter(([field]) => !fields.includes(field)));

const BATCH_RULES: Readonly<Record<string, Rule>> = {
  schema: oneOf('clsort.batch/1'),
  devices: list(text),
  defaults: { expected: 'an object', accepts: isObject },
  jobs: { expected: 'a list of jobs', accepts: Array.isArray },
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads a batch: `{ "devices"?, "defaults"?, "jobs": [{ "in", "out", "dtype"?, … }] }`, or the list of jobs
 * alone. Jobs take the fields of `defaults` that they do not have. Files are relative to `folder`.
 *
 * @param name of the batch, for messages
 * @throws UsageError that names every field that is wrong (the first ten)
 */
export function parseBatch(json: string, { name, folder }: { name: string; folder: string }): Batch {
  const errors: string[] = [];
  const batch = asObject(json, name);
  checkFields(batch, BATCH_RULES, '', errors);
  fail(errors, name); // the fields below are of the right types from here on
  const {
    devices = [],
    defaults = {},
    jobs = [],
  } = batch as {
    devices?: string[];
    defaults?: Record<string, unknown>;
    jobs?: unknown[];
  };
  checkFields(defaults, JOB_RULES, 'defaults.', errors);
  const merged = jobs.flatMap((job, i): Job[] => {
    const where = `jobs[${i}]`;
    if (!isObject(job)) {
      errors.push(`${where} is ${JSON.stringify(job)}: expected an object`);
      return [];
    }
    const before = errors.length;
    checkFields(job, JOB_RULES, `${where}.`, errors);
    const ofRecords = isOfRecords(job) || (isOfRecords(defaults) && job.dtype === undefined);
    const others = ofRecords ? OF_KEYS : OF_RECORDS;
    const whole = { ...without(defaults, others), ...job };
    for (const field of ofRecords ? [...REQUIRED, 'record'] : REQUIRED) {
      if (whole[field] === undefined) errors.push(`${where}.${field} is missing`);
    }
    if (errors.length > before) return [];
    const made = whole as unknown as Job;
    if ('record' in made) checkLayout(made, whole, where, errors);
    else checkWindow(made, where, errors);
    return [
      { ...made, name: made.name ?? made.in, in: within(folder, made.in), out: within(folder, made.out) },
    ];
  });
  checkFiles(merged, errors);
  fail(errors, name);
  return { devices, jobs: merged };
}

function asObject(json: string, name: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new UsageError(`${name} is no JSON: ${(cause as Error).message}`, { cause });
  }
  const batch = Array.isArray(value) ? { jobs: value } : value;
  if (!isObject(batch) || batch.jobs === undefined) {
    throw new UsageError(`${name} has no jobs: expected { "jobs": [{ "in": …, "out": … }] }`);
  }
  return batch;
}

function checkFields(
  object: Record<string, unknown>,
  rules: Readonly<Record<string, Rule>>,
  where: string,
  errors: string[],
): void {
  for (const [field, value] of Object.entries(object)) {
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined;
    if (!rule) errors.push(`${where}${field} is unknown${suggestion(field, Object.keys(rules))}`);
    else if (!rule.accepts(value)) {
      errors.push(`${where}${field} is ${JSON.stringify(value)}: expected ${rule.expected}`);
    }
  }
}

/** Of a job of records: is its layout one, and is nothing said that only keys have? */
function checkLayout(
  layout: RecordLayout,
  job: Readonly<Record<string, unknown>>,
  where: string,
  errors: string[],
): void {
  const field = OF_KEYS.find((name) => job[name] !== undefined);
  if (field)
    errors.push(`${where}.${field} is not for records: their 'keys' say it, such as "16:u64be:desc"`);
  try {
    recordKeys(layout);
  } catch (error) {
    errors.push(`${where}.keys: ${(error as Error).message}`);
  }
}

/** Where only the file says what its keys are, the window is checked when it is read. */
function checkWindow({ bits, dtype = '' }: FileJob, where: string, errors: string[]): void {
  const named = dtypeOfName(dtype);
  if (!named) return;
  const { name, width } = dtypeInfo(named.dtype);
  if (bits && bits[1] > width) {
    errors.push(`${where}.bits is ${JSON.stringify(bits)}: ${name} keys have ${width} bits`);
  }
}

/** Jobs run in no fixed order, so none may write what another reads or writes, by whatever name. */
function checkFiles(jobs: readonly Job[], errors: string[]): void {
  const identify = identities();
  const writers = new Map<string, number>();
  const named = (i: number, field: 'in' | 'out', other: string): string => {
    const path = jobs[i]?.[field] ?? '';
    return `jobs[${i}].${field}${path === other ? '' : ` (${path})`}`;
  };
  for (const [i, { out }] of jobs.entries()) {
    const file = identify(out);
    const first = writers.get(file);
    if (first === undefined) writers.set(file, i);
    else errors.push(`${named(first, 'out', out)} is the output of jobs[${i}] too`);
  }
  for (const [i, job] of jobs.entries()) {
    const writer = writers.get(identify(job.in));
    if (writer === undefined || writer === i) continue;
    errors.push(`${named(writer, 'out', job.in)} is the input of jobs[${i}]`);
  }
}

/** Most symbolic links that are followed from one name to the next, as systems do. */
const MOST_LINKS = 40;

/**
 * Tells files apart: names of the same file, through links, mounts or another case, get the same identity, and so
 * do names of the same file that is not there yet.
 */
function identities(): (path: string) => string {
  const folders = new Map<string, string>();
  const folderOf = (path: string): string => {
    let folder = folders.get(path);
    if (folder === undefined) {
      folder = idOf(statSync(path, QUIETLY)) ?? path;
      folders.set(path, folder);
    }
    return folder;
  };
  return (path) => {
    let at = path;
    for (let link = 0; link < MOST_LINKS; link++) {
      const stats = lstatSync(at, QUIETLY);
      if (!stats) break;
      if (!stats.isSymbolicLink()) return idOf(stats) as string;
      at = resolve(dirname(at), readlinkSync(at));
    }
    return `${folderOf(dirname(at))} ${basename(at)}`;
  };
}

const QUIETLY = { bigint: true, throwIfNoEntry: false } as const;

const idOf = (stats: BigIntStats | undefined): string | undefined => stats && `${stats.dev}:${stats.ino}`;

function fail(errors: readonly string[], name: string): void {
  if (errors.length === 0) return;
  const shown = errors.slice(0, MOST_ERRORS).map((error) => `\n  ${error}`);
  const more = errors.length > MOST_ERRORS ? `\n  and ${errors.length - MOST_ERRORS} more` : '';
  throw new UsageError(`${name} is no batch that can be run:${shown.join('')}${more}`, {
    details: { errors },
  });
}

const within = (folder: string, path: string): string =>
  isAbsolute(path) ? resolve(path) : join(folder, path);
