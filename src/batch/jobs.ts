import { ALGORITHM_ALIASES } from '../algorithms/algorithm-names.js';
import { ALGORITHMS } from '../algorithms/registry.js';
import { KEY_FORMATS } from '../io/keys.js';
import { type RecordLayout, recordKeys } from '../io/record-keys.js';
import type { DistinctOptions, FileJob } from '../io/sort-file.js';
import type { RecordJob } from '../io/sort-record-file.js';
import type { TableJob } from '../io/tables/sort-table-file.js';
import { assertTableOptions } from '../io/tables/table-options.js';
import { TEXT_OPTIONS } from '../io/text/text-options.js';
import { DTYPES, dtypeInfo } from '../keys/dtype.js';
import { dtypeOfName } from '../keys/dtype-name.js';
import { formatValue } from '../util/format-value.js';
import { suggestion } from '../util/suggest.js';
import type { Path } from './json-position.js';
import {
  anyText,
  boolean,
  file,
  files,
  isObject,
  list,
  object,
  oneOf,
  type Rule,
  type Rules,
  text,
} from './rules.js';

/** One job of a batch: a file of keys, of records, or a table. */
export type Job = JobFacts &
  ((FileJob & UniqueOptions) | (RecordJob & UniqueOptions) | (TableJob & { readonly counts?: undefined }));

type UniqueOptions = Pick<DistinctOptions, 'unique' | 'counts'>;

/** The files that a job reads. */
export const inputsOf = ({ in: inputs }: Pick<Job, 'in'>): readonly string[] =>
  typeof inputs === 'string' ? [inputs] : inputs;

/** What is one is written as one, and not as a list of it. */
export const oneOrAll = <T>(list: readonly T[]): T | readonly T[] =>
  list.length === 1 ? (list[0] as T) : list;

/** What every job has. */
interface JobFacts {
  /** For reports; by default the name of the input as the batch has it. */
  readonly name: string;
  /** The device that is to do it; by default whichever is free. */
  readonly device?: string;
  /** Folder for temporary files of what is larger than memory; default that of the output. */
  readonly tmp?: string;
}

export interface Batch {
  /** Devices that share the jobs without one of their own; empty where the batch does not say. */
  readonly devices: readonly string[];
  readonly jobs: readonly Job[];
}

const names: Rule = {
  expected: "names of columns such as 'a,b', or a list of them",
  accepts: (value) =>
    text.accepts(value) || (Array.isArray(value) && value.length > 0 && value.every(text.accepts)),
  schema: { anyOf: [text.schema, { type: 'array', items: text.schema, minItems: 1 }] },
};

type Field = keyof (JobFacts & FileJob & RecordJob & UniqueOptions) | Exclude<keyof TableJob, 'memory'>;

/** Every field of a job. */
export const JOB_RULES: Readonly<Record<Field, Rule>> = {
  name: text,
  in: files,
  out: file,
  dtype: {
    expected: `a dtype: ${DTYPES.join(' ')}, with be for big-endian`,
    accepts: (value) => typeof value === 'string' && dtypeOfName(value) !== undefined,
    schema: { type: 'string', pattern: '\\S' },
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
    schema: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 2, maxItems: 2 },
  },
  argsort: boolean,
  algorithm: oneOf(
    ...['auto', 'host', ...ALGORITHMS.map(({ name }) => name), ...Object.keys(ALGORITHM_ALIASES)],
  ),
  scan: oneOf(3, 5, 'auto'),
  radixBits: oneOf(...Array.from({ length: 12 }, (_, i) => i + 1)),
  verify: boolean,
  record: {
    expected: 'a number of bytes',
    accepts: (value) => Number.isInteger(value),
    schema: { type: 'integer' },
  },
  keys: list(text),
  format: oneOf(...KEY_FORMATS),
  to: oneOf(...KEY_FORMATS),
  column: {
    expected: 'a number from 0 on, or a name',
    accepts: (value) => text.accepts(value) || (Number.isInteger(value) && (value as number) >= 0),
    schema: {
      anyOf: [
        { type: 'string', pattern: '\\S' },
        { type: 'integer', minimum: 0 },
      ],
    },
  },
  axis: oneOf(-2, -1, 0, 1),
  header: boolean,
  delimiter: anyText,
  comment: anyText,
  skip: {
    expected: 'a whole number of lines from 0 on',
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
    schema: { type: 'integer', minimum: 0 },
  },
  ragged: oneOf('error', 'fill', 'skip'),
  na: {
    expected: 'a value such as N/A, or a list of them',
    accepts: (value) => [value].flat().every(anyText.accepts),
    schema: { anyOf: [anyText.schema, { type: 'array', items: anyText.schema }] },
  },
  decimal: anyText,
  thousands: anyText,
  types: {
    expected: "types of columns such as 'price=f64,day=date:%d/%m/%Y', a list of them, or an object of them",
    accepts: (value) =>
      text.accepts(value) || (Array.isArray(value) && value.every(text.accepts)) || isObject(value),
    schema: {
      anyOf: [
        text.schema,
        { type: 'array', items: text.schema },
        { type: 'object', additionalProperties: text.schema },
      ],
    },
  },
  device: text,
  tmp: file,
  by: {
    expected: "columns such as 'price:desc,time', or a list of them",
    accepts: (value) => text.accepts(value) || (Array.isArray(value) && value.length > 0),
    schema: { anyOf: [text.schema, { type: 'array', minItems: 1 }] },
  },
  columns: names,
  head: {
    expected: 'a whole number of rows from 0 on',
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
    schema: { type: 'integer', minimum: 0 },
  },
  unique: boolean,
  counts: file,
  uniqueBy: names,
};

const REQUIRED = ['in', 'out'] as const;

/** What is said of keys, and of records in their keys. */
const KEY_FIELDS = ['dtype', 'descending', 'bits', 'to', 'column', 'axis', ...TEXT_OPTIONS] as const;
/** What is said of records. */
const RECORD_FIELDS = ['record', 'keys'] as const;

/** What is said of tables only. */
const TABLE_FIELDS = ['by', 'columns', 'head', 'uniqueBy', 'types'] as const;
/** What is said of keys, and of tables by 'by'. */
const NON_TABLE_FIELDS = [
  'dtype',
  'descending',
  'bits',
  'column',
  'axis',
  'argsort',
  'counts',
  ...RECORD_FIELDS,
] as const;

const isOfTable = (job: Readonly<Record<string, unknown>>): boolean =>
  TABLE_FIELDS.some((field) => job[field] !== undefined);

const isOfRecords = (job: Readonly<Record<string, unknown>>): boolean =>
  RECORD_FIELDS.some((field) => job[field] !== undefined);

const omitFields = (job: Readonly<Record<string, unknown>>, fields: readonly string[]) =>
  Object.fromEntries(Object.entries(job).filter(([field]) => !fields.includes(field)));

/** What a manifest may say beside its jobs. */
export const BATCH_RULES = {
  $schema: text,
  schema: oneOf('clsort.batch/1'),
  devices: list(text),
  defaults: object,
  jobs: { expected: 'a list of jobs', accepts: Array.isArray, schema: { type: 'array' } },
} as const satisfies Rules;

/** Something that is wrong, and where. */
export interface Fault {
  readonly path: Path;
  readonly text: string;
}

/** Faults of the fields of an object, each of which a rule knows. */
export function fieldFaults(value: Record<string, unknown>, rules: Rules, path: Path): Fault[] {
  const faults: Fault[] = [];
  for (const field in value) {
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined;
    if (rule?.accepts(value[field])) continue;
    const at = [...path, field];
    const text = rule
      ? `${pathText(at)} is ${formatValue(value[field])}: expected ${rule.expected}`
      : `${pathText(at)} is unknown${suggestion(field, Object.keys(rules))}`;
    faults.push({ path: at, text });
  }
  return faults;
}

/** `jobs[0].dtype` */
export const pathText = (path: Path): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${step}`)).join('');

/** A job as it is written down, with what it takes from the defaults; its files are as they are named. */
export type WrittenJob = Omit<Job, 'name'> & { readonly name?: string };

/**
 * Makes a job of what is written down, and of the defaults for what it does not say.
 *
 * @returns undefined where something is wrong, which is added to `faults`
 */
export function jobOf(
  written: unknown,
  defaults: Readonly<Record<string, unknown>>,
  path: Path,
  faults: Fault[],
): WrittenJob | undefined {
  const where = pathText(path);
  if (!isObject(written)) {
    faults.push({ path, text: `${where} is ${formatValue(written)}: expected an object` });
    return undefined;
  }
  const before = faults.length;
  faults.push(...fieldFaults(written, JOB_RULES, path));
  const isOpen = written.dtype === undefined;
  const ofTable = isOfTable(written) || (isOfTable(defaults) && !isOfRecords(written) && isOpen);
  const ofRecords = !ofTable && (isOfRecords(written) || (isOfRecords(defaults) && isOpen));
  const others = ofTable ? NON_TABLE_FIELDS : [...TABLE_FIELDS, ...(ofRecords ? KEY_FIELDS : RECORD_FIELDS)];
  const whole = { ...omitFields(defaults, others), ...written };
  for (const field of [...REQUIRED, ...(ofRecords ? ['record'] : []), ...(ofTable ? ['by'] : [])]) {
    if (whole[field] === undefined) faults.push({ path, text: `${where}.${field} is missing` });
  }
  if (faults.length > before) return undefined;
  const job = whole as unknown as WrittenJob;
  const fault = ofTable
    ? tableFault(whole)
    : ofRecords
      ? (layoutFault(whole as unknown as RecordLayout, whole) ?? distinctFault(whole))
      : (windowFault(whole as unknown as FileJob) ?? distinctFault(whole));
  if (!fault) return job;
  faults.push({ path: [...path, fault.field], text: `${where}.${fault.text}` });
  return undefined;
}

interface FieldFault {
  readonly field: string;
  readonly text: string;
}

/** Of a table: does what it is sorted by make sense, and is nothing said that only keys and records have? */
function tableFault(job: Readonly<Record<string, unknown>>): FieldFault | undefined {
  try {
    assertTableOptions(job);
    return undefined;
  } catch (error) {
    return { field: 'by', text: `by: ${(error as Error).message}` };
  }
}

/** Of keys and records. */
function distinctFault({
  unique,
  argsort,
  counts,
}: Readonly<Record<string, unknown>>): FieldFault | undefined {
  if (unique && argsort) {
    return {
      field: 'unique',
      text: 'unique: positions are distinct: ask for an argsort or for distinct keys',
    };
  }
  if (counts === undefined || unique) return undefined;
  return { field: 'counts', text: 'counts are of distinct keys: ask for these as well, by unique' };
}

/** Of a job of records: is its layout one, and is nothing said that only keys have? */
function layoutFault(layout: RecordLayout, job: Readonly<Record<string, unknown>>): FieldFault | undefined {
  if (Array.isArray(job.in)) {
    return { field: 'in', text: 'in is a list: files of records are sorted one by one' };
  }
  const field = KEY_FIELDS.find((name) => job[name] !== undefined);
  if (field) {
    return { field, text: `${field} is not for records: their 'keys' say it, such as "16:u64be:desc"` };
  }
  try {
    recordKeys(layout);
    return undefined;
  } catch (error) {
    return { field: 'keys', text: `keys: ${(error as Error).message}` };
  }
}

/** Where only the file says what its keys are, the window is checked when it is read. */
function windowFault({ bits, dtype = '' }: FileJob): FieldFault | undefined {
  const named = dtypeOfName(dtype);
  if (!named || !bits) return undefined;
  const { name, width } = dtypeInfo(named.dtype);
  if (bits[1] <= width) return undefined;
  return { field: 'bits', text: `bits is ${JSON.stringify(bits)}: ${name} keys have ${width} bits` };
}
