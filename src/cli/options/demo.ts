import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { word } from './kinds.js';
import { withRun } from './run.js';

export const builder = (yargs: Argv) =>
  withRun(yargs)
    .option('count', { ...word('number of keys'), default: '32' })
    .option('max', { ...word('exclusive upper bound of the keys, which are whole numbers'), default: '1000' })
    .option('seed', word('seed of the keys; default random'))
    .option('algorithm', { ...word('algorithm on the device'), default: 'amd' })
    .group(['count', 'max', 'seed'], 'Keys:')
    .group(['algorithm', 'device', 'json'], 'Execution:')
    .example('$0 demo', 'a line of keys, tab-separated, and a line of sorted keys')
    .example(
      '$0 demo --count 1e6 --device gpu',
      'enough keys to benefit from a GPU; prints only the first ones',
    );

export type DemoArguments = ArgumentsOf<typeof builder>;
