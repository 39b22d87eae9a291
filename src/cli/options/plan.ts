import type { Argv } from 'yargs';
import { type DeviceArguments, withDevice } from './device.js';
import { ENGINE_NAMES } from './engine.js';
import { type RecordArguments, withRecords } from './records.js';

export const command = 'plan';
export const describe = 'Estimate the time and the bottleneck of a sort over many machines';

export interface PlanArguments extends DeviceArguments, RecordArguments {
  readonly engine: string;
  readonly size: readonly string[] | undefined;
  readonly within: number | undefined;
  readonly nodes: string;
  readonly gpus: number;
  readonly cores: number | undefined;
  readonly network: string | undefined;
  readonly disk: string | undefined;
  readonly storage: string | undefined;
  readonly memory: string | undefined;
  readonly partitions: number | undefined;
  readonly shards: number | undefined;
  readonly dtype: string | undefined;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withDevice(withRecords(yargs), { unnamed: 'the measured GPU' })
    .option('engine', {
      type: 'string',
      choices: [...ENGINE_NAMES],
      default: 'bullmq',
      describe: 'engine that runs the tasks',
    })
    .option('size', {
      type: 'string',
      array: true,
      nargs: 1,
      describe:
        "bytes to sort, such as 100T or 64GiB, comma-separated; 'benchmark' for the sizes of the Sort Benchmark",
    })
    .option('within', {
      type: 'number',
      nargs: 1,
      describe: 'estimate the size that is sorted in this many seconds, instead of --size',
    })
    .option('nodes', {
      type: 'string',
      nargs: 1,
      default: '1',
      describe: 'numbers of machines, comma-separated',
    })
    .option('gpus', {
      type: 'number',
      nargs: 1,
      default: 1,
      describe: 'devices per node, with one worker each',
    })
    .option('cores', {
      type: 'number',
      nargs: 1,
      describe: 'cores per node; default 16 per device (an assumption)',
    })
    .option('network', {
      type: 'string',
      nargs: 1,
      describe: 'network bandwidth of a node, each way: 400G or 400Gbit/s, 50GB/s; default unlimited',
    })
    .option('disk', {
      type: 'string',
      nargs: 1,
      describe: 'combined read and write bandwidth of the disks of a node, such as 20G/s; default unlimited',
    })
    .option('storage', {
      type: 'string',
      nargs: 1,
      describe: 'total bandwidth of shared storage, such as 500G/s, instead of --disk',
    })
    .option('memory', {
      alias: 'S',
      type: 'string',
      nargs: 1,
      describe: 'memory of a node for all its workers, such as 1T or 512GiB; default unlimited',
    })
    .option('partitions', {
      type: 'number',
      nargs: 1,
      describe: 'number of partitions; default the best number',
    })
    .option('shards', {
      type: 'number',
      nargs: 1,
      describe: 'number of shards of the input; default by size, as in a sort',
    })
    .option('dtype', {
      type: 'string',
      nargs: 1,
      describe: 'dtype of the keys; default records of 100 bytes',
    })
    .option('json', {
      type: 'boolean',
      default: false,
      describe: 'print the estimate as JSON, with the rates behind it',
    })
    .group(['size', 'within', 'dtype', 'partitions'], 'Sort:')
    .group(['nodes', 'gpus', 'network', 'disk', 'memory'], 'Cluster:')
    .example(
      '$0 plan --size 100T --nodes 100 --gpus 8 --network 400G --disk 20G/s',
      'records of 100 bytes on 800 GPUs',
    )
    .example('$0 plan --size benchmark --nodes 1,10,100 --gpus 8 --disk 20G/s', 'table of sizes and machines')
    .example(
      '$0 plan --within 60 --nodes 100 --gpus 8 --network 400G --disk 20G/s',
      'size sorted in a minute',
    )
    .epilogue(
      'Rates of devices, buses and hosts are measured; rates of networks, disks and cores come from the options. ' +
        'The last lines list the sources. Pass the best number of partitions to clsort sort --engine … ' +
        '--partitions N. See docs/many-machines.md.',
    );
