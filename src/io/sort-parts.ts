/** Files of keys that are sorted in partitions, since there is no memory for a sort as a whole. */
import { dtypeInfo } from '../keys/dtype.js';
import { bitWindow } from '../sort/api/options.js';
import { unfinished } from './external/session.js';
import type { Output } from './output.js';
import { peeked } from './peeked.js';
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
  async looked({ reader, job: { memory }, told }) {
    return memory === undefined ? reader : peeked(reader, mostForWhole({ memory, ...told }, true));
  },

  async sort(work) {
    const { memory } = work.job;
    if (memory === undefined || (await isForWhole(work, memory))) return undefined;
    return inParts(work, memory);
  },
};

/** Is there memory for a sort as a whole, and no other that is to be gone on with? */
async function isForWhole(
  { sorter, reader, job, context, told }: FileSort,
  memory: number,
): Promise<boolean> {
  const { n, dtype } = reader;
  const bytes = n === undefined ? undefined : n * dtypeInfo(dtype).bytes;
  const old = told.argsort || inputsOf(job).length > 1 ? undefined : await unfinished(job.out, job.tmp);
  if (old && job.resume) return false;
  const whole = fitsAsWhole(bytes, { memory, argsort: told.argsort }, sorter.device);
  if (whole && old) context.onNote?.(old);
  return whole;
}

/** Sorts keys in partitions: in memory where they fit, else by way of temporary files. */
async function inParts(work: FileSort, memory: number): Promise<FileReport> {
  const { sorter, reader, target, job, context, told, output } = work;
  const { dtype, n } = reader;
  const info = dtypeInfo(dtype);
  const { descending = false, nan = 'last', out, tmp, resume, verify } = job;
  const bits = bitWindow(job.bits, info);
  const order = keyOrder({ dtype, descending, nan, bits });
  const [path, ...more] = inputsOf(job);
  const isFile = n !== undefined && more.length === 0;
  const made = await sortLarge(
    sorter,
    {
      input: {
        name: reader.name,
        path: isFile ? path : undefined,
        plainAt: isFile ? reader.plainAt : undefined,
        bytes: n === undefined ? undefined : n * info.bytes,
        pieces: () => reader.pieces(),
      },
      order,
      orderName:
        `${dtype} keys, ${descending ? 'descending' : 'ascending'}, NaN ${nan}, bits ${bits.join(' to ')}, ` +
        `${reader.format} to ${target.format}`,
      out,
      ...(!target.plain && { writer: (to: Output) => target.create(to, factsOf(work, n)) }),
      ...{ tmp, resume, verify },
    },
    { memory, how: sortOptions(job, context), output },
    context,
  );
  return { ...made, ...told, dtype, bits, shape: [made.n], readSeconds: 0, writeSeconds: 0 };
}
