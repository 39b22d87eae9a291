/** Outputs that get of equal units only the first, and beside them a file of how often each was there. */
import { dtypeInfo } from '../keys/dtype.js';
import {
  type DistinctOutputs,
  DistinctWriter,
  type FindFirsts,
  firstKeys,
  firstRecords,
} from './distinct.js';
import type { KeyReader, KeyWriter, WriteOptions } from './formats/key-file.js';
import { keyTarget } from './keys.js';
import { type OutputContext, withOutput } from './output.js';
import type { KeyOrdering, RecordOrdering } from './record-ordering.js';

/** What is to be made of equal units. */
export interface DistinctRequest {
  readonly order: RecordOrdering | KeyOrdering;
  /** Default false: all are written, and nothing is counted. */
  readonly unique?: boolean | undefined;
  /** File for the counts, as u64. */
  readonly counts?: string | undefined;
  /** By which counts are written where their own name says nothing. */
  readonly model: Pick<KeyReader, 'format' | 'bigEndian'>;
  readonly text: Pick<WriteOptions, 'header' | 'delimiter'>;
}

/**
 * Runs `write` with a writer, which is ended then.
 *
 * @param open opens the writer of the units; it is asked for once, before anything is written
 * @returns how many distinct units there were; undefined where all were written
 * @throws what `open` and `write` throw
 */
export async function withDistinct(
  request: DistinctRequest,
  open: () => Promise<KeyWriter>,
  context: OutputContext,
  write: (writer: Pick<KeyWriter, 'write'>) => Promise<void>,
): Promise<number | undefined> {
  const { order, unique = false } = request;
  if (!unique) {
    const to = await open();
    await write(to);
    await to.end();
    return undefined;
  }
  let n = 0;
  await withCounts(request, context, async (counted) => {
    const writer = distinctWriter(order, { to: await open(), counts: counted }, context.signal);
    await write(writer);
    await writer.end();
    n = writer.n;
  });
  return n;
}

/** A writer that passes on of sorted units only the first of equal ones. */
export const distinctWriter = (
  order: RecordOrdering | KeyOrdering,
  outputs: DistinctOutputs,
  signal: AbortSignal,
): DistinctWriter => new DistinctWriter(order.recordBytes, firstFinder(order), outputs, signal);

/** How equals are told: keys by their numbers, unless only some bits of them count; other units by their order. */
const firstFinder = (order: RecordOrdering | KeyOrdering): FindFirsts =>
  'wholeDtype' in order && order.wholeDtype ? firstKeys(dtypeInfo(order.wholeDtype)) : firstRecords(order);

/** Runs `write` with the writer of the counts, if there are to be some, and puts these in their place. */
export async function withCounts(
  { counts, model, text: { header, delimiter } }: Omit<DistinctRequest, 'order' | 'unique'>,
  context: OutputContext,
  write: (counts: KeyWriter | undefined) => Promise<void>,
): Promise<void> {
  if (counts === undefined) return write(undefined);
  await withOutput(counts, context, async (output) => {
    const text = { header, delimiter, signal: context.signal };
    const target = await keyTarget(counts, text, { ...model, dtypeSaid: false });
    const facts = { dtype: 'u64', n: undefined, shape: undefined, column: 'count' } as const;
    const writer = await target.create(output, facts);
    await write(writer);
    await writer.end();
  });
}
