/** Creates the job of a distributed sort: inspects the inputs and divides them into shards. */
import { readdir } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { Readable } from 'node:stream';
import { randomPoints } from '../io/checks/multiset.js';
import { assertFreeSpace, diskUsage } from '../io/external/disk.js';
import { identityOf, isRegular } from '../io/external/input.js';
import { MAX_PARTITIONS } from '../io/external/splitters.js';
import type { KeyReader } from '../io/formats/key-file.js';
import { formatNamed, type InputOptions, keyTarget, openKeys, openRecords } from '../io/formats/keys.js';
import { keyText, type RecordLayout, recordKeys } from '../io/records/record-keys.js';
import { isStdin, openSource } from '../io/streams/raw.js';
import { dtypeInfo } from '../keys/dtype.js';
import { bitWindow } from '../sort/model/options.js';
import { DtypeError, InputError, UsageError } from '../util/errors.js';
import { VERSION } from '../util/package.js';
import { assertWholeNumber } from '../util/whole-number.js';
import type { JobFolder } from './job-folder.js';
import { orderOf } from './job-records.js';
import {
  MAX_SHARDS,
  MIN_PARTITION_BYTES,
  MIN_PARTITIONS,
  MIN_SHARD_BYTES,
  PARTITION_BYTES,
  SHARD_BYTES,
  TARGET_SHARDS,
  UNKNOWN_PARTITIONS,
} from './policy.js';
import type { SharedFolder } from './shared-folder.js';
import {
  type JobInput,
  type KeyFormat,
  type PartFormat,
  type RecordFormat,
  type Shard,
  SORT_SCHEMA,
  type SortJob,
} from './sort-job.js';
import { assertReplaceable } from './verify-part.js';

/** A request for a distributed sort. */
export interface SortRequest {
  readonly inputs: readonly string[];
  readonly out: string;
  /** Input options and order of key files. */
  readonly keys?: InputOptions & {
    readonly descending?: boolean;
    readonly nan?: 'first' | 'last';
    readonly bits?: readonly [number, number];
    /** Format of the parts. */
    readonly to?: string;
  };
  /** Layout of records; set instead of `keys`. */
  readonly records?: (RecordLayout & { readonly format?: string | undefined }) | undefined;
  readonly how: SortJob['how'];
  readonly partitions?: number | undefined;
  readonly shards?: number | undefined;
}

/** Seed of the samples: with a fixed number, runs are repeatable. */
const SEED = 0x5eed;

interface InputSummary {
  readonly input: JobInput;
  /** Size of its records in bytes; undefined when unknown. */
  readonly bytes: number | undefined;
  /** Whether it can be divided. */
  readonly cut: boolean;
}

/**
 * Creates a job.
 *
 * @param request inputs, output and options
 * @param shared the shared folder
 * @param signal aborts reading
 * @throws UsageError when an option is invalid, or a file is not in the shared folder or not a regular file
 * @throws DtypeError when dtypes are missing or differ
 * @throws FormatError when a file is not valid in its format
 * @throws InputError when records do not match their files
 * @throws IoError when reading fails
 */
export async function makeJob(
  request: SortRequest,
  shared: SharedFolder,
  signal: AbortSignal,
): Promise<SortJob> {
  const { inputs, out, records, how } = request;
  assertWholeNumber('--partitions', request.partitions, { max: MAX_PARTITIONS });
  assertWholeNumber('--shards', request.shards, { max: MAX_SHARDS * 64 });
  for (const path of inputs) {
    if (isStdin(path) || !(await isRegular(path))) {
      throw new UsageError(`cannot sort ${path} on many machines: it is not a regular file`);
    }
  }
  await assertReplaceable(out);
  const outName = await shared.nameOf(out);
  const inspected = records
    ? await inspectRecords(inputs, records, shared, signal)
    : await inspectKeys(inputs, request, shared, signal);
  const { units, opened, part } = inspected;
  for (const { input } of opened) {
    if (input.name === outName || input.name.startsWith(`${outName}/`)) {
      throw new UsageError(
        `cannot replace ${outName}: it contains the input ${input.name}. Name another output`,
      );
    }
  }
  const { recordBytes } = orderOf(units);
  const sizes = opened.map(({ bytes }) => bytes);
  const all = sizes.some((bytes) => bytes === undefined)
    ? undefined
    : sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
  return {
    schema: SORT_SCHEMA,
    version: VERSION,
    out: outName,
    inputs: opened.map(({ input }) => input),
    units,
    shards: shardsOf(opened, recordBytes, request.shards),
    partitions: request.partitions ?? partitionsFor(all),
    part,
    seed: SEED,
    points: Array.from(randomPoints(), String),
    how,
  };
}

interface InspectedInputs {
  readonly units: KeyFormat | RecordFormat;
  readonly opened: readonly InputSummary[];
  readonly part: PartFormat;
}

async function inputOf(path: string, shared: SharedFolder): Promise<JobInput> {
  const { bytes, modified, checksum } = await identityOf(path);
  return { name: await shared.nameOf(path), bytes, modified, checksum };
}

async function inspectRecords(
  inputs: readonly string[],
  { record, keys, nan = 'last', format }: NonNullable<SortRequest['records']>,
  shared: SharedFolder,
  signal: AbortSignal,
): Promise<InspectedInputs> {
  const opened: InputSummary[] = [];
  for (const path of inputs) {
    const source = await openRecords(path, Readable.from([]), { format, signal });
    source.assertWhole(record);
    await source.close();
    const input = await inputOf(path, shared);
    opened.push({ input, bytes: input.bytes, cut: true });
  }
  const units = {
    is: 'records',
    record,
    keys: recordKeys({ record, keys }).map(keyText),
    nan,
    format,
  } as const;
  const extension = inputs.length > 0 ? extname(inputs[0] ?? '') : '';
  return { units, opened, part: { extension: safeExtension(extension), format: 'raw', bigEndian: false } };
}

async function inspectKeys(
  inputs: readonly string[],
  { keys = {} }: SortRequest,
  shared: SharedFolder,
  signal: AbortSignal,
): Promise<InspectedInputs> {
  const { descending = false, nan = 'last', bits, to = 'auto', ...read } = keys;
  const { dtype, format, column, header, delimiter } = read;
  const opened: InputSummary[] = [];
  let first: KeyReader | undefined;
  for (const path of inputs) {
    const source = await openSource(path, Readable.from([]), signal);
    const reader = await openKeys(source, path, { ...read, signal }).catch(async (error) => {
      await source.close();
      throw error;
    });
    await reader.close();
    await source.close();
    first ??= reader;
    assertSameType(reader, first);
    const { bytes: width } = dtypeInfo(reader.dtype);
    const bytes = reader.n === undefined ? undefined : reader.n * width;
    opened.push({ input: await inputOf(path, shared), bytes, cut: reader.readAt !== undefined });
  }
  if (!first) throw new UsageError('cannot sort: there is no input file. Name at least one');
  const units = {
    is: 'keys',
    dtype: first.dtype,
    descending,
    nan,
    bits: bitWindow(bits, dtypeInfo(first.dtype)),
    read: { dtype, format, column, header, delimiter },
  } as const;
  return { units, opened, part: await partOf(first, { to, header, delimiter }) };
}

function assertSameType(reader: KeyReader, first: KeyReader): void {
  if (reader.dtype !== first.dtype) {
    throw new DtypeError(
      `cannot sort ${first.name} and ${reader.name} together: they contain ${first.dtype} and ${reader.dtype} keys`,
    );
  }
  if ((reader.shape?.length ?? 1) > 1) {
    throw new UsageError(
      `cannot sort ${reader.name} on many machines: it is a matrix, and only one sequence of keys is supported`,
    );
  }
}

/** Returns the format of the parts: from `to`, otherwise that of the input. */
async function partOf(
  reader: KeyReader,
  { to, header, delimiter }: Pick<InputOptions, 'header' | 'delimiter'> & { readonly to: string },
): Promise<PartFormat> {
  const wanted = formatNamed(to, 'to') ?? formatNamed(reader.format);
  const format = wanted?.id ?? 'raw';
  const bigEndian = format === 'raw' && (reader.bigEndian ?? false);
  const extension =
    format === 'raw' ? `.${reader.dtype}${bigEndian ? 'be' : ''}` : `.${wanted?.extensions[0] ?? format}`;
  // Checks early that the format can hold these keys.
  const model = { format, bigEndian, isDtypeGiven: true };
  const target = await keyTarget(`part${extension}`, { to: format, header, delimiter }, model);
  const text = { header, delimiter, column: reader.column };
  return { extension, format: target.format, bigEndian, ...text };
}

/** Returns an extension of letters and digits for the names of parts, or an empty string. */
const safeExtension = (extension: string): string => (/^\.\w{1,16}$/.test(extension) ? extension : '');

/** Returns the default number of partitions. */
export function partitionsFor(bytes: number | undefined): number {
  if (bytes === undefined) return UNKNOWN_PARTITIONS;
  const minPartitions = Math.min(MIN_PARTITIONS, Math.ceil(bytes / MIN_PARTITION_BYTES));
  return Math.max(1, Math.min(MAX_PARTITIONS, Math.max(minPartitions, Math.ceil(bytes / PARTITION_BYTES))));
}

/** Returns the approximate shard size in bytes. */
function shardBytes(total: number, wanted: number | undefined): number {
  if (wanted !== undefined) return total / wanted;
  const maxBytes = Math.max(SHARD_BYTES, total / MAX_SHARDS);
  return Math.min(maxBytes, Math.max(MIN_SHARD_BYTES, total / TARGET_SHARDS));
}

/** Returns the number of shards of a file. */
export const shardsFor = (bytes: number, wanted: number | undefined): number =>
  Math.max(1, Math.round(bytes / shardBytes(bytes, wanted)));

/** Divides inputs into shards of about equal size; an input that cannot be divided is one shard. */
function shardsOf(opened: readonly InputSummary[], recordBytes: number, wanted: number | undefined): Shard[] {
  const total = opened.reduce((sum, { bytes = 0, cut }) => sum + (cut ? bytes : 0), 0);
  const each = shardBytes(total, wanted);
  const shards: Shard[] = [];
  for (const [input, { bytes, cut }] of opened.entries()) {
    if (!cut || bytes === undefined) {
      shards.push({ input, begin: 0, end: null });
      continue;
    }
    const records = bytes / recordBytes;
    const pieces = Math.max(1, Math.min(records, Math.round(bytes / each)));
    const at = (i: number): number => Math.floor((records * i) / pieces) * recordBytes;
    for (let i = 0; i < pieces; i++) shards.push({ input, begin: at(i), end: at(i + 1) });
  }
  return shards;
}

/** Returns the properties that must match to resume a job. */
const jobIdentity = ({ inputs, units, part, how }: SortJob): Readonly<Record<string, unknown>> => ({
  'the input files': inputs,
  'the input or order options': units,
  'the output options': part,
  'the algorithm options': how,
});

/**
 * Checks that an existing job matches a request.
 *
 * @param found the existing job
 * @param asked the job made from the request
 * @param request the request
 * @param cancel command that cancels the job, for messages
 * @throws InputError when an input has changed
 * @throws UsageError when the jobs differ otherwise
 */
export function assertSameJob(found: SortJob, asked: SortJob, request: SortRequest, cancel: string): void {
  const [was, is] = [jobIdentity(found), jobIdentity(asked)].map((facts) =>
    Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, JSON.stringify(fact)])),
  ) as [Record<string, string>, Record<string, string>];
  const other = Object.keys(was).find((name) => was[name] !== is[name]);
  if (other !== undefined) {
    const Kind = other === 'the input files' ? InputError : UsageError;
    throw new Kind(
      `cannot resume the sort to ${found.out}: ${other} have changed. To discard it, run '${cancel}'`,
    );
  }
  for (const name of ['partitions', 'shards'] as const) {
    const count = typeof found[name] === 'number' ? found[name] : found[name].length;
    const wanted = request[name];
    if (wanted === undefined || wanted === count) continue;
    const ours = asked[name];
    if ((typeof ours === 'number' ? ours : ours.length) === count) continue;
    throw new UsageError(
      `cannot resume the sort to ${found.out}: it has ${count} ${name}, not ${wanted}. Omit --${name}; or, to discard the sort, run '${cancel}'`,
    );
  }
}

/**
 * Checks the disk space for intermediate files and the result.
 *
 * @returns the size of the input in bytes
 * @throws IoError when there is not enough space
 */
export async function assertJobRoom(job: SortJob, folder: JobFolder, out: string): Promise<number> {
  const { recordBytes } = orderOf(job.units);
  const bytes = job.shards.reduce(
    (sum, { input, begin, end }) => sum + (end === null ? (job.inputs[input]?.bytes ?? 0) : end - begin),
    0,
  );
  const presentBytes = (await diskUsage(folder.file('parts'))) + (await piecesBytes(folder));
  const wanted = [
    { folder: folder.path, bytes: Math.max(0, bytes - presentBytes), what: 'pieces of partitions' },
    { folder: dirname(out), bytes, what: 'the result' },
  ];
  // Pieces are removed when their partition is sorted, so only some exist in both forms.
  await assertFreeSpace(wanted, Math.max(0, bytes - (4 * bytes) / job.partitions - recordBytes));
  return bytes;
}

async function piecesBytes(folder: JobFolder): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder.file('pieces')).catch(() => [])) {
    bytes += await diskUsage(folder.file('pieces', name));
  }
  return bytes;
}
