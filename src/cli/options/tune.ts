import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDevice } from './device.js';
import { flag, word } from './kinds.js';

export const builder = (yargs: Argv) =>
  withDevice(yargs)
    .option('time', {
      type: 'number',
      default: 60,
      describe: 'search time in seconds, including compilation',
    })
    .option(
      'algorithm',
      word(
        'algorithms, comma-separated, or scan compact unique reduce histogram; default those that the device uses',
      ),
    )
    .option(
      'shape',
      word('dtypes, comma-separated, with +4 or +8 for the bytes of a value; default the most common ones'),
    )
    .option('dry-run', flag('measure, but save nothing'))
    .option('reset', flag('delete the saved parameters of the device'))
    .option('write', {
      type: 'string',
      hidden: true, // for contributors who add tunings
      describe: 'also write the parameters of the device as a file for src/algorithms/tunings',
    })
    .option('json', {
      type: 'boolean',
      default: false,
      describe: 'print { schema, device, …, cases } as JSON',
    })
    .group(['device', 'time', 'algorithm', 'shape'], 'Search:')
    .group(['dry-run', 'reset', 'json'], 'Result:')
    .example('$0 tune', 'the best device, for a minute')
    .example('$0 tune --device cpu --algorithm serial --time 20', 'one algorithm on a CPU device')
    .example('$0 tune --shape f64+8', 'f64 keys with 8-byte values')
    .epilogue(
      'Each candidate is verified before it is timed, and passes the self-test before it is saved. Saved parameters ' +
        "apply only to this device and driver. 'clsort tune --reset' or CLSORT_TUNING=off restores the defaults.",
    );

export type TuneArguments = ArgumentsOf<typeof builder>;
