import type { Argv } from 'yargs';
import { type DeviceArguments, withDevice } from './device.js';

export const command = 'devices';
export const describe = 'List the OpenCL devices of this machine, or which algorithms may be used on them';

export interface DevicesArguments extends DeviceArguments {
  readonly json: boolean;
  readonly certify: boolean;
  readonly algorithm: readonly string[] | undefined;
  readonly timeout: number;
  /** Name of the device, in a child process; `from` is its first case. */
  readonly child: string | undefined;
  readonly from: number;
}

export const builder = (yargs: Argv) =>
  withDevice(yargs, { unnamed: 'all', words: true })
    .option('json', { type: 'boolean', default: false, describe: 'print { schema, … } as JSON' })
    .option('certify', {
      type: 'boolean',
      default: false,
      describe: 'test each algorithm on each device anew, and keep what comes out',
    })
    .option('algorithm', { type: 'string', array: true, describe: 'certify only these algorithms' })
    .option('timeout', { type: 'number', default: 120, describe: 'seconds for one cell of --certify' })
    .option('child', { type: 'string', hidden: true })
    .option('from', { type: 'number', default: 0, hidden: true })
    .example('$0 devices', 'ids and names for --device')
    .example('$0 devices --certify', 'what may be used where, and why not')
    .epilogue(
      'An algorithm that fails its self-test is left out on that device until the driver, the device or ' +
        'clsort changes, or --certify finds otherwise. Exit code 1 when one failed, crashed or did not end.',
    );
