/** The stage that sorts a part of the result: the pieces of all shards, in order, on one device. */
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { partitionBudget } from '../io/external/budget.js';
import { externalSort } from '../io/external/external-sort.js';
import { piecesOf } from '../io/external/input.js';
import { planFile } from '../io/file-sort/file-plan.js';
import type { KeyWriter } from '../io/formats/key-file.js';
import type { OrderingSortOptions, RecordOrdering } from '../io/records/record-ordering.js';
import { RecordVerifier } from '../io/records/record-verifier.js';
import { type Output, withOutput } from '../io/streams/output.js';
import { PIECE_BYTES } from '../io/streams/policy.js';
import { assertNotAborted, openSource } from '../io/streams/raw.js';
import { groupAdvanced } from '../sort/model/options.js';
import { IoError, MismatchError } from '../util/errors.js';
import { noStdin, orderOf, partWriter } from './job-records.js';
import {
  type Layout,
  layoutOf,
  PARTS,
  type Part,
  partAt,
  partFacts,
  pieceName,
  type SortedPartRecord,
} from './layout.js';
import { pointsOf, type StageWork } from './stages.js';
import { fileContext } from './worker-context.js';

export async function sortPart(work: StageWork, index: number): Promise<void> {
  const { folder } = work;
  if (await folder.get('sort', index)) return;
  const layout = await layoutOf(work.job, folder);
  const part = partAt(layout, index);
  const path = folder.file(PARTS, part.name);
  try {
    await mkdir(dirname(path), { recursive: true });
    const verifier = new RecordVerifier(orderOf(work.job.units), pointsOf(work.job));
    await writePart(work, part, path, verifier);
    const { size } = await stat(path);
    const record: SortedPartRecord = { ...partFacts(verifier), bytes: size };
    await folder.put('sort', index, record);
  } catch (error) {
    // Another worker may have completed the task and removed its sources.
    if (error instanceof IoError && (await folder.get('sort', index))) return;
    throw error;
  }
  await dropPieces(work, layout, part);
}

async function writePart(work: StageWork, part: Part, path: string, verifier: RecordVerifier): Promise<void> {
  const { job, context } = work;
  const order = orderOf(job.units);
  const bytes = part.end - part.begin;
  const n = bytes / order.recordBytes;
  /** Wraps the writer of the part, to verify everything that is written. */
  const writerTo = async (output: Output): Promise<KeyWriter> => {
    const writer = await partWriter(job, path, n, output);
    let done = 0;
    return {
      async write(piece) {
        await Promise.all([verifier.add(piece), writer.write(piece)]);
        done += piece.length;
        context.onProgress?.({ phase: 'write', done, total: bytes });
      },
      end: () => writer.end(),
    };
  };
  const { recordBytes, sortBytes } = order;
  const plan = planFile({ bytes, recordBytes, sortBytes, argsort: false, memory: context.memory });
  if (!part.single && plan === 'parts') {
    await sortExternally(work, part, path, writerTo);
  } else {
    await withOutput(path, fileContext(work.context), async (output) => {
      const writer = await writerTo(output);
      const pieces = part.single ? recordsOf(work, part) : sortedRecords(work, part, order);
      for await (const piece of pieces) {
        assertNotAborted(context.signal);
        await writer.write(piece);
      }
      await writer.end();
    });
  }
  const { n: count } = partFacts(verifier);
  if (count === n) return;
  await rm(path, { force: true });
  throw new MismatchError(`cannot verify part ${part.name}: it has ${count} records instead of ${n}`);
}

/** Yields the pieces of a part in shard order: a file, and the range of its bytes. */
async function* piecesOfPart({ folder, context }: StageWork, part: Part) {
  let position = 0;
  for (const [shard, size] of part.sizes.entries()) {
    const begin = Math.max(0, part.begin - position);
    const end = Math.min(size, part.end - position);
    position += size;
    if (begin >= end) continue;
    const path = folder.file(...pieceName(part.partition, shard));
    const source = await openSource(path, noStdin(), context.signal);
    try {
      if (!source.readAt) throw new IoError(`cannot read ${path}: it is empty`, { details: { path } });
      yield { readAt: source.readAt, begin, end };
    } finally {
      await source.close();
    }
  }
}

/** Yields the records of a part in shard order. */
async function* recordsOf(work: StageWork, part: Part): AsyncGenerator<Uint8Array> {
  const { recordBytes } = orderOf(work.job.units);
  const maxBytes = Math.min(PIECE_BYTES, Math.max(recordBytes, Math.floor(work.context.memory / 8)));
  const buffer = new Uint8Array(2 * Math.max(recordBytes, maxBytes - (maxBytes % recordBytes)));
  for await (const { readAt, begin, end } of piecesOfPart(work, part)) {
    yield* piecesOf(readAt, { begin, end, recordBytes, buffer });
  }
}

/** Copies each piece, for a consumer that holds several. */
async function* copyPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield piece.slice();
}

/** Yields the records of a part, sorted in memory. */
async function* sortedRecords(
  work: StageWork,
  part: Part,
  order: RecordOrdering,
): AsyncGenerator<Uint8Array> {
  const { job, context } = work;
  const { signal, onProgress } = context;
  const records = new Uint8Array(part.end - part.begin);
  let at = 0;
  for await (const { readAt, begin, end } of piecesOfPart(work, part)) {
    await readAt(records.subarray(at, at + end - begin), begin);
    at += end - begin;
    onProgress?.({ phase: 'read', done: at, total: records.length });
  }
  if (records.length === 0) return;
  const options: OrderingSortOptions = { ...groupAdvanced(job.how), signal };
  const sorted = await order.sort(await context.sorter(), records, options);
  const step = Math.max(1, Math.floor(PIECE_BYTES / order.recordBytes)) * order.recordBytes;
  for (let begin = 0; begin < sorted.length; begin += step) yield sorted.subarray(begin, begin + step);
}

/** Sorts a part that exceeds memory with an external sort. */
async function sortExternally(
  work: StageWork,
  part: Part,
  path: string,
  writer: (output: Output) => Promise<KeyWriter>,
): Promise<void> {
  const { job, folder, context } = work;
  const order = orderOf(job.units);
  const bytes = part.end - part.begin;
  const input = { name: part.name, path: undefined, bytes, pieces: () => copyPieces(recordsOf(work, part)) };
  await externalSort(
    await context.sorter(),
    {
      ...{ input, order, orderName: order.description, out: path, writer },
      budget: partitionBudget(context.memory, order),
      tmp: context.tmp ?? folder.temporaryFolder,
      options: groupAdvanced(job.how),
    },
    fileContext(work.context),
  );
}

/** Removes the pieces of a partition when all of its parts are complete. */
async function dropPieces({ folder }: StageWork, { parts }: Layout, { partition }: Part): Promise<void> {
  const done = await folder.done('sort');
  const isLeft = parts.some((part, i) => part.partition === partition && !done.has(i));
  if (isLeft) return;
  const [pieces, name] = pieceName(partition, 0);
  await rm(join(folder.file(pieces), name), { recursive: true, force: true }).catch(() => undefined);
}
