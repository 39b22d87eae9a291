import type { Argv } from 'yargs';
import { type RunArguments, withRun } from './run.js';

export const command = 'demo';
export const describe =
  'Draw 32 keys below 1000, sort them on a device, and tell the time there and on the host';

export interface DemoArguments extends RunArguments {
  readonly count: string;
  readonly max: string;
  readonly seed: string | undefined;
  readonly algorithm: string;
}

export const builder = (yargs: Argv) =>
  withRun(yargs)
    .option('count', { type: 'string', default: '32', describe: 'how many keys' })
    .option('max', { type: 'string', default: '1000', describe: 'keys are whole numbers below this' })
    .option('seed', { type: 'string', describe: 'same seed, same keys; by default others each time' })
    .option('algorithm', { type: 'string', default: 'amd', describe: 'which sort of the device' })
    .example('$0 demo', 'the keys on one line, tab-separated, and sorted on the next')
    .example(
      '$0 demo --count 1e6 --device gpu',
      'as many as make a difference; only the first ones are shown',
    );
