/** Outputs that receive only the first of equal records, with an optional file of their counts. */
import { dtypeInfo } from '../../keys/dtype.js';
import type { KeyReader, KeyWriter, WriteOptions } from '../formats/key-file.js';
import { keyTarget } from '../formats/keys.js';
import type { KeyOrdering, RecordOrdering } from '../records/record-ordering.js';
import { type OutputContext, withOutput } from '../streams/output.js';
import {
  type DistinctOutputs,
  DistinctWriter,
  DuplicateFilter,
  type FindFirsts,
  firstKeys,
  firstRecords,
} from './distinct.js';
import type { DistinctOptions } from './file-job.js';

/** How equal records are written. */
export interface DistinctRequest extends DistinctOptions {
  readonly order: RecordOrdering | KeyOrdering;
  /** Source of format and byte order for the counts when their file name implies none. */
  readonly model: Pick<KeyReader, 'format' | 'bigEndian'>;
  readonly text: Pick<WriteOptions, 'header' | 'delimiter'>;
}

/**
 * Runs `write` with a writer and ends the writer afterwards.
 *
 * @param request order, `unique`, and the file of counts
 * @param open opens the writer of the records; called once, before anything is written
 * @param context output context
 * @param write writes sorted records
 * @returns the number of records written; undefined when all records were written
 * @throws errors of `open` and `write`
 */
export async function withDistinct(
  request: DistinctRequest,
  open: () => Promise<KeyWriter>,
  context: OutputContext,
  write: (writer: Pick<KeyWriter, 'write'>) => Promise<void>,
): Promise<number | undefined> {
  const { order, unique = false, duplicatesOnly } = request;
  if (!unique) {
    const to = await open();
    await write(to);
    await to.end();
    return undefined;
  }
  return withCounts(request, context, async (counts) => {
    const writer = distinctWriter({ order, duplicatesOnly }, { to: await open(), counts }, context.signal);
    await write(writer);
    await writer.end();
    return writer.n;
  });
}

/** A writer with the number of records that it has passed on. */
export type CountingWriter = KeyWriter & { readonly n: number };

/** Returns a writer that passes on only the first of equal sorted records, or of those that occur more than once. */
export function distinctWriter(
  { order, duplicatesOnly = false }: Pick<DistinctRequest, 'order' | 'duplicatesOnly'>,
  outputs: DistinctOutputs,
  signal: AbortSignal,
): CountingWriter {
  const { recordBytes } = order;
  const filter = duplicatesOnly ? new DuplicateFilter(recordBytes, outputs) : undefined;
  const writer = new DistinctWriter(recordBytes, firstFinder(order), filter ?? outputs, signal);
  return {
    write: (piece) => writer.write(piece),
    end: () => writer.end(),
    get n() {
      return filter?.n ?? writer.n;
    },
  };
}

/** Compares keys as numbers when all their bits count; compares all other records by their order. */
const firstFinder = (order: RecordOrdering | KeyOrdering): FindFirsts =>
  'wholeDtype' in order && order.wholeDtype ? firstKeys(dtypeInfo(order.wholeDtype)) : firstRecords(order);

/** Runs `write` with a writer for the counts, or undefined when none are requested, and commits the file of counts. */
export async function withCounts<T>(
  { counts, model, text: { header, delimiter } }: Omit<DistinctRequest, 'order' | 'unique'>,
  context: OutputContext,
  write: (counts: KeyWriter | undefined) => Promise<T>,
): Promise<T> {
  if (counts === undefined) return write(undefined);
  return withOutput(counts, context, async (output) => {
    const text = { header, delimiter, signal: context.signal };
    const target = await keyTarget(counts, text, { ...model, isDtypeGiven: false });
    const facts = { dtype: 'u64', n: undefined, shape: undefined, column: 'count' } as const;
    const writer = await target.create(output, facts);
    const made = await write(writer);
    await writer.end();
    return made;
  });
}
