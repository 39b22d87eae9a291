/** Partitioned sorts of key files, for when memory does not suffice for a sort as a whole. */
import { dtypeInfo } from '../../keys/dtype.js';
import { bitWindow } from '../../sort/model/options.js';
import { describeUnfinished } from '../external/session.js';
import type { KeyWriter } from '../formats/key-file.js';
import { prefetchKeys } from '../formats/prefetch-keys.js';
import { IndexedKeys } from '../records/indexed-keys.js';
import { keyOrdering } from '../records/record-ordering.js';
import type { Output } from '../streams/output.js';
import type { DistinctWriter } from './distinct.js';
import { distinctWriter, withCounts } from './distinct-output.js';
import { type FileReport, inputsOf, sortOptions } from './file-job.js';
import { type FileSort, factsOf } from './file-sort-state.js';
import { positionDtype } from './positions.js';
import type { PartitionedSort } from './sort-file.js';
import { fitsAsWhole, maxWholeBytes, sortLarge } from './sort-large.js';

export const partitionedSort: PartitionedSort = {
  async prepare({ reader, job: { memory }, reportBase: { argsort } }) {
    if (memory === undefined) return reader;
    return prefetchKeys(
      reader,
      maxWholeBytes({ memory, argsort, keyBytes: dtypeInfo(reader.dtype).bytes }, true),
    );
  },

  async sort(work) {
    const { memory } = work.job;
    if (memory === undefined || (await isForWhole(work, memory))) return undefined;
    return work.reportBase.argsort ? argsortInPartitions(work, memory) : sortInPartitions(work, memory);
  },
};

/** Whether memory suffices for a sort as a whole and there is no unfinished sort to resume. */
async function isForWhole(
  { sorter, reader, job, context, reportBase: { argsort } }: FileSort,
  memory: number,
): Promise<boolean> {
  const { n, dtype } = reader;
  const keyBytes = dtypeInfo(dtype).bytes;
  const bytes = n === undefined ? undefined : n * keyBytes;
  const old = inputsOf(job).length > 1 ? undefined : await describeUnfinished(job.out, job.tmp);
  if (old && job.resume) return false;
  if (argsort && positionDtype(n, job.wideFrom) === 'u64') return false; // positions in memory are u32
  const pooled = context.arrays !== undefined;
  const whole = fitsAsWhole(bytes, { memory, argsort, keyBytes, pooled }, sorter.hasDedicatedMemory);
  if (whole && old) context.onNote?.(old);
  return whole;
}

/** Returns the order of the records, and its name for the journal. */
function orderOf({ reader, target, job }: FileSort) {
  const { dtype } = reader;
  const { descending = false, nan = 'last', unique = false } = job;
  const bits = bitWindow(job.bits, dtypeInfo(dtype));
  const name =
    `${dtype} keys, ${descending ? 'descending' : 'ascending'}, NaN ${nan}, bits ${bits.join(' to ')}, ` +
    `${reader.format} to ${target.format}${unique ? ', distinct' : ''}`;
  return { bits, order: keyOrdering({ dtype, descending, nan, bits }), name };
}

/** Returns the single input file; undefined for several files and for pipes. */
function fileOf({ reader, job }: FileSort): string | undefined {
  const [path, ...more] = inputsOf(job);
  return reader.n !== undefined && more.length === 0 ? path : undefined;
}

/** Sorts keys in partitions: in memory when they fit, otherwise through temporary files. */
async function sortInPartitions(work: FileSort, memory: number): Promise<FileReport> {
  const { sorter, reader, target, job, context, reportBase, output } = work;
  const { n, dtype } = reader;
  const { out, tmp, resume, verify, unique = false, counts } = job;
  const { bits, order, name } = orderOf(work);
  const path = fileOf(work);
  const input = {
    name: reader.name,
    path,
    plainAt: path === undefined ? undefined : reader.plainAt,
    bytes: n === undefined ? undefined : n * order.recordBytes,
    pieces: () => reader.pieces(),
  };
  const large = { input, order, orderName: name, out, tmp, resume, verify };
  const how = { memory, how: sortOptions(job, context), output };
  const facts = { ...reportBase, dtype, bitRange: bits, readSeconds: 0, writeSeconds: 0 };
  if (!unique) {
    const writer = target.plain ? undefined : (to: Output) => target.create(to, factsOf(work, n));
    const made = await sortLarge(sorter, { ...large, writer }, how, context);
    return { ...made, ...facts, shape: [made.n] };
  }
  const request = { counts, model: reader, text: job };
  let report: FileReport | undefined;
  await withCounts(request, context, async (counted) => {
    let distinct: DistinctWriter | undefined;
    const writer = async (to: Output): Promise<DistinctWriter> => {
      const keys = await target.create(to, factsOf(work, undefined));
      distinct = distinctWriter(order, { to: keys, counts: counted }, context.signal);
      return distinct;
    };
    const made = await sortLarge(sorter, { ...large, writer }, how, context);
    const found = distinct?.n ?? 0;
    report = { ...made, ...facts, distinct: found, shape: [found] };
  });
  return report as unknown as FileReport;
}

/** Sorts codes and positions in partitions. */
async function argsortInPartitions(work: FileSort, memory: number): Promise<FileReport> {
  const { sorter, reader, target, job, context, reportBase, output } = work;
  const { n, dtype } = reader;
  const { out, tmp, resume, verify, wideFrom } = job;
  const { bits, order: keys, name } = orderOf(work);
  const indexed = new IndexedKeys(keys, dtype, n === undefined || positionDtype(n, wideFrom) === 'u64');
  let total = n;
  const input = {
    name: reader.name,
    path: fileOf(work),
    plainAt: undefined,
    bytes: n === undefined ? undefined : indexed.bytesOf(n * keys.recordBytes),
    pieces: () =>
      indexed.interleave(reader.pieces(), (found) => {
        total = found;
      }),
  };
  /** Opens the output on the first write, after all input was read, when the number of keys is known. */
  const writer = async (to: Output): Promise<KeyWriter> => {
    let opened: KeyWriter | undefined;
    const open = async (): Promise<KeyWriter> => {
      opened ??= await target.create(to, factsOf(work, total));
      return opened;
    };
    return {
      async write(piece) {
        const positions = await open();
        await positions.write(indexed.positionsOf(piece, positionDtype(total, wideFrom)));
      },
      end: async () => (await open()).end(),
    };
  };
  const large = {
    input,
    order: indexed.order,
    orderName: `positions of ${name}`,
    out,
    tmp,
    resume,
    verify,
    writer,
  };
  const made = await sortLarge(sorter, large, { memory, how: sortOptions(job, context), output }, context);
  return { ...made, ...reportBase, dtype, bitRange: bits, shape: [made.n], readSeconds: 0, writeSeconds: 0 };
}
