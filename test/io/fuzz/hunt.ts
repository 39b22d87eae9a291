/**
 * Changes random bytes of valid files and reads them. The outcome must be a `ClsortError`, or as many keys as the
 * reader reports, the same from a file and from a pipe. Memory must depend on the number of bytes present and not on
 * the sizes that they claim.
 */
import { createHash, type Hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { openKeys } from '../../../src/io/formats/keys.js';
import type { TableFile } from '../../../src/io/formats/subprocess/table-file.js';
import { textBatches } from '../../../src/io/formats/text/text-rows.js';
import { openSource, type Source } from '../../../src/io/streams/raw.js';
import { isTextTable, openTable } from '../../../src/io/tables/table-file.js';
import { planTables } from '../../../src/io/tables/table-plan.js';
import { dtypeInfo } from '../../../src/keys/dtype.js';
import { ClsortError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import type { Subject } from './subjects.js';

/** Edge values for lengths and counts. */
const EDGES = [0, 1, 0x7f, 0x80, 0xfe, 0xff];
/** Tokens of text headers. */
const WORDS = [
  '9',
  '99999999',
  '-1',
  '(',
  ')',
  ',',
  "'",
  '{',
  '}',
  'True',
  'False',
  'None',
  '<',
  '>',
  '|',
  'f',
  'u8',
  'L',
];

/** A random change of some bytes. */
function mutated(bytes: Uint8Array, random: Random): Buffer {
  let file = Buffer.from(bytes);
  for (let times = 1 + random.below(4); times > 0; times--) {
    // Half of the changes are in the header, which matters most.
    const within = random.below(2) === 0 ? Math.min(160, file.length) : file.length;
    const at = random.below(within + 1);
    const length = random.below(9);
    switch (random.below(8)) {
      case 0:
        if (at < file.length) file[at] = (file[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 1:
        if (at < file.length) file[at] = EDGES[random.below(EDGES.length)] ?? 0;
        break;
      case 2:
        file.fill(random.below(2) * 0xff, at, Math.min(file.length, at + length));
        break;
      case 3:
        file = Buffer.concat([file.subarray(0, at), file.subarray(at + length)]);
        break;
      case 4:
        file = Buffer.concat([file.subarray(0, at), random.bytes(length), file.subarray(at)]);
        break;
      case 5:
        file = Buffer.concat([file.subarray(0, at), file.subarray(random.below(file.length + 1))]);
        break;
      case 6:
        file = file.subarray(0, random.below(file.length + 1));
        break;
      default: {
        const word = Buffer.from(WORDS[random.below(WORDS.length)] ?? '');
        file = Buffer.concat([file.subarray(0, at), word, file.subarray(at + random.below(word.length + 1))]);
      }
    }
  }
  return Buffer.from(file);
}

/** The outcome of reading: the keys, or the code of a `ClsortError`. @throws any other error */
async function outcome(
  path: string,
  stdin: Uint8Array | undefined,
  { options, name, by }: Subject,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (let at = 0; stdin && at < stdin.length; at += 41) chunks.push(stdin.subarray(at, at + 41));
  const source = await openSource(stdin ? '-' : path, Readable.from(chunks));
  try {
    if (by !== undefined) return await rowsOutcome(source, path, by);
    // A pipe has no name; the name of the file stands in, so that both are read alike.
    const reader = await openKeys(source, path, options);
    try {
      const hash: Uint8Array[] = [];
      let bytes = 0;
      for await (const piece of reader.pieces()) {
        bytes += piece.length;
        hash.push(piece.slice());
      }
      const n = bytes / dtypeInfo(reader.dtype).bytes;
      if (reader.n !== undefined && reader.n !== n) throw new Error(`${name}: ${n} keys, not ${reader.n}`);
      if (reader.shape && reader.shape.reduce((all, length) => all * length, 1) !== n) {
        throw new Error(`${name}: ${n} keys of shape ${reader.shape}`);
      }
      const all = Buffer.concat(hash);
      if (reader.readAt) {
        const again = Buffer.alloc(bytes);
        await reader.readAt(again, 0);
        if (!again.equals(all)) throw new Error(`${name}: other keys by position`);
      }
      return `${reader.dtype} ${n} ${all.toString('base64')}`;
    } finally {
      await reader.close();
    }
  } catch (error) {
    if (error instanceof ClsortError) return error.code;
    throw error;
  } finally {
    await source.close();
  }
}

/** The outcome of reading a table: a checksum of its rows and their codes. */
async function rowsOutcome(source: Source, path: string, by: string): Promise<string> {
  const table = await openTable(source, path, {});
  try {
    const { wanted, text } = await planTables([table], { in: path, out: 'out.arrow', by }, {});
    const hashes: Hash[] = [];
    let n = 0;
    for await (const { rows, buffers } of isTextTable(table) && text
      ? textBatches(table, text.plan)
      : (table as TableFile).batches(wanted)) {
      n += rows;
      for (const [i, buffer] of buffers.entries()) {
        hashes[i] ??= createHash('sha256');
        hashes[i].update(buffer);
      }
    }
    return `${n} rows ${hashes.map((hash) => hash.digest('hex')).join()}`;
  } finally {
    await table.close();
  }
}

/** Memory limit of the process in bytes, including Node itself and the windows of decompressors. */
const MAX_BYTES = 600 * 2 ** 20;

/** Number of attempts by outcome. */
export interface Tally {
  cases: number;
  /** Files that were read despite the change. */
  read: number;
  /** Files that were rejected. */
  refused: number;
}

/**
 * Tries one change of one of the files.
 *
 * @param file path to write to, without its extension
 * @throws Error that describes the fault, with the seed that repeats it
 */
export async function attempt(
  all: readonly Subject[],
  seed: number,
  folder: string,
  tally: Tally,
): Promise<void> {
  const random = new Random(seed);
  const subject = all[random.below(all.length)] as Subject;
  const bytes = mutated(subject.bytes, random);
  const path = `${folder}/${subject.name}`;
  writeFileSync(path, bytes);
  try {
    const fromFile = await outcome(path, undefined, subject);
    tally.cases++;
    if (fromFile.startsWith('ERR_')) tally.refused++;
    else tally.read++;
    if (subject.piped === false) return;
    const fromPipe = await outcome(path, bytes, subject);
    const areErrors = fromFile.startsWith('ERR_') && fromPipe.startsWith('ERR_');
    if (fromFile !== fromPipe && !areErrors) {
      throw new Error(`from a file: ${fromFile.slice(0, 99)}; from a pipe: ${fromPipe.slice(0, 99)}`);
    }
    const { maxRSS } = process.resourceUsage();
    if (maxRSS * 1024 > MAX_BYTES) throw new Error(`${maxRSS} KiB of memory were taken`);
  } catch (error) {
    throw new Error(`seed ${seed}, ${subject.name}: ${(error as Error).message}`, { cause: error });
  }
}
