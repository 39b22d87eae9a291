import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDevice } from './device.js';
import { flag, words } from './kinds.js';

export const builder = (yargs: Argv) =>
  withDevice(yargs, { unnamed: 'all', words: true })
    .option('json', { type: 'boolean', default: false, describe: 'print { schema, … } as JSON' })
    .option('self-test', flag('rerun the self-test of each algorithm on each device and save the results'))
    .option('algorithm', words('with --self-test, test only these algorithms'))
    .option('timeout', {
      type: 'number',
      default: 120,
      describe: 'with --self-test, time limit of one self-test in seconds',
    })
    .option('certify', { type: 'boolean', default: false, hidden: true }) // deprecated alias of --self-test
    .option('child', { type: 'string', hidden: true })
    .option('from', { type: 'number', default: 0, hidden: true })
    .group(['device'], 'Selection:')
    .group(['self-test', 'algorithm', 'timeout'], 'Self-test:')
    .group(['json'], 'Output:')
    .example('$0 devices', 'IDs and names for --device')
    .example('$0 devices --self-test', 'usable algorithms by device, and causes of failures')
    .epilogue(
      'An algorithm that fails its self-test is not used on that device until the driver, the device or ' +
        'clsort changes, or --self-test passes. The exit code is 1 if a self-test fails, crashes or times out.',
    );

export type DevicesArguments = ArgumentsOf<typeof builder>;
