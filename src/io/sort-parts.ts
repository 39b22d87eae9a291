/** Files of keys that are sorted in partitions, since there is no memory for a sort as a whole. */
import { dtypeInfo } from '../keys/dtype.js';
import { bitWindow } from '../sort/api/options.js';
import type { DistinctWriter } from './distinct.js';
import { distinctWriter, withCounts } from './distinct-output.js';
import { unfinished } from './external/session.js';
import type { KeyWriter } from './formats/key-file.js';
import type { Output } from './output.js';
import { peeked } from './peeked.js';
import { PositionUnits } from './position-units.js';
import { positionDtype } from './positions.js';
import {
  type FileReport,
  type FileSort,
  factsOf,
  inputsOf,
  type SortParts,
  sortOptions,
} from './sort-file.js';
import { fitsAsWhole, mostForWhole, sortLarge } from './sort-large.js';
import { keyOrder } from './unit-order.js';

export const sortParts: SortParts = {
  async looked({ reader, job: { memory }, told: { argsort } }) {
    if (memory === undefined) return reader;
    return peeked(reader, mostForWhole({ memory, argsort, unit: dtypeInfo(reader.dtype).bytes }, true));
  },

  async sort(work) {
    const { memory } = work.job;
    if (memory === undefined || (await isForWhole(work, memory))) return undefined;
    return work.told.argsort ? positionsInParts(work, memory) : inParts(work, memory);
  },
};

/** Is there memory for a sort as a whole, and no other that is to be gone on with? */
async function isForWhole(
  { sorter, reader, job, context, told: { argsort } }: FileSort,
  memory: number,
): Promise<boolean> {
  const { n, dtype } = reader;
  const unit = dtypeInfo(dtype).bytes;
  const bytes = n === undefined ? undefined : n * unit;
  const old = inputsOf(job).length > 1 ? undefined : await unfinished(job.out, job.tmp);
  if (old && job.resume) return false;
  if (argsort && positionDtype(n, job.wideFrom) === 'u64') return false; // in memory they are u32
  const pooled = context.arrays !== undefined;
  const whole = fitsAsWhole(bytes, { memory, argsort, unit, pooled }, sorter.hasDedicatedMemory);
  if (whole && old) context.onNote?.(old);
  return whole;
}

/** What is told of a sort in partitions, and of what it is. */
function orderOf({ reader, target, job }: FileSort) {
  const { dtype } = reader;
  const { descending = false, nan = 'last', unique = false } = job;
  const bits = bitWindow(job.bits, dtypeInfo(dtype));
  const name =
    `${dtype} keys, ${descending ? 'descending' : 'ascending'}, NaN ${nan}, bits ${bits.join(' to ')}, ` +
    `${reader.format} to ${target.format}${unique ? ', distinct' : ''}`;
  return { bits, order: keyOrder({ dtype, descending, nan, bits }), name };
}

/** The one file that keys come from; undefined for several, and for a pipe. */
function fileOf({ reader, job }: FileSort): string | undefined {
  const [path, ...more] = inputsOf(job);
  return reader.n !== undefined && more.length === 0 ? path : undefined;
}

/** Sorts keys in partitions: in memory where they fit, else by way of temporary files. */
async function inParts(work: FileSort, memory: number): Promise<FileReport> {
  const { sorter, reader, target, job, context, told, output } = work;
  const { n, dtype } = reader;
  const { out, tmp, resume, verify, unique = false, counts } = job;
  const { bits, order, name } = orderOf(work);
  const path = fileOf(work);
  const input = {
    name: reader.name,
    path,
    plainAt: path === undefined ? undefined : reader.plainAt,
    bytes: n === undefined ? undefined : n * order.unit,
    pieces: () => reader.pieces(),
  };
  const large = { input, order, orderName: name, out, tmp, resume, verify };
  const how = { memory, how: sortOptions(job, context), output };
  const facts = { ...told, dtype, bits, readSeconds: 0, writeSeconds: 0 };
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

/** Sorts positions in partitions, with the codes of their keys. */
async function positionsInParts(work: FileSort, memory: number): Promise<FileReport> {
  const { sorter, reader, target, job, context, told, output } = work;
  const { n, dtype } = reader;
  const { out, tmp, resume, verify, wideFrom } = job;
  const { bits, order: keys, name } = orderOf(work);
  const units = new PositionUnits(keys, dtype, n === undefined || positionDtype(n, wideFrom) === 'u64');
  let total = n;
  const input = {
    name: reader.name,
    path: fileOf(work),
    plainAt: undefined,
    bytes: n === undefined ? undefined : units.bytesOf(n * keys.unit),
    pieces: () =>
      units.of(reader.pieces(), (found) => {
        total = found;
      }),
  };
  /** Opened when all has been read, since then it is known how many there are. */
  const writer = async (to: Output): Promise<KeyWriter> => {
    let opened: KeyWriter | undefined;
    const open = async (): Promise<KeyWriter> => {
      opened ??= await target.create(to, factsOf(work, total));
      return opened;
    };
    return {
      async write(piece) {
        const positions = await open();
        await positions.write(units.positionsOf(piece, positionDtype(total, wideFrom)));
      },
      end: async () => (await open()).end(),
    };
  };
  const large = {
    input,
    order: units.order,
    orderName: `positions of ${name}`,
    out,
    tmp,
    resume,
    verify,
    writer,
  };
  const made = await sortLarge(sorter, large, { memory, how: sortOptions(job, context), output }, context);
  return { ...made, ...told, dtype, bits, shape: [made.n], readSeconds: 0, writeSeconds: 0 };
}
