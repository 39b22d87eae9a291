import type { Argv } from 'yargs';
import { DTYPES } from '../../keys/dtype.js';
import type { ArgumentsOf } from '../spec.js';
import { withDevice } from './device.js';
import { words } from './kinds.js';

export const builder = (yargs: Argv) =>
  withDevice(yargs, { words: true })
    .option(
      'operation',
      words('only these operations, such as sort,topK; comma-separated or repeated; default all'),
    )
    .option('dtype', {
      ...words(`for these dtypes, of ${DTYPES.join(' ')}; comma-separated or repeated`),
      default: ['u32', 'f32', 'u64', 'f64'],
    })
    .option('json', { type: 'boolean', default: false, describe: 'print { schema, …, programs } as JSON' })
    .group(['device', 'operation', 'dtype'], 'Selection:')
    .group(['json'], 'Output:')
    .example('$0 warm --device gpu', 'all operations on the best GPU')
    .example('$0 warm --operation sort,topK --dtype f64', 'what a program with these calls needs')
    .epilogue(
      'The programs and the results of self-tests are stored in CLSORT_CACHE_DIR, for this device, driver and ' +
        'version of clsort. A driver with a cache of its own stores its programs there; CLSORT_PROGRAM_CACHE=always ' +
        'stores them in CLSORT_CACHE_DIR as well.',
    );

export type WarmArguments = ArgumentsOf<typeof builder>;
