/** The stage that reads back a part of the result, and the end of a sort, which checks all parts together. */
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Multiset } from '../io/checks/multiset.js';
import { formatNamed } from '../io/formats/keys.js';
import { RecordVerifier } from '../io/records/record-verifier.js';
import { syncFolder } from '../io/streams/folder.js';
import { PARTS_SCHEMA, type PartsManifest, readParts, writeParts } from '../io/streams/parts.js';
import { ioError } from '../io/streams/raw.js';
import { temporaryName } from '../io/streams/temporary-files.js';
import { MismatchError, UsageError } from '../util/errors.js';
import { VERSION } from '../util/package.js';
import { openPart, orderOf } from './job-records.js';
import { layoutOf, PARTS, type PartitionRecord, partAt, partFacts, type SortedPartRecord } from './layout.js';
import type { SortJob } from './sort-job.js';
import { pointsOf, type StageWork } from './stages.js';

/** Text formats have only one NaN, so the checksum may change on reading back. */
const isText = ({ part, units }: SortJob): boolean =>
  units.is === 'keys' && formatNamed(part.format)?.isText === true;

/** Bytes per read: enough for the full speed of a disk, and little memory. */
const PIECE_BYTES = 4 * 2 ** 20;

/** @throws MismatchError when the file does not hold the sorted records */
export async function verifyPart(work: StageWork, index: number): Promise<void> {
  const { job, folder, context } = work;
  const layout = await layoutOf(job, folder);
  const part = partAt(layout, index);
  const sorted = await folder.expect<SortedPartRecord>('sort', index);
  const order = orderOf(job.units);
  const path = folder.file(PARTS, part.name);
  const verifier = new RecordVerifier(order, pointsOf(job));
  const step = Math.max(1, Math.floor(PIECE_BYTES / order.recordBytes)) * order.recordBytes;
  if (sorted.bytes > 0) {
    const reader = await openPart(job, path, context.signal);
    try {
      let done = 0;
      for await (const piece of reader.pieces(new Uint8Array(2 * step))) {
        await verifier.add(piece);
        done += piece.length;
        context.onProgress?.({ phase: 'verify', done, total: part.end - part.begin });
      }
    } finally {
      await reader.close();
    }
  }
  const { n, products, ends } = partFacts(verifier);
  const same =
    n === sorted.n &&
    (isText(job) || JSON.stringify([products, ends]) === JSON.stringify([sorted.products, sorted.ends]));
  if (!same)
    throw new MismatchError(`cannot verify part ${part.name}: it has changed on disk since it was sorted`);
  await folder.put('verify', index, { n });
}

/** Report of a distributed sort. */
export interface PartsReport {
  readonly out: string;
  readonly n: number;
  /** Description of the records, such as 'u32 keys' or 'records of 100 bytes'. */
  readonly units: string;
  readonly bytes: number;
  readonly parts: number;
}

/**
 * Verifies that all parts together hold the records of the input in order, and publishes the result.
 *
 * @throws MismatchError when verification fails
 * @throws IoError when a task record is missing or files cannot be moved
 */
export async function finish({ job, folder, context }: StageWork): Promise<PartsReport> {
  const order = orderOf(job.units);
  const { parts, bytes } = await layoutOf(job, folder);
  const [before, after] = [0, 1].map(() => new Multiset(order.recordBytes, pointsOf(job))) as [
    Multiset,
    Multiset,
  ];
  for (const i of job.shards.keys()) {
    before.include((await folder.expect<PartitionRecord>('partition', i)).products);
  }
  const records: SortedPartRecord[] = [];
  let last: Uint8Array | undefined;
  for (const [i, part] of parts.entries()) {
    const record = await folder.expect<SortedPartRecord>('sort', i);
    await folder.expect('verify', i);
    records.push(record);
    after.include(record.products);
    const ends = record.ends?.map((end) => new Uint8Array(Buffer.from(end, 'base64')));
    const [first, end] = ends ?? [];
    if (first && last && order.compare(first, 0, last, 0) < 0) {
      throw new MismatchError(
        `cannot verify part ${part.name}: its first record belongs into the previous part`,
      );
    }
    last = end ?? last;
  }
  const n = records.reduce((sum, record) => sum + record.n, 0);
  if (n * order.recordBytes !== bytes || !before.equals(after)) {
    throw new MismatchError('cannot verify the result: the parts do not contain the records of the input');
  }
  const partsFolder = folder.file(PARTS);
  const names = new Set(parts.map(({ name }) => name));
  for (const name of await readdir(partsFolder)) {
    // left by killed workers
    if (!names.has(name)) await rm(join(partsFolder, name), { recursive: true, force: true });
  }
  const { units, part } = job;
  const manifest: PartsManifest = {
    schema: PARTS_SCHEMA,
    clsort: VERSION,
    n,
    units:
      units.is === 'records'
        ? { record: units.record, keys: units.keys, nan: units.nan }
        : { dtype: units.dtype, descending: units.descending, nan: units.nan, bits: units.bits },
    format: units.is === 'records' ? 'raw' : part.format,
    ...(part.bigEndian && { bigEndian: true }),
    ...(part.header === false && { header: false }),
    ...(part.delimiter !== undefined && { delimiter: part.delimiter }),
    parts: parts.map(({ name }, i) => ({ name, n: records[i]?.n ?? 0, bytes: records[i]?.bytes ?? 0 })),
  };
  await writeParts(partsFolder, manifest);
  const out = await context.shared.target(job.out);
  await moveIntoPlace(partsFolder, out);
  await folder.remove();
  return { out, n, units: order.description, bytes, parts: parts.length };
}

/**
 * Rejects an output that must not be replaced: anything but an empty folder or a folder of parts.
 *
 * @throws UsageError when it must not be replaced
 * @throws IoError when it cannot be read
 */
export async function assertReplaceable(out: string): Promise<void> {
  const found = await stat(out).catch(() => undefined);
  if (!found) return;
  if (!found.isDirectory()) {
    throw new UsageError(
      `cannot replace ${out}: it is a file, and the result is a folder of parts. Name another output`,
    );
  }
  const names = await readdir(out);
  if (names.length === 0) return;
  const known = new Set(['manifest.json', ...((await readParts(out))?.parts.map(({ name }) => name) ?? [])]);
  const other = names.find((name) => !known.has(name));
  if (other === undefined && names.includes('manifest.json')) return;
  throw new UsageError(
    `cannot replace ${out}: it contains ${other ?? names[0]}, which is not part of a result. Name another output`,
  );
}

/** Renames the folder of parts to the output; the previous output is removed afterwards. */
async function moveIntoPlace(partsFolder: string, out: string): Promise<void> {
  try {
    await assertReplaceable(out);
    const old = join(dirname(out), temporaryName('replaced'));
    const isThere = await rename(out, old).then(
      () => true,
      () => false,
    );
    await rename(partsFolder, out).catch(async (error) => {
      if (isThere) await rename(old, out);
      throw error;
    });
    await syncFolder(dirname(out));
    if (isThere) await rm(old, { recursive: true, force: true });
  } catch (error) {
    throw error instanceof UsageError ? error : ioError('write', out, error);
  }
}
