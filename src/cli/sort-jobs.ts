/** Reads the options of `sort` as jobs of the library: sorts of keys, pairs, records or tables. */
import type { FileContext, FileJob, FileReport } from '../io/file-sort/file-job.js';
import { sortFile } from '../io/file-sort/sort-file.js';
import { contentBytes } from '../io/formats/key-count.js';
import { textOptionsOf } from '../io/formats/text/text-options.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';
import { readOrder } from './arguments.js';
import { readInput, readTo } from './key-files.js';
import { readMemory, restart } from './memory-options.js';
import { cannotCombine, cannotUseWithout, missingOption } from './option-errors.js';
import type { SortArguments } from './options/sort.js';
import { onlyInput, readRecords } from './record-options.js';
import { type SortPath, sortFiles } from './sort-paths.js';

/** One sort, and the function of the library that runs it. */
export interface SortJob extends SortPath {
  /** The job as in a batch, without memory. */
  readonly job: object;
  readonly run: (sorter: SorterOperations, context: FileContext) => Promise<FileReport>;
}

/** Options that do not combine with values, with the reason. */
const APART_FROM_VALUES = {
  argsort: 'the positions would replace the values',
  unique: 'each of equal keys has its own value',
  counts: 'each of equal keys has its own value',
  'out-dir': 'the values belong to one sort',
  record: 'a record contains its values',
  by: 'a row contains its values',
  resume: 'pairs are sorted in memory',
} as const;

/** Inputs up to this size fit any memory, so an interrupted sort need not be looked for. */
const SMALL_BYTES = 2 ** 20;

/** Returns whether inputs are small; false if the size is unknown. */
async function areSmall(inputs: string | readonly string[]): Promise<boolean> {
  const bytes = await contentBytes(typeof inputs === 'string' ? [inputs] : inputs);
  return bytes !== undefined && bytes <= SMALL_BYTES;
}

/**
 * Returns the jobs of a command line.
 *
 * @throws UsageError when options conflict, are missing or are invalid
 * @throws DtypeError when a type is unknown
 * @throws IoError when the output folder cannot be created
 */
export async function readSortJobs(args: SortArguments): Promise<SortJob[]> {
  const { argsort, unique, counts, algorithm, verify, format, scan, 'radix-bits': radixBits } = args;
  const engine = {
    ...{ algorithm, verify },
    scan: scan === 'auto' ? ('auto' as const) : scan === '3' ? 3 : 5,
    ...(radixBits !== undefined && { radixBits }),
  } as const;
  const how = { ...engine, argsort, unique, counts };
  if (args.values !== undefined || args['values-out'] !== undefined) return [readPairs(args, engine)];
  if (counts !== undefined && args['out-dir'] !== undefined) {
    throw cannotCombine('--counts', '--out-dir', '--counts names the file of one sort');
  }
  const table = await readTableOptions(args);
  const records = table ? undefined : readRecords(args);
  const memory = readMemory(args);
  const keys = { ...readInput(args), ...readOrder(args), to: readTo(args), axis: args.axis };
  const files = await sortFiles(args, { argsort, to: args.to ?? 'auto' });
  if (algorithm !== 'auto' && algorithm !== 'host') {
    const { algorithmNamed } = await import('../algorithms/registry.js'); // small sorts do not load it
    algorithmNamed(algorithm);
  }
  return files.map((file): SortJob => {
    if (table) {
      const { nan, to } = keys;
      const job = { ...table, ...how, nan, to, format, ...textOptionsOf(keys), ...file };
      return asSortJob(file, job, async (sorter, context) => {
        const { sortTableFile } = await import('../io/tables/sort-table-file.js');
        return sortTableFile(sorter, { ...job, ...memory }, context);
      });
    }
    if (records) {
      const job = { ...records, ...how, format, ...file, in: onlyInput(file.in) };
      return asSortJob(file, job, async (sorter, context) => {
        const { sortRecordFile } = await import('../io/file-sort/sort-record-file.js');
        return sortRecordFile(sorter, { ...job, ...memory }, context);
      });
    }
    const job = { ...keys, ...how, ...file };
    return asSortJob(file, job, async (sorter, context) => {
      const isSmall = !args.resume && (await areSmall(file.in));
      return sortFile(sorter, { ...job, ...memory, ...(isSmall && { memory: undefined }) }, context);
    });
  });

  function asSortJob(file: SortPath, job: object, run: SortJob['run']): SortJob {
    return {
      ...file,
      job: { ...job, tmp: memory.tmp },
      async run(sorter, context) {
        await restart(args, file.out);
        return run(sorter, context);
      },
    };
  }
}

/** Reads the options of a sort of pairs. */
function readPairs(
  args: SortArguments,
  engine: Pick<FileJob, 'algorithm' | 'scan' | 'verify' | 'radixBits'>,
): SortJob {
  const { values, 'values-out': valuesOut, out } = args;
  if (values === undefined || valuesOut === undefined) {
    const missing = values === undefined ? '--values' : '--values-out';
    throw missingOption('sort pairs', missing, 'Pass both --values and --values-out');
  }
  for (const [name, why] of Object.entries(APART_FROM_VALUES)) {
    const value = args[name as keyof typeof APART_FROM_VALUES];
    if (value !== undefined && value !== false) throw cannotCombine(`--${name}`, '--values', why);
  }
  if (out === undefined) throw missingOption('sort', '--out', 'Pass a file, as in -o sorted.u32');
  const job = {
    ...{ ...readInput(args), ...readOrder(args), to: readTo(args), in: args.in, out, values, valuesOut },
    ...engine,
  };
  return {
    ...{ in: args.in, out, job },
    run: async (sorter, context) =>
      (await import('../io/file-sort/sort-pairs-file.js')).sortPairsFile(sorter, job, context),
  };
}

/**
 * Reads the options of tables; undefined when no table is sorted.
 *
 * @throws UsageError when a table option is given without `--by`
 */
async function readTableOptions(args: SortArguments) {
  const { by, columns, head, 'unique-by': uniqueBy, type } = args;
  if (by !== undefined) return (await import('./table-options.js')).readTable(args);
  const option = Object.entries({ columns, head, 'unique-by': uniqueBy, type });
  const [name] = option.find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return undefined;
  const advice = 'Pass the columns to sort by, as in --by price:desc';
  throw cannotUseWithout(`--${name}`, '--by', 'it applies to tables', advice);
}
