import type { Argv } from 'yargs';
import { type DeviceArguments, withDevice } from './device.js';
import { ENGINE_NAMES } from './engine.js';
import { type RecordArguments, withRecords } from './records.js';

export const command = 'plan';
export const describe = 'Tell how long a sort over many machines would take, and what binds it';

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
  readonly rates: readonly string[] | undefined;
  readonly measure: boolean;
  readonly bytes: string | undefined;
  readonly tmp: string | undefined;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withDevice(withRecords(yargs), { unnamed: 'the GPU that was measured, with --measure the best one here' })
    .option('engine', {
      type: 'string',
      choices: [...ENGINE_NAMES],
      default: 'bullmq',
      describe: 'who runs the tasks',
    })
    .option('size', {
      type: 'string',
      array: true,
      nargs: 1,
      describe:
        "bytes, as 100T or 64GiB; several with commas; 'benchmark' for the sizes of the Sort Benchmark",
    })
    .option('within', {
      type: 'number',
      nargs: 1,
      describe: 'instead of a size, how much is sorted in so many seconds',
    })
    .option('nodes', { type: 'string', nargs: 1, default: '1', describe: 'machines; several with commas' })
    .option('gpus', {
      type: 'number',
      nargs: 1,
      default: 1,
      describe: 'devices of a node, each with a worker',
    })
    .option('cores', {
      type: 'number',
      nargs: 1,
      describe: 'cores of a node; default 16 for each device, which is an assumption',
    })
    .option('network', {
      type: 'string',
      nargs: 1,
      describe: 'of a node, each way: 400G or 400Gbit/s, 50GB/s; by default it binds nothing',
    })
    .option('disk', {
      type: 'string',
      nargs: 1,
      describe: 'what the disks of a node read and write together, as 20G/s; by default they bind nothing',
    })
    .option('storage', {
      type: 'string',
      nargs: 1,
      describe: 'instead of disks in the nodes, all of a storage beside them, as 500G/s',
    })
    .option('memory', {
      alias: 'S',
      type: 'string',
      nargs: 1,
      describe: 'of a node, for all of its workers, as 1T or 512GiB; by default enough',
    })
    .option('partitions', {
      type: 'number',
      nargs: 1,
      describe: 'into how many parts; default the best number',
    })
    .option('shards', {
      type: 'number',
      nargs: 1,
      describe: 'in how many stretches the input is read; default by size, as a sort does it',
    })
    .option('dtype', { type: 'string', nargs: 1, describe: 'what keys are; default records of 100 bytes' })
    .option('rates', {
      type: 'string',
      array: true,
      nargs: 1,
      describe:
        "take rates of a run (clsort sort --engine … --json), or of 'clsort plan --json'; may be repeated",
    })
    .option('measure', { type: 'boolean', default: false, describe: 'measure rates here' })
    .option('bytes', {
      type: 'string',
      nargs: 1,
      describe: 'with --measure, of the file that is sorted for that; default 256MiB',
    })
    .option('tmp', {
      alias: 'T',
      type: 'string',
      nargs: 1,
      describe: 'with --measure, the folder to do that in; default the current one',
    })
    .option('json', { type: 'boolean', default: false, describe: 'as JSON, with the rates that it rests on' })
    .example(
      '$0 plan --size 100T --nodes 100 --gpus 8 --network 400G --disk 20G/s',
      'records of 100 bytes on 800 GPUs',
    )
    .example('$0 plan --size benchmark --nodes 1,10,100 --gpus 8 --disk 20G/s', 'a table')
    .example('$0 plan --within 60 --nodes 100 --gpus 8 --network 400G --disk 20G/s', 'how much in a minute')
    .example('$0 plan --measure --size 1T --dtype u64 --json > rates.json', 'of this machine')
    .example('$0 plan --rates rates.json --size 10T --nodes 16 --dtype u64', 'of many such machines')
    .epilogue(
      'What devices, buses and hosts take was measured; what networks, disks and cores can do is what you say. ' +
        'The last lines name what it rests on. Give the best number of partitions to clsort sort --engine … ' +
        '--partitions N. See docs/many-machines.md.',
    );
