import type { Argv } from 'yargs';
import { DISTRIBUTIONS } from '../../io/gen.js';
import { DTYPES } from '../../keys/dtype.js';
import { withFormat } from './order.js';

export const command = 'gen';
export const describe = 'Make a raw file of test keys from a seed';

export interface GenArguments {
  readonly dtype: string;
  readonly count: string;
  readonly distribution: string;
  readonly seed: string;
  readonly out: string;
  readonly format: string;
}

export const builder = (yargs: Argv) =>
  withFormat(yargs)
    .option('dtype', {
      type: 'string',
      demandOption: true,
      describe: `what the keys are: ${DTYPES.join(' ')}`,
    })
    .option('count', { type: 'string', demandOption: true, describe: 'how many: 1000, 1e6, 16Mi, 2^24' })
    .option('distribution', { type: 'string', default: 'uniform', describe: DISTRIBUTIONS.join(' ') })
    .option('seed', { type: 'string', default: '1', describe: 'same seed, same file; 64 bits' })
    .option('out', {
      alias: 'o',
      type: 'string',
      nargs: 1,
      demandOption: true,
      describe: "file, '-' for stdout",
    })
    .example('$0 gen --dtype u32 --count 16Mi -o in.u32', '64 MiB of uniform keys')
    .example('$0 gen --dtype f64 --count 1e6 --distribution special -o in.f64', 'NaNs, infinities, zeros');
