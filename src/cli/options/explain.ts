import type { Argv } from 'yargs';
import { EXPLAINED, EXPLAINED_NAMES } from '../../explain/explained.js';
import { DTYPES } from '../../keys/dtype.js';
import type { ArgumentsOf } from '../spec.js';
import { withDevice } from './device.js';
import { flag, text, word, words } from './kinds.js';
import { OPS } from './op.js';

const STEPS = Object.entries(EXPLAINED)
  .filter(([, steps]) => steps.length > 0)
  .map(([name, steps]) => `${name}: ${steps.join(' ')}`)
  .join('; ');

export const builder = (yargs: Argv) =>
  withDevice(yargs)
    .positional('keys', words('keys, such as 7 14 4 1'))
    .option('algorithm', {
      ...word('sorting algorithm, or reduce, scan, histogram'),
      choices: EXPLAINED_NAMES,
      default: 'split',
    })
    .option('step', word(`step or variant of the algorithm; default the first: ${STEPS}`))
    .option(
      'bits',
      word(
        'sort only by bits A to B of the encoded keys, as A:B, or by the lowest B bits; histogram: bits of the bins',
      ),
    )
    .option('radix-bits', { type: 'number', describe: 'split: bits of a digit, 1 to 4' })
    .option('scan', { ...word('amd: number of kernels of the scan'), choices: ['3', '5'] })
    .option('op', { ...word('reduce: operator; default sum'), choices: [...OPS] })
    .option('random', text('number of random keys, instead of KEYS'))
    .option('max', text('exclusive upper bound of random keys, which are whole numbers; default 1000'))
    .option('seed', { ...word('seed of the random keys, 64 bits'), default: '1' })
    .option('pairs', flag('sort pairs, with the values v0 v1 v2 ...'))
    .option('descending', flag('largest key first', 'r'))
    .option('dtype', word(`dtype of the keys: ${DTYPES.join(' ')}; detected by default`))
    .option('json', flag('print the data as JSON'))
    .option('html', text('write a page to step through in a browser'))
    .group(['algorithm', 'step', 'device'], 'Algorithm:')
    .group(['random', 'max', 'seed', 'dtype', 'pairs', 'descending'], 'Keys:')
    .group(['json', 'html'], 'Output:')
    .example('$0 explain --descending -- -inf -0 nan', "keys that look like options, after '--'")
    .example('$0 explain 7 14 4 1 --bits 4', 'four keys, bit by bit')
    .example('$0 explain 3 1 2 --algorithm bitonic', 'comparators of a sorting network')
    .example('$0 explain --random 64 --algorithm amd --scan 5 --bits 8', 'blocks, bins and all seven kernels')
    .example(
      '$0 explain --random 32 --algorithm reduce --step compacted --html reduce.html',
      'step of a ladder',
    );

export type ExplainArguments = ArgumentsOf<typeof builder>;
