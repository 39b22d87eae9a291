import type { Argv } from 'yargs';
import { DISTRIBUTIONS } from '../../io/operations/gen.js';
import type { ArgumentsOf } from '../spec.js';
import { withOut } from './in-out.js';
import { withDtype, withText, withTo } from './key-files.js';
import { required, text, word } from './kinds.js';

export const builder = (yargs: Argv) =>
  withOut(withTo(withText(withDtype(yargs))))
    .option('format', { ...word('same as --to'), default: 'auto' })
    .option('count', required('number of keys: 1000, 1e6, 16Mi, 2^24'))
    .option('distribution', {
      ...word(
        `${DISTRIBUTIONS.join(' ')}; uniform floats are in [0, 1), random-bits are arbitrary bit patterns`,
      ),
      default: 'uniform',
    })
    .option(
      'range',
      text('uniform keys from A to B, as A:B; B is inclusive for integers, exclusive for floats'),
    )
    .option('seed', { ...word('seed of the keys, 64 bits'), default: '1' })
    .group(['count', 'dtype', 'distribution', 'range', 'seed'], 'Keys:')
    .group(['out', 'to'], 'Output:')
    .example('$0 gen --count 16Mi -o in.u32', '64 MiB of uniform keys')
    .example('$0 gen --count 32 --range 0:999 -o small.i32', 'keys below 1000')
    .example('$0 gen --dtype f64 --count 1e6 --distribution special -o in.npy', 'NaNs, infinities, zeros');

export type GenArguments = ArgumentsOf<typeof builder>;
