import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { ENGINE_NAMES } from './engine.js';
import { flag, number } from './kinds.js';

/** Returns an option with one value. */
const text = (describe: string) => ({ type: 'string', nargs: 1, describe }) as const;

export const builder = (yargs: Argv) =>
  yargs
    .option('size', {
      ...text(
        "bytes to sort, such as 100T or 64GiB, comma-separated; 'benchmark' for the sizes of the Sort Benchmark",
      ),
      array: true,
      demandOption: true,
    })
    .option('dtype', text('dtype of the keys; default records of 100 bytes with keys of 10'))
    .option('engine', {
      ...text('engine that runs the tasks'),
      choices: [...ENGINE_NAMES],
      default: 'bullmq',
    })
    .option('nodes', { ...text('numbers of machines, comma-separated'), default: '1' })
    .option('gpus', { ...number('devices per node, with one worker each'), default: 1 })
    .option('cores', number('cores per node; default 16 per device (an assumption)'))
    .option(
      'network',
      text('network rate of a node, each way, in bits: 400G or 400Gbit/s; default unlimited'),
    )
    .option('disk', text('read and write rate of the disks of a node, such as 20G/s; default unlimited'))
    .option('storage', text('total rate of shared storage, such as 500G/s, instead of --disk'))
    .option('memory', {
      alias: 'S',
      ...text('memory of a node for all its workers, such as 1T or 512GiB; default unlimited'),
    })
    .option('json', flag('print the estimate as JSON'))
    .group(['size', 'dtype', 'engine'], 'Sort:')
    .group(['nodes', 'gpus', 'network', 'disk', 'memory'], 'Cluster:')
    .example(
      '$0 plan --size 100T --nodes 100 --gpus 8 --network 400G --disk 20G/s',
      'records of 100 bytes on 800 GPUs',
    )
    .example('$0 plan --size benchmark --nodes 1,10,100 --gpus 8 --disk 20G/s', 'table of sizes and machines')
    .epilogue(
      'Rates of an H200 and of hosts are measured; rates of networks, disks and cores come from the options. ' +
        'Pass the number of partitions to clsort sort --engine … --partitions N. See docs/many-machines.md.',
    );

export type PlanArguments = ArgumentsOf<typeof builder>;
