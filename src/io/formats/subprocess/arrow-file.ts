/**
 * The messages of an Arrow file or stream. apache-arrow decodes the metadata; bodies are addressed by offset, so that
 * only the requested part of a column is read. Runs in the subprocess.
 */
import type * as Arrow from 'apache-arrow';
import { FormatError, PackageError } from '../../../util/errors.js';
import { optionalPackage, requirePackage } from '../../../util/optional-package.js';
import { isBigEndian, SCHEMA_FIELD } from './arrow-endianness.js';
import { guardDecoder } from './arrow-guard.js';
import { type ByteSource, fileSource } from './byte-source.js';

export type ArrowPackage = typeof Arrow;

/** The package plus `Footer`, which it does not export. */
export type ArrowReader = ArrowPackage & Pick<typeof import('apache-arrow/ipc/metadata/file'), 'Footer'>;

/** @throws PackageError when the package is not installed */
export const loadArrow = (): Promise<ArrowReader> =>
  optionalPackage('apache-arrow', 'this format', async () => ({
    ...(await requirePackage<ArrowReader>('apache-arrow')),
    ...(await requirePackage<ArrowReader>('apache-arrow/ipc/metadata/file')),
  }));

/** Loads the build of the package in one file, in a sixth of the time, or else all files. The build hides what is private. */
export const loadPublicArrow = (): Promise<ArrowPackage> =>
  requirePackage<ArrowPackage>('apache-arrow/Arrow.es2015.min').catch(loadArrow);

export type RecordHeader = ReturnType<Arrow.Message<Arrow.MessageHeader.RecordBatch>['header']>;
export type DictionaryHeader = ReturnType<Arrow.Message<Arrow.MessageHeader.DictionaryBatch>['header']>;

/** A decoded message with its body. */
export type FoundMessage =
  | { readonly schema: Arrow.Schema }
  | { readonly record: RecordHeader; readonly body: Body }
  | FoundDictionary;

export interface FoundDictionary {
  readonly dictionary: DictionaryHeader;
  readonly body: Body;
}

const MAGIC = 'ARROW1';
/** The magic number, padded to eight bytes. */
const FILE_BEGIN = 8;
/** Lengths are little-endian 32-bit words. */
const LENGTH_BYTES = 4;
/** Marker before the length of a message, since version 0.15. */
const CONTINUATION = -1;

export const damagedFile = (what: string, options?: ErrorOptions): FormatError =>
  new FormatError(`${what}. Check that the file is not damaged`, options);

/** A byte range of the file. */
export class Body {
  readonly begin: number;
  readonly length: number;
  readonly #source: ByteSource;

  constructor(source: ByteSource, begin: number, length: number) {
    this.#source = source;
    this.begin = begin;
    this.length = length;
  }

  /** @throws FormatError when the part exceeds this range */
  part(offset: number, length: number): Body {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.length)) {
      throw damagedFile('a buffer goes beyond the body of its message');
    }
    return new Body(this.#source, this.begin + offset, length);
  }

  /** Returns a copy of bytes `begin` to `end`. */
  bytes(begin = 0, end = this.length): Uint8Array<ArrayBuffer> {
    return this.#source.bytes(this.begin + begin, this.part(begin, end - begin).length);
  }
}

/** An Arrow file or stream. */
export class ArrowFile {
  readonly #arrow: ArrowReader;
  readonly #source: ByteSource;

  /** @param source  default: the file descriptor of the subprocess */
  constructor(arrow: ArrowReader, source: ByteSource = fileSource()) {
    const { Footer, Schema } = arrow;
    guardDecoder(() => Footer.decode(Footer.encode(new Footer(new Schema([]), undefined, [], []))));
    this.#arrow = arrow;
    this.#source = source;
  }

  /** Yields schema, dictionaries and record batches, each after the messages that it depends on. */
  messages(): Generator<FoundMessage> {
    return this.#text(0) === MAGIC ? this.#fileMessages() : this.#streamMessages();
  }

  /** Uses the footer, because dictionaries may follow the batches that refer to them. */
  *#fileMessages(): Generator<FoundMessage> {
    const end = this.#source.size - MAGIC.length;
    if (end < FILE_BEGIN + LENGTH_BYTES || this.#text(end) !== MAGIC) {
      throw new FormatError(
        'it does not end with the magic number of an Arrow file. Check that it is complete',
      );
    }
    const [length = 0] = new Int32Array(this.#source.bytes(end - LENGTH_BYTES, LENGTH_BYTES).buffer);
    const begin = end - LENGTH_BYTES - length;
    if (length <= 0 || begin < FILE_BEGIN) throw damagedFile('its footer has an impossible length');
    const { schema, dictionaries, records } = this.#decoded(() => {
      const metadata = this.#source.bytes(begin, length);
      assertLittleEndian(metadata, SCHEMA_FIELD.footer);
      const footer = this.#arrow.Footer.decode(metadata);
      const dictionaries = [...footer.dictionaryBatches()];
      return { schema: footer.schema, dictionaries, records: [...footer.recordBatches()] };
    });
    const blocks = [...dictionaries, ...records];
    const sum = blocks.reduce((all, block) => all + block.metaDataLength + block.bodyLength, 0);
    if (!(sum <= this.#source.size)) throw damagedFile('its footer lists more bytes than the file has');
    yield { schema };
    for (const { offset } of blocks) {
      const found = this.#messageAt(offset)?.found;
      if (found) yield found;
    }
  }

  *#streamMessages(): Generator<FoundMessage> {
    for (let at = 0; at < this.#source.size; ) {
      const message = this.#messageAt(at);
      if (!message) return;
      if (message.found) yield message.found;
      at = message.end;
    }
  }

  /** Returns the message at an offset and its end; undefined at the end of a stream. */
  #messageAt(at: number): { readonly found: FoundMessage | undefined; readonly end: number } | undefined {
    if (!(at >= 0 && at + LENGTH_BYTES <= this.#source.size)) throw damagedFile('it ends inside a message');
    const prefix = this.#source.bytes(
      at,
      Math.min(2 * LENGTH_BYTES, (this.#source.size - at) & -LENGTH_BYTES),
    );
    const [first = 0, second = 0] = new Int32Array(prefix.buffer);
    const length = first === CONTINUATION ? second : first;
    const begin = at + (first === CONTINUATION ? 2 : 1) * LENGTH_BYTES;
    if (length === 0) return undefined;
    if (length < 0 || begin + length > this.#source.size) {
      throw damagedFile('it is neither an Arrow file nor a stream, or ends inside a message');
    }
    const message = this.#decoded(() => {
      const metadata = this.#source.bytes(begin, length);
      const decoded = this.#arrow.Message.decode(metadata);
      decoded.header(); // decodes the header
      if (decoded.isSchema()) assertLittleEndian(metadata, SCHEMA_FIELD.message);
      return decoded;
    });
    const body = new Body(this.#source, begin + length, message.bodyLength);
    const end = body.begin + body.length;
    if (!Number.isSafeInteger(end) || body.length < 0 || end > this.#source.size) {
      throw damagedFile('it ends inside a message');
    }
    return { found: parseMessage(message, body), end };
  }

  #text(position: number): string {
    if (position + MAGIC.length > this.#source.size) return '';
    return Buffer.from(this.#source.bytes(position, MAGIC.length)).toString('latin1');
  }

  #decoded<T>(decode: () => T): T {
    try {
      return decode();
    } catch (cause) {
      if (cause instanceof FormatError || cause instanceof PackageError) throw cause;
      throw damagedFile(`its metadata cannot be read: ${(cause as Error).message}`, { cause });
    }
  }
}

function assertLittleEndian(metadata: Uint8Array, schemaField: number): void {
  if (!isBigEndian(metadata, schemaField)) return;
  throw new FormatError('its numbers are big-endian. Write it on a little-endian machine, or as Parquet');
}

function parseMessage(message: Arrow.Message, body: Body): FoundMessage | undefined {
  if (message.isSchema()) return { schema: message.header() };
  if (message.isDictionaryBatch()) return { dictionary: message.header(), body };
  if (!message.isRecordBatch()) return undefined;
  const record = message.header();
  if (Number.isSafeInteger(record.length) && record.length >= 0) return { record, body };
  throw damagedFile('a batch has an impossible number of rows');
}
