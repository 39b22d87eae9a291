/** Partitioned sorts of key files. */
import { dtypeInfo } from '../../keys/dtype.js';
import { bitWindow } from '../../sort/model/options.js';
import { IndexedRecords } from '../records/indexed-records.js';
import { keyInput } from '../records/record-input.js';
import { keyOrdering } from '../records/record-ordering.js';
import { type FileReport, inputsOf, sortOptions } from './file-job.js';
import { type FileSort, factsOf } from './file-sort-state.js';
import { sortInPartitions } from './partitioned-sort.js';
import { positionDtype } from './positions.js';

/** Sorts keys or their positions in partitions. */
export function sortKeysInPartitions(work: FileSort, memory: number): Promise<FileReport> {
  const { sorter, reader, target, job, context, reportBase, output } = work;
  const { n, dtype, format } = reader;
  const { descending = false, nan = 'last', unique = false, duplicatesOnly, wideFrom } = job;
  const bits = bitWindow(job.bits, dtypeInfo(dtype));
  const order = keyOrdering({ dtype, descending, nan, bits });
  const [only, ...more] = inputsOf(job);
  const path = n !== undefined && more.length === 0 ? only : undefined;
  const isWide = n === undefined || positionDtype(n, wideFrom) === 'u64';
  return sortInPartitions({
    ...{ sorter, order, job, memory, context, output, model: reader },
    input: { ...keyInput(reader), path },
    orderName:
      `${dtype} keys, ${descending ? 'descending' : 'ascending'}, NaN ${nan}, bits ${bits.join(' to ')}, ` +
      `${format} to ${target.format}${unique ? ', distinct' : ''}${duplicatesOnly ? ', duplicates only' : ''}`,
    options: sortOptions(job, context),
    create: (to, count) => target.create(to, factsOf(work, count)),
    isPlain: target.plain,
    indexed: reportBase.argsort ? IndexedRecords.ofKeys(order, dtype, isWide) : undefined,
    reportBase: { ...reportBase, dtype, bitRange: bits },
  });
}
