import type { Argv } from 'yargs';
import { type DeviceArguments, withDevice } from './device.js';

export const command = 'tune';
export const describe =
  'Find the parameters with which this device sorts and scans fastest, and use them from now on';

export interface TuneArguments extends DeviceArguments {
  readonly time: number;
  readonly algorithm: string | undefined;
  readonly shape: string | undefined;
  readonly 'dry-run': boolean;
  readonly reset: boolean;
  readonly write: string | undefined;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withDevice(yargs)
    .option('time', { type: 'number', default: 60, describe: 'seconds to search for, compilation included' })
    .option('algorithm', {
      type: 'string',
      describe:
        'names, with commas, scan compact unique reduce histogram among them; default: those that the device uses',
    })
    .option('shape', {
      type: 'string',
      describe:
        'with commas, key types, with +4 or +8 for bytes of a value; default: those that are sorted most',
    })
    .option('dry-run', { type: 'boolean', default: false, describe: 'measure, but keep nothing' })
    .option('reset', { type: 'boolean', default: false, describe: 'forget what was kept for the device' })
    .option('write', {
      type: 'string',
      hidden: true, // for contributors who add tunings
      describe: 'also write what is known of the device as a file for src/algorithms/tunings',
    })
    .option('json', {
      type: 'boolean',
      default: false,
      describe: 'print { schema, device, …, cases } as JSON',
    })
    .example('$0 tune', 'a minute for the best device')
    .example('$0 tune --device cpu --algorithm serial --time 20', 'one algorithm of a CPU device')
    .example('$0 tune --shape f64+8', 'what you sort, if it is not among the most frequent')
    .epilogue(
      'Each try is verified before it is timed, and passes the self-test before it is kept. What is kept is ' +
        "for this device and driver alone. 'clsort tune --reset' or CLSORT_TUNING=off go back.",
    );
