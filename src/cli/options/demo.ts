import type { Argv } from 'yargs';
import type { AlgorithmOption } from '../../algorithms/algorithm-names.js';
import { type RunArguments, withRun } from './run.js';

export interface DemoArguments extends RunArguments {
  readonly count: string;
  readonly max: string;
  readonly seed: string | undefined;
  readonly algorithm: AlgorithmOption;
}

export const builder = (yargs: Argv) =>
  withRun(yargs)
    .option('count', { type: 'string', default: '32', describe: 'number of keys' })
    .option('max', {
      type: 'string',
      default: '1000',
      describe: 'exclusive upper bound of the keys, which are whole numbers',
    })
    .option('seed', { type: 'string', describe: 'seed of the keys; default random' })
    .option('algorithm', { type: 'string', default: 'amd', describe: 'algorithm on the device' })
    .group(['count', 'max', 'seed'], 'Keys:')
    .group(['algorithm', 'device', 'json'], 'Execution:')
    .example('$0 demo', 'a line of keys, tab-separated, and a line of sorted keys')
    .example(
      '$0 demo --count 1e6 --device gpu',
      'enough keys to benefit from a GPU; prints only the first ones',
    );
