import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDevice } from './device.js';
import { withUnique } from './distinct.js';
import { withCluster } from './engine.js';
import { withAxis, withInput, withTo } from './key-files.js';
import { flag, text, word } from './kinds.js';
import { withLines } from './lines.js';
import { withMemory } from './memory.js';
import { withOrder } from './order.js';
import { withRecords } from './records.js';
import { type SortPaths, withPaths } from './sort-paths.js';
import { withTables } from './tables.js';

export const builder = (yargs: Argv) =>
  withDevice(
    withCluster(
      withTables(
        withUnique(
          withPaths(withTo(withAxis(withInput(withRecords(withLines(withMemory(withOrder(yargs)))))))),
        ),
      ),
    ),
  )
    .option('argsort', flag('write positions instead of keys (u32; u64 from 2^32 keys)'))
    .option('values', text('file of values to sort with the keys, each of 1 to 8 bytes'))
    .option('values-out', text('output file for the values'))
    .option('algorithm', { ...word("algorithm, such as amd, or 'auto'"), default: 'auto' })
    .option('scan', { ...word('scan variant of amd'), default: 'auto', choices: ['3', '5', 'auto'] })
    .option('radix-bits', {
      type: 'number',
      describe: 'radix bits: tiled 1 to 8, serial 1 to 12, split 1 to 4',
    })
    .option('verify', flag('verify order and permutation'))
    .option('report', flag('print the report even if stdout is not a terminal'))
    .option('json', flag('print the report as JSON'))
    .group(['dtype', 'column'], 'Input:')
    .group(['descending', 'by'], 'Order:')
    .group(['out', 'out-dir', 'unique', 'argsort'], 'Output:')
    .group(['device', 'memory', 'verify', 'json'], 'Execution:')
    .example('$0 sort numbers.txt', 'numbers, one a line, to stdout')
    .example('$0 sort -t, -k2,2n data.txt', 'lines by the number in their second field, as sort(1)')
    .example('$0 sort in.u32 -o out.u32', 'ascending, on the best device')
    .example('$0 sort *.f64 --out-dir sorted', 'each file alone')
    .example('$0 sort t.parquet -o t.arrow --by price:desc,time', 'rows of a table, by two columns')
    .example('$0 sort in.f64 -o - --descending | head -c 80', 'ten largest keys')
    .example('$0 sort in.npy -o order.npy --argsort', 'positions instead of keys')
    .example(
      '$0 sort keys.u32 -o sorted.u32 --values ids.u64 --values-out moved.u64',
      'pairs of keys and values',
    )
    .example('$0 sort matrix.npy -o sorted.npy --axis 0', 'each column of a matrix alone')
    .example('$0 sort a.u32 b.u32be.gz -o all.npy', 'keys of both files together')
    .example('$0 sort big.f64 -o sorted.f64 --memory 2G', 'external sort if the file exceeds 2 GB')
    .example(
      '$0 sort in.dat -o out.dat --record 100 --key 0:10',
      'records of 100 bytes, by the first 10 bytes',
    )
    .example('$0 sort t.csv -o top.csv --by score:desc --head 10', 'ten rows with the highest score')
    .example(
      '$0 sort /shared/in/*.dat -o /shared/out --record 100 --key 0:10 --engine bullmq',
      'on many machines',
    )
    .epilogue(
      "The report is printed on a terminal or with --report, to stdout (with '-o -' to stderr). The results of --verify " +
        'and --json are always printed. OUT is replaced only on success.',
    );

export type SortArguments = ArgumentsOf<typeof builder> & SortPaths;
