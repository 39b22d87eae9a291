/** Files of keys in any format: which one it is, who reads it, and who writes it. */
import { stat } from 'node:fs/promises';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { type NamedDtype, namedDtype } from '../keys/dtype-name.js';
import { DtypeError, FormatError, UsageError } from '../util/errors.js';
import { unknownName } from '../util/suggest.js';
import { compressedOutput, decompressedSource } from './compression.js';
import { type NameFacts, nameFacts } from './formats/file-name.js';
import { type FileFormat, formatOfBytes, HEAD_BYTES, isReadable, TAIL_BYTES } from './formats/format.js';
import type {
  KeyFacts,
  KeyFormat,
  KeyReader,
  KeyWriter,
  ReadRequest,
  WriteOptions,
} from './formats/key-file.js';
import { raw } from './formats/raw.js';
import { READABLE } from './formats/readable.js';
import type { Output } from './output.js';
import { isStdin, isStdout, type Source } from './raw.js';
import { textOptionsOf } from './text/text-options.js';

/** How files are taken: `auto`, as names and headers say; by a format's name, as that format; `raw`, as keys whatever they look like. */
export const KEY_FORMATS: readonly string[] = ['auto', ...READABLE.map(({ id }) => id)];

/** The format of that name; undefined for `auto`. @throws UsageError for an unknown one */
export function formatNamed(name: string): KeyFormat | undefined {
  const found = READABLE.find(({ id }) => id === name);
  if (!found && name !== 'auto') throw new UsageError(unknownName('format', name, KEY_FORMATS));
  return found;
}

/** What is said about files to read, beside their names. */
export interface InputOptions extends Omit<ReadRequest, 'dtype' | 'bigEndian'> {
  /**
   * A name of a dtype, such as u32, float64 or f64be; beats the extension of raw keys, and typed formats must agree.
   *
   * @defaultValue as the name or the file says
   */
  readonly dtype?: string | undefined;
  /**
   * Name of the format, as `--format` takes it: `raw`, `npy`, `csv` and so on.
   *
   * @defaultValue `'auto'`: by name and first bytes
   */
  readonly format?: string | undefined;
}

/**
 * Opens keys for reading.
 *
 * The format is the one that is asked for, else that of the name, else that of the first bytes, else raw. What is known to
 * be of a format that is not read is refused: its header would be taken for keys.
 *
 * @param path of the source; undefined where it has no name
 * @throws UsageError, DtypeError, FormatError, IoError; `details.found` of a FormatError names the format
 */
export async function openKeys(source: Source, path: string, options: InputOptions = {}): Promise<KeyReader> {
  const { dtype, format: wanted, ...request } = options;
  const named = dtype === undefined ? undefined : namedDtype(dtype);
  const { format, inner, facts } = await inputFormat(source, path, {
    ...{ format: wanted, dtype: named?.dtype, signal: request.signal },
  });
  return format.open(inner, { ...request, ...(format === raw ? rawDtype(named, facts) : named) });
}

/** What is said about files to read, out of all that is said. */
export const inputOptionsOf = ({ dtype, format, column, ...options }: InputOptions): InputOptions => ({
  ...{ dtype, format, column },
  ...textOptionsOf(options),
});

/** What an input is, and what its format reads of it. */
export interface InputFormat {
  readonly format: KeyFormat;
  /** The source, unpacked where the format does not do that itself. */
  readonly inner: Source;
  readonly facts: NameFacts;
}

/** The format of an input. @throws as `openKeys` */
export async function inputFormat(
  source: Source,
  path: string,
  { format = 'auto', dtype, signal }: Pick<ReadRequest, 'dtype' | 'signal'> & Pick<InputOptions, 'format'>,
): Promise<InputFormat> {
  const wanted = formatNamed(format);
  const facts = await nameFacts(isStdin(path) ? '' : path);
  const { compression } = facts;
  const inner = compression && wanted !== raw ? decompressedSource(source, compression, signal) : source;
  const chosen = wanted ?? (await formatOf(inner, path, facts, dtype));
  if (inner !== source && !chosen.compressible) throw notCompressed(path, chosen);
  return { format: chosen, inner: chosen.decompressesItself ? source : inner, facts };
}

/** What raw keys are: as it is said, else by the name, which also tells the order of the bytes where it has the same dtype. */
function rawDtype(said: NamedDtype | undefined, { named }: NameFacts): NamedDtype | undefined {
  if (!said || said.dtype !== named?.dtype) return said ?? named;
  return { dtype: said.dtype, bigEndian: said.bigEndian ?? named.bigEndian };
}

const RAW_HINT = 'if it is raw keys all the same, say so: --format raw, or "format": "raw" in a batch\'s job';

/** @throws FormatError */
async function formatOf(
  source: Source,
  path: string,
  { format: named, name, named: type }: NameFacts,
  dtype: string | undefined,
): Promise<KeyFormat> {
  if (named && !isReadable(named))
    throw refusedFormat(path, named, `the name ${name} says that it is ${named.name}`);
  if (named && named !== raw) return named;
  // Keys of one byte are not judged by what they are: any bytes may be meant.
  const knownDtype = dtype ?? type?.dtype;
  if (knownDtype !== undefined && dtypeInfo(knownDtype).bytes === 1) return raw;
  const found = formatOfBytes(await source.head(HEAD_BYTES), await source.tail(TAIL_BYTES));
  if (!found) return raw;
  // A name that says that it is raw keys is wrong then, or the bytes are chance: nobody but the user knows.
  if (named === raw || !isReadable(found)) {
    throw refusedFormat(source.name, found, `${source.name} begins as ${found.name} does`);
  }
  return found;
}

function refusedFormat(path: string, found: FileFormat, why: string): FormatError {
  const hint = isReadable(found)
    ? `Read it as what it is: --format ${found.id}`
    : `That is not read (but ${READABLE.map(({ id }) => id).join(', ')} are). Take the numbers out of it first`;
  return new FormatError(`${why}. ${hint}; ${RAW_HINT}`, {
    details: { path, found: found.name, expected: 'raw keys' },
  });
}

/**
 * The most keys that files hold, by their sizes; undefined where those tell nothing: of pipes, and of what is compressed.
 *
 * @param keyBytes of a key; undefined where the names or the files themselves say it
 */
export async function maxKeyCount(paths: readonly string[], keyBytes?: number): Promise<number | undefined> {
  let keys = 0;
  for (const path of paths) {
    const { compression, format, named } = await nameFacts(isStdin(path) ? '' : path);
    const stats = isStdin(path) ? undefined : await stat(path).catch(() => undefined);
    // What can be compressed as a whole is not so by itself: a byte of it is a key at most.
    if (!stats?.isFile() || compression || (format && !(isReadable(format) && format.compressible))) return;
    const isRaw = format === undefined || format === raw;
    keys += Math.floor(stats.size / ((isRaw && (keyBytes ?? (named && dtypeInfo(named.dtype).bytes))) || 1));
  }
  return keys;
}

/**
 * Refuses a name that says that a file is of another format than records, which are bytes as they are.
 *
 * @param format `raw` takes any name
 * @throws FormatError
 */
export async function assertRecordName(path: string, format: string | undefined): Promise<void> {
  if (format === raw.id || isStdin(path) || isStdout(path)) return;
  const { compression, format: named, name } = await nameFacts(path);
  if (compression || (named && named !== raw)) {
    const found = named?.name ?? `a file that is compressed (.${compression?.extension})`;
    throw new FormatError(
      `the name ${name} says that it is ${found}, which holds no records of a fixed size as they are; ` +
        'if it does all the same, say so: --format raw, or "format": "raw" in a batch\'s job',
      { details: { path, found, expected: 'records' } },
    );
  }
}

const notCompressed = (path: string, { name }: FileFormat): FormatError =>
  new FormatError(
    `${path} would be ${name} that is compressed as a whole, which is neither read nor written`,
    {
      details: { path, found: name },
    },
  );

/** How an output is to look, beside its name. */
export interface OutputOptions extends Omit<WriteOptions, 'bigEndian'> {
  /** One of `KEY_FORMATS`; default `auto`: as the name says, else as the input. */
  readonly to?: string | undefined;
}

/** What files of keys are written as. */
export interface KeyTarget {
  /** Name of the format. */
  readonly format: string;
  /** Dtype of raw keys that the output's name says. */
  readonly named: Dtype | undefined;
  /** Whether keys are written as they are held, little-endian and with nothing around them. */
  readonly plain: boolean;
  /** Bytes that such keys will take; undefined where that shows at the end only. */
  bytes(facts: KeyFacts): number | undefined;
  /**
   * Begins to write, if there is room.
   *
   * @throws DtypeError where the format cannot hold such keys, or the name says that it holds others; IoError
   */
  create(output: Output, facts: KeyFacts): Promise<KeyWriter>;
}

/** What an output takes from the input where its own name says nothing. */
export interface Model {
  /** Name of the input's format. */
  readonly format: string;
  readonly bigEndian?: boolean | undefined;
  readonly text?: KeyReader['text'];
  /** Whether the dtype was said by the caller, which beats what the name of a raw output says. */
  readonly dtypeSaid: boolean;
}

/**
 * Who writes an output of that name.
 *
 * @throws FormatError where the name says a format that is not written; UsageError for an unknown `to`
 */
export async function keyTarget(path: string, options: OutputOptions, model: Model): Promise<KeyTarget> {
  const { to = 'auto', ...rest } = options;
  const { format, wanted, facts } = await outputFormat(path, to, model.format);
  const { compression } = facts;
  const { bigEndian = false } = facts.named ?? model; // a name that says nothing of it is little-endian
  const { header, delimiter } = format.id === model.format ? { ...model.text } : {};
  const text = { header: rest.header ?? header, delimiter: rest.delimiter ?? delimiter };
  const settings = { ...rest, ...text, bigEndian };
  const bytes = (written: KeyFacts) => (compression ? undefined : format.bytes?.(written));
  return {
    format: format.id,
    named: format === raw ? facts.named?.dtype : undefined,
    plain: format === raw && !compression && !bigEndian,
    bytes,
    async create(output, written) {
      if (format === raw && !wanted && !model.dtypeSaid) assertNamed(facts, written);
      await output.reserve(bytes(written) ?? 0);
      if (!compression || format.decompressesItself) return format.create(output, written, settings);
      const smaller = await compressedOutput(output, compression);
      const writer = await format.create(smaller, written, settings);
      return { write: (piece) => writer.write(piece), end: () => writer.end().then(() => smaller.finish()) };
    },
  };
}

/** What an output is written as: as `to` says, else as its name does, else as the input. @throws FormatError, UsageError */
export async function outputFormat(
  path: string,
  to: string,
  input: string,
): Promise<{
  readonly format: KeyFormat;
  readonly wanted: KeyFormat | undefined;
  readonly facts: NameFacts;
}> {
  const wanted = formatNamed(to);
  const facts = await nameFacts(isStdout(path) ? '' : path);
  if (!wanted && facts.format && !isReadable(facts.format)) {
    throw new FormatError(
      `the name ${facts.name} says that it is ${facts.format.name}, which is not written. Name another output; ` +
        'if it is to be raw keys all the same, say so: --to raw (--format raw, if the input is raw, too)',
      { details: { path, found: facts.format.name, expected: 'raw keys' } },
    );
  }
  const format = wanted ?? (facts.format as KeyFormat | undefined) ?? formatNamed(input) ?? raw;
  if (facts.compression && !format.compressible) throw notCompressed(path, format);
  return { format, wanted, facts };
}

/** @throws DtypeError where a raw file would be named after a dtype that it does not hold */
function assertNamed({ named, name }: NameFacts, { dtype }: KeyFacts): void {
  if (!named || named.dtype === dtype) return;
  throw new DtypeError(
    `the name ${name} says that it holds ${named.dtype} keys, and they would be ${dtype}: name the output after them`,
    { details: { path: name, found: dtype, expected: named.dtype } },
  );
}
