/** Key files of any format: format detection, reading and writing. */
import type { Readable } from 'node:stream';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { type NamedDtype, namedDtype } from '../../keys/dtype-name.js';
import { DtypeError, FormatError } from '../../util/errors.js';
import { invalidName } from '../../util/suggest.js';
import {
  compressedOutput,
  compressionOf,
  decompressedSource,
  notDecompressed,
} from '../streams/compression.js';
import type { Output } from '../streams/output.js';
import { isStdin, isStdout, openSource, type Source } from '../streams/raw.js';
import type { FileFormat } from './file-format.js';
import { type NameFacts, nameFacts } from './file-name.js';
import { formatOfBytes, HEAD_BYTES, isReadable, TAIL_BYTES } from './format.js';
import { writeKeys } from './key-array.js';
import type {
  KeyFacts,
  KeyFormat,
  KeyReader,
  KeyWriter,
  OpenRequest,
  ReadRequest,
  WriteOptions,
} from './key-file.js';
import { lines } from './lines.js';
import { raw } from './raw.js';
import { READABLE } from './readable.js';
import { textOptionsOf } from './text/text-options.js';
import { looksLikeLines, TEXT } from './text.js';

/**
 * Accepted values of `format`: `auto` detects by name and header, a format's name selects that format, and `raw` reads
 * any file as raw keys.
 */
export const KEY_FORMATS: readonly string[] = ['auto', ...READABLE.map(({ id }) => id)];

/**
 * Returns the format of a name; undefined for `auto`.
 *
 * @param option the option that names it, for messages
 * @throws UsageError when the name is unknown
 */
export function formatNamed(name: string, option = 'format'): KeyFormat | undefined {
  const found = READABLE.find(({ id }) => id === name);
  if (!found && name !== 'auto') throw invalidName(option, name, KEY_FORMATS);
  return found;
}

/** Options for reading files. */
export interface InputOptions extends Omit<ReadRequest, 'dtype' | 'bigEndian'> {
  /**
   * Name of a dtype, such as u32, float64 or f64be. Overrides the extension of raw files; must match the dtype of typed
   * formats.
   *
   * @defaultValue from the file name or the file
   */
  readonly dtype?: string | undefined;
  /**
   * Name of the format, as for `--format`: `raw`, `npy`, `csv` and so on.
   *
   * @defaultValue `'auto'`: by name and first bytes
   */
  readonly format?: string | undefined;
}

/** Options for opening keys. */
export type OpenOptions = InputOptions & Pick<OpenRequest, 'tables'>;

/**
 * Opens keys for reading.
 *
 * The format comes from `options.format`, then the file name, then the first bytes; the last default is raw. A known
 * format without a reader is rejected, since its header would be taken for keys.
 *
 * @param source the open source
 * @param path path of the source; `-` for stdin
 * @param options dtype, format and text options
 * @throws UsageError when an option is invalid
 * @throws DtypeError when the dtype is unknown, missing or contradicts the file
 * @throws FormatError when the file is not valid in its format, or the format is not supported; `details.found` names
 * the format
 * @throws IoError when reading fails
 */
export async function openKeys(source: Source, path: string, options: OpenOptions = {}): Promise<KeyReader> {
  return openKeysAs(await inputFormat(source, path, options), options);
}

/**
 * Opens keys of a known format.
 *
 * @throws the errors of `openKeys`
 */
export function openKeysAs(
  { format, inner, facts }: InputFormat,
  { dtype, format: _, ...request }: OpenOptions,
): Promise<KeyReader> {
  const named = dtype === undefined ? undefined : namedDtype(dtype);
  return format.open(inner, { ...request, ...(format === raw ? rawDtype(named, facts) : named) });
}

/** Returns the input options of an object that may hold others. */
export const inputOptionsOf = ({ dtype, format, column, ...options }: InputOptions): InputOptions => ({
  ...{ dtype, format, column },
  ...textOptionsOf(options),
});

/** The format of an input, and the source it is read from. */
export interface InputFormat {
  readonly format: KeyFormat;
  /** The source, decompressed unless the format does that. */
  readonly inner: Source;
  readonly facts: NameFacts;
}

/**
 * Detects the format of an input.
 *
 * @throws the errors of `openKeys`
 */
export async function inputFormat(
  source: Source,
  path: string,
  { format = 'auto', dtype, signal }: Pick<InputOptions, 'dtype' | 'signal' | 'format'>,
): Promise<InputFormat> {
  const given = dtype === undefined ? undefined : namedDtype(dtype).dtype;
  const wanted = formatNamed(format);
  const facts = await nameFacts(isStdin(path) ? '' : path);
  const { compression } = facts;
  const inner = compression && wanted !== raw ? decompressedSource(source, compression, signal) : source;
  const chosen = wanted ?? (await formatOf(inner, path, facts, given));
  if (inner !== source && !chosen.compressible) throw notCompressed(path, chosen);
  if (chosen.decompressesItself) await assertBegin(source, chosen, facts, wanted);
  return { format: chosen, inner: chosen.decompressesItself ? source : inner, facts };
}

/** @throws FormatError when a file does not begin as its name says */
async function assertBegin(
  source: Source,
  chosen: KeyFormat,
  { compression }: NameFacts,
  wanted: KeyFormat | undefined,
): Promise<void> {
  const head = await source.head(HEAD_BYTES);
  const packed = compressionOf(head);
  if (compression && packed !== compression) {
    throw notDecompressed(source.name, compression.name, 'it does not begin like one');
  }
  const found = packed || wanted ? undefined : formatOfBytes(head, await source.tail(TAIL_BYTES));
  if (found && found !== TEXT)
    throw refusedFormat(source.name, found, `it begins like ${found.name}`, chosen.name);
}

/**
 * Returns the dtype of raw keys: the requested one, otherwise that of the name. The name supplies the byte order when
 * its dtype is the same.
 */
function rawDtype(given: NamedDtype | undefined, { named }: NameFacts): NamedDtype | undefined {
  if (!given || given.dtype !== named?.dtype) return given ?? named;
  return { dtype: given.dtype, bigEndian: given.bigEndian ?? named.bigEndian };
}

const RAW_HINT = '--format raw ("format": "raw" in a job of a batch) to read its bytes as keys';

const identifiedBy = (path: string, name: string, found: string): string =>
  `${name === path ? 'its extension' : `the extension of ${name}`} is that of ${found}`;

/** @throws FormatError when the format is not supported or contradicts the name */
async function formatOf(
  source: Source,
  path: string,
  { format: named, name, named: type }: NameFacts,
  dtype: string | undefined,
): Promise<KeyFormat> {
  if (named && !isReadable(named)) throw refusedFormat(path, named, identifiedBy(path, name, named.name));
  if (named && named !== raw) return named;
  // Raw keys of one byte skip detection, since any bytes are valid keys.
  const knownDtype = dtype ?? type?.dtype;
  if (knownDtype !== undefined && dtypeInfo(knownDtype).bytes === 1) return raw;
  const head = await source.head(HEAD_BYTES);
  const found = formatOfBytes(head, await source.tail(TAIL_BYTES));
  if (isStdin(path) && dtype === undefined && (!found || found === TEXT) && looksLikeLines(head))
    return lines;
  if (!found) return raw;
  // Either the name is wrong or the bytes match by chance; only the user can decide.
  if (named === raw || !isReadable(found)) {
    throw refusedFormat(source.name, found, `it begins like ${found.name}`);
  }
  return found;
}

function refusedFormat(path: string, found: FileFormat, why: string, expected = 'raw keys'): FormatError {
  const hint = isReadable(found)
    ? `Use --format ${found.id}`
    : (found.hint ?? `Convert it to one of ${READABLE.map(({ id }) => id).join(', ')}`);
  return new FormatError(`cannot read ${path} as ${expected}: ${why}. ${hint}, or ${RAW_HINT}`, {
    details: { path, found: found.name, expected },
  });
}

/**
 * Rejects a file name that implies a format other than raw records.
 *
 * @param path path of the file
 * @param format `raw` accepts any name
 * @throws FormatError when the name implies another format or a compressed file
 */
export async function assertRecordName(path: string, format: string | undefined): Promise<void> {
  if (format === raw.id || isStdin(path) || isStdout(path)) return;
  const { compression, format: named, name } = await nameFacts(path);
  if (compression || (named && named !== raw)) {
    const found = named?.name ?? `a ${compression?.name} file`;
    throw new FormatError(
      `cannot use ${path} as a file of records: ${identifiedBy(path, name, found)}. Use ${RAW_HINT}`,
      { details: { path, found, expected: 'records' } },
    );
  }
}

/**
 * Opens a file of records. Only the file name is checked, since records may contain any bytes.
 *
 * @param path path of the file, `-` for stdin
 * @param stdin stream to use for stdin
 * @param options format, as for `assertRecordName`, and signal
 * @throws FormatError when the name implies another format
 * @throws IoError when the file cannot be opened
 * @throws AbortedError when the signal aborts
 */
export async function openRecords(
  path: string,
  stdin: Readable,
  { format, signal }: Pick<InputOptions, 'format' | 'signal'>,
): Promise<Source> {
  await assertRecordName(path, format);
  return openSource(path, stdin, signal);
}

const notCompressed = (path: string, { name }: FileFormat): FormatError =>
  new FormatError(
    `cannot use ${path}: ${name} is not compressed as a whole. Name it without the extension of the compression`,
    { details: { path, found: name } },
  );

export interface OutputOptions extends Omit<WriteOptions, 'bigEndian'> {
  /** One of `KEY_FORMATS`; default `auto`: from the output name, otherwise the format of the input. */
  readonly to?: string | undefined;
}

/** The format that keys are written in. */
export interface KeyTarget {
  /** Name of the format. */
  readonly format: string;
  /** Dtype that the output name implies for raw keys. */
  readonly named: Dtype | undefined;
  /** Whether the file is exactly the keys in memory: little-endian, uncompressed, without a header. */
  readonly plain: boolean;
  /** Returns the size of the file in bytes; undefined when it is not known in advance. */
  bytes(facts: KeyFacts): number | undefined;
  /**
   * Starts writing after reserving space.
   *
   * @throws DtypeError when the format cannot hold the keys, or the name implies another dtype
   * @throws IoError when there is not enough space
   */
  create(output: Output, facts: KeyFacts): Promise<KeyWriter>;
}

/** Properties of the input that an output takes over when its own name implies none. */
export interface Model {
  /** Name of the input's format. */
  readonly format: string;
  readonly bigEndian?: boolean | undefined;
  readonly text?: KeyReader['text'];
  /** Whether the caller specified the dtype, which overrides the dtype implied by the name of a raw output. */
  readonly isDtypeGiven: boolean;
}

/**
 * Returns the target for an output name.
 *
 * @param path path of the output, `-` for stdout
 * @param options format and text options
 * @param model properties of the input
 * @throws FormatError when the name implies a format that cannot be written
 * @throws UsageError when `to` is unknown
 */
export async function keyTarget(path: string, options: OutputOptions, model: Model): Promise<KeyTarget> {
  const { to = 'auto', ...rest } = options;
  const { format, wanted, facts } = await outputFormat(path, to, model.format);
  const { compression } = facts;
  const { bigEndian = false } = facts.named ?? model; // a name with a dtype but no byte order means little-endian
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
      if (format === raw && !wanted && !model.isDtypeGiven) assertNamed(facts, written);
      await output.reserve(bytes(written) ?? 0);
      if (!compression || format.decompressesItself) return format.create(output, written, settings);
      const smaller = await compressedOutput(output, compression);
      const writer = await format.create(smaller, written, settings);
      return { write: (piece) => writer.write(piece), end: () => writer.end().then(() => smaller.finish()) };
    },
  };
}

/**
 * Returns the target for keys of a reader, whose format and style the output takes over.
 *
 * @param options text options, and the dtype if the caller specified it
 * @throws the errors of `keyTarget`
 */
export const targetOf = (
  reader: KeyReader,
  path: string,
  { to, header, delimiter, signal, verify, dtype }: OutputOptions & Pick<InputOptions, 'dtype'>,
): Promise<KeyTarget> =>
  keyTarget(
    path,
    { to, header, delimiter, signal, verify },
    { ...reader, isDtypeGiven: dtype !== undefined },
  );

/** Writes a whole array of keys to an output. */
export async function writeKeyFile(
  target: KeyTarget,
  output: Output,
  keys: ArrayBufferView,
  facts: Pick<KeyFacts, 'dtype' | 'column'> & Partial<KeyFacts>,
): Promise<void> {
  const n = keys.byteLength / dtypeInfo(facts.dtype).bytes;
  const writer = await target.create(output, { n, shape: [n], ...facts });
  await writeKeys(writer, keys);
  await writer.end();
}

/**
 * Returns the format of an output: from `to`, otherwise from its name, otherwise that of the input.
 *
 * @throws FormatError when the name implies a format that cannot be written
 * @throws UsageError when `to` is unknown
 */
export async function outputFormat(
  path: string,
  to: string,
  input: string,
): Promise<{
  readonly format: KeyFormat;
  readonly wanted: KeyFormat | undefined;
  readonly facts: NameFacts;
}> {
  const wanted = formatNamed(to, 'to');
  const facts = await nameFacts(isStdout(path) ? '' : path);
  if (!wanted && facts.format && !isReadable(facts.format)) {
    throw new FormatError(
      `cannot write ${facts.name}: its extension is that of ${facts.format.name}, which is not supported. Name another ` +
        'output, or use --to raw to write raw keys',
      { details: { path, found: facts.format.name, expected: 'raw keys' } },
    );
  }
  const format = wanted ?? (facts.format as KeyFormat | undefined) ?? formatNamed(input) ?? raw;
  if (facts.compression && !format.compressible) throw notCompressed(path, format);
  return { format, wanted, facts };
}

/** @throws DtypeError when the name of a raw file implies a dtype other than that of its keys */
function assertNamed({ named, name }: NameFacts, { dtype }: KeyFacts): void {
  if (!named || named.dtype === dtype) return;
  throw new DtypeError(
    `cannot write ${dtype} keys to ${name}: its extension is that of ${named.dtype} keys. Use the extension .${dtype}`,
    { details: { path: name, found: dtype, expected: named.dtype } },
  );
}
