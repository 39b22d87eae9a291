import type { Argv } from 'yargs';
import { type DeviceArguments, withDevice } from './device.js';
import { type DistinctArguments, withUnique } from './distinct.js';
import { type ClusterArguments, withCluster } from './engine.js';
import { type InputArguments, type OutputArguments, withAxis, withInput, withTo } from './key-files.js';
import { type MemoryArguments, withMemory } from './memory.js';
import { type OrderArguments, withOrder } from './order.js';
import { type RecordArguments, withRecords } from './records.js';
import { type SortPaths, withPaths } from './sort-paths.js';
import { type TableArguments, withTables } from './tables.js';

export const command = 'sort <in..>';
export const describe = 'Sort files of keys, of records, and tables';

export interface SortArguments
  extends ClusterArguments,
    DeviceArguments,
    DistinctArguments,
    OrderArguments,
    InputArguments,
    MemoryArguments,
    OutputArguments,
    RecordArguments,
    SortPaths,
    TableArguments {
  readonly dtype: string | undefined;
  readonly axis: number;
  readonly argsort: boolean;
  readonly values: string | undefined;
  readonly 'values-out': string | undefined;
  readonly algorithm: string;
  readonly scan: string;
  readonly 'radix-bits': number | undefined;
  readonly verify: boolean;
  readonly report: boolean;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withDevice(
    withCluster(
      withTables(
        withUnique(withPaths(withTo(withAxis(withInput(withRecords(withMemory(withOrder(yargs)))))))),
      ),
    ),
  )
    .option('argsort', {
      type: 'boolean',
      default: false,
      describe: 'write positions (u32, from 2^32 keys on u64) instead of keys',
    })
    .option('values', {
      type: 'string',
      nargs: 1,
      describe: 'file of a value for each key, of 1 to 8 bytes, to be moved along',
    })
    .option('values-out', {
      type: 'string',
      nargs: 1,
      describe: 'where the values go in the order of their keys',
    })
    .option('algorithm', { type: 'string', default: 'auto', describe: "a name such as amd, or 'auto'" })
    .option('scan', {
      type: 'string',
      default: 'auto',
      choices: ['3', '5', 'auto'],
      describe: 'scan chain of amd',
    })
    .option('radix-bits', {
      type: 'number',
      describe: 'bits of a digit: tiled 1 to 8, serial 1 to 12, split 1 to 4',
    })
    .option('verify', { type: 'boolean', default: false, describe: 'check order and permutation' })
    .option('report', {
      type: 'boolean',
      default: false,
      describe: 'report also when not to a terminal',
    })
    .option('json', { type: 'boolean', default: false, describe: 'report as JSON' })
    .example('$0 sort in.u32 -o out.u32', 'ascending, on the best device')
    .example('$0 sort in.f64 -o - --descending | head -c 80', 'the ten largest')
    .example('$0 sort in.npy -o order.npy --argsort', 'positions instead of keys')
    .example(
      '$0 sort keys.u32 -o sorted.u32 --values ids.u64 --values-out moved.u64',
      'pairs: the values go where their keys go',
    )
    .example('$0 sort matrix.npy -o sorted.npy --axis 0', 'each column by itself')
    .example('$0 sort a.u32 b.u32be.gz -o all.npy', 'the keys of both files together')
    .example('$0 sort *.f64 --out-dir sorted', 'each file by itself')
    .example('$0 sort big.f64 -o sorted.f64 --memory 2G', 'what is larger than that, by way of the disk')
    .example('$0 sort in.dat -o out.dat --record 100 --key 0:10', 'records of 100 bytes, by the first ten')
    .example('$0 sort t.parquet -o t.arrow --by price:desc,time', 'the rows of a table, by two columns')
    .example('$0 sort t.csv -o top.csv --by score:desc --head 10', 'the ten rows with the highest score')
    .example(
      '$0 sort /shared/in/*.dat -o /shared/out --record 100 --key 0:10 --engine bullmq',
      'over many machines',
    )
    .epilogue(
      "The report goes to stdout, with '-o -' to stderr, when that is a terminal or with --report; what --verify " +
        'finds and what --json asks for go there always. OUT is replaced when all is well.',
    );
