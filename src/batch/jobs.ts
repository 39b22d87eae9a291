import { ALGORITHM_ALIASES, ALGORITHM_NAMES } from '../algorithms/algorithm-names.js';
import type { DistinctOptions, FileJob } from '../io/file-sort/file-job.js';
import type { RecordJob } from '../io/file-sort/sort-record-file.js';
import { KEY_FORMATS } from '../io/formats/keys.js';
import { TEXT_OPTIONS } from '../io/formats/text/text-options.js';
import { type RecordLayout, recordKeys } from '../io/records/record-keys.js';
import type { TableJob } from '../io/tables/sort-table-file.js';
import { assertTableOptions } from '../io/tables/table-options.js';
import { DTYPES, dtypeInfo } from '../keys/dtype.js';
import { dtypeOfName } from '../keys/dtype-name.js';
import { invalidArgument, withAdvice } from '../util/invalid-argument.js';
import { isObject } from '../util/json.js';
import { didYouMean } from '../util/suggest.js';
import type { Path } from './json-position.js';
import { anyText, boolean, file, files, list, object, oneOf, type Rule, type Rules, text } from './rules.js';

/** One job of a batch: a file of keys, a file of records, or a table. */
export type Job = JobFacts &
  ((FileJob & UniqueOptions) | (RecordJob & UniqueOptions) | (TableJob & { readonly counts?: undefined }));

type UniqueOptions = Pick<DistinctOptions, 'unique' | 'counts'>;

export { inputsOf } from '../io/file-sort/file-job.js';

/** Returns the only element of a list, otherwise the list. */
export const oneOrAll = <T>(list: readonly T[]): T | readonly T[] =>
  list.length === 1 ? (list[0] as T) : list;

/** Fields that every job has. */
interface JobFacts {
  /** Name for reports; default: the input name as written in the batch. */
  readonly name: string;
  /** Device that runs the job; default: any free device. */
  readonly device?: string;
  /** Folder for temporary files of inputs that exceed memory; default the folder of the output. */
  readonly tmp?: string;
}

export interface Batch {
  /** Devices that share the jobs without a device of their own; empty when the batch names none. */
  readonly devices: readonly string[];
  readonly jobs: readonly Job[];
}

const names: Rule = {
  expected: "names of columns such as 'a,b', or a list of names",
  accepts: (value) =>
    text.accepts(value) || (Array.isArray(value) && value.length > 0 && value.every(text.accepts)),
  schema: { anyOf: [text.schema, { type: 'array', items: text.schema, minItems: 1 }] },
};

type Field =
  | Exclude<keyof (JobFacts & FileJob & RecordJob & UniqueOptions), 'tuning'>
  | Exclude<keyof TableJob, 'memory' | 'tuning'>;

export const JOB_RULES: Readonly<Record<Field, Rule>> = {
  name: text,
  in: files,
  out: file,
  dtype: {
    expected: `one of ${DTYPES.join(', ')} (with the suffix be for big-endian)`,
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
  algorithm: oneOf('auto', 'host', ...ALGORITHM_NAMES, ...Object.keys(ALGORITHM_ALIASES)),
  scan: oneOf(3, 5, 'auto'),
  radixBits: oneOf(...Array.from({ length: 12 }, (_, i) => i + 1)),
  verify: boolean,
  record: {
    expected: 'a whole number of bytes',
    accepts: (value) => Number.isInteger(value),
    schema: { type: 'integer' },
  },
  keys: list(text),
  format: oneOf(...KEY_FORMATS),
  to: oneOf(...KEY_FORMATS),
  column: {
    expected: 'an index from 0, or a name',
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
    expected: 'a whole number of lines of 0 or more',
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
    schema: { type: 'integer', minimum: 0 },
  },
  ragged: oneOf('error', 'fill', 'skip'),
  na: {
    expected: 'a value such as N/A, or a list of values',
    accepts: (value) => [value].flat().every(anyText.accepts),
    schema: { anyOf: [anyText.schema, { type: 'array', items: anyText.schema }] },
  },
  decimal: anyText,
  thousands: anyText,
  types: {
    expected:
      "types of columns such as 'price=f64,day=date:%d/%m/%Y', a list of types, or an object of types",
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
    expected: "columns such as 'price:desc,time', or a list of columns",
    accepts: (value) => text.accepts(value) || (Array.isArray(value) && value.length > 0),
    schema: { anyOf: [text.schema, { type: 'array', minItems: 1 }] },
  },
  columns: names,
  head: {
    expected: 'a whole number of rows of 0 or more',
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
    schema: { type: 'integer', minimum: 0 },
  },
  unique: boolean,
  counts: file,
  uniqueBy: names,
};

const REQUIRED = ['in', 'out'] as const;

/** Fields for keys; records set these in `keys` instead. */
const KEY_FIELDS = ['dtype', 'descending', 'bits', 'to', 'column', 'axis', ...TEXT_OPTIONS] as const;
const RECORD_FIELDS = ['record', 'keys'] as const;

/** Fields for tables only. */
const TABLE_FIELDS = ['by', 'columns', 'head', 'uniqueBy', 'types'] as const;
/** Fields for keys that tables set in `by` instead. */
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

/** Rules for the fields of a manifest. */
export const BATCH_RULES = {
  $schema: text,
  schema: oneOf('clsort.batch/1'),
  devices: list(text),
  defaults: object,
  jobs: { expected: 'a list of jobs', accepts: Array.isArray, schema: { type: 'array' } },
} as const satisfies Rules;

/** An error in a manifest, and its position. */
export interface Fault {
  readonly path: Path;
  readonly text: string;
}

/** Returns the faults of the fields of an object. */
export function fieldFaults(value: Record<string, unknown>, rules: Rules, path: Path): Fault[] {
  const faults: Fault[] = [];
  for (const field in value) {
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined;
    if (rule?.accepts(value[field])) continue;
    const at = [...path, field];
    const text = rule
      ? invalidArgument(pathText(at), rule.expected, value[field]).message
      : withAdvice(
          `cannot use ${pathText(at)}: there is no such field`,
          didYouMean(field, Object.keys(rules)),
        );
    faults.push({ path: at, text });
  }
  return faults;
}

/** Formats a path, such as `jobs[0].dtype`. */
export const pathText = (path: Path): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${step}`)).join('');

/** A job as written, with defaults applied; its paths are not resolved. */
export type WrittenJob = Omit<Job, 'name'> & { readonly name?: string };

/**
 * Applies defaults to a written job and checks it.
 *
 * @param written the job as written
 * @param defaults values for missing fields
 * @param path position of the job
 * @param faults receives the faults
 * @returns the job; undefined when it has faults
 */
export function jobOf(
  written: unknown,
  defaults: Readonly<Record<string, unknown>>,
  path: Path,
  faults: Fault[],
): WrittenJob | undefined {
  const where = pathText(path);
  if (!isObject(written)) {
    faults.push({ path, text: invalidArgument(where, object.expected, written).message });
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
    if (whole[field] === undefined) faults.push({ path, text: `cannot run ${where}: ${field} is missing` });
  }
  if (faults.length > before) return undefined;
  const job = whole as unknown as WrittenJob;
  const fault = ofTable
    ? tableFault(whole)
    : ofRecords
      ? (layoutFault(whole as unknown as RecordLayout, whole) ?? distinctFault(whole))
      : (windowFault(whole as unknown as FileJob) ?? distinctFault(whole));
  if (!fault) return job;
  faults.push({ path: [...path, fault.field], text: `cannot run ${where}: ${fault.cause}` });
  return undefined;
}

interface FieldFault {
  readonly field: string;
  readonly cause: string;
}

/** Checks a table job: sort keys, and no fields for keys or records. */
function tableFault(job: Readonly<Record<string, unknown>>): FieldFault | undefined {
  try {
    assertTableOptions(job);
    return undefined;
  } catch (error) {
    return { field: 'by', cause: (error as Error).message };
  }
}

/** Checks `unique` and `counts` of a job of keys or records. */
function distinctFault({
  unique,
  argsort,
  counts,
}: Readonly<Record<string, unknown>>): FieldFault | undefined {
  if (unique && argsort) {
    return { field: 'unique', cause: 'unique and argsort exclude each other: positions are distinct' };
  }
  if (counts === undefined || unique) return undefined;
  return { field: 'counts', cause: 'counts applies to distinct keys. Set unique' };
}

/** Checks a record job: layout, and no fields for keys. */
function layoutFault(layout: RecordLayout, job: Readonly<Record<string, unknown>>): FieldFault | undefined {
  if (Array.isArray(job.in)) {
    return {
      field: 'in',
      cause: 'in is a list, and files of records are sorted one at a time. Write one job for each file',
    };
  }
  const field = KEY_FIELDS.find((name) => job[name] !== undefined);
  if (field) {
    return {
      field,
      cause: `${field} does not apply to records. Describe their keys with keys, as in ["16:u64be:desc"]`,
    };
  }
  try {
    recordKeys(layout);
    return undefined;
  } catch (error) {
    return { field: 'keys', cause: (error as Error).message };
  }
}

/** Checks the bit range if the job has a dtype; otherwise it is checked when the file is read. */
function windowFault({ bits, dtype = '' }: FileJob): FieldFault | undefined {
  const named = dtypeOfName(dtype);
  if (!named || !bits) return undefined;
  const { name, width } = dtypeInfo(named.dtype);
  if (bits[1] <= width) return undefined;
  return { field: 'bits', cause: `bits ends at ${bits[1]}, and ${name} keys have ${width} bits` };
}
