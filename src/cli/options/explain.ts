import type { Argv } from 'yargs';
import { EXPLAINED, EXPLAINED_NAMES } from '../../explain/explained.js';
import { DTYPES } from '../../keys/dtype.js';
import { type DeviceArguments, withDevice } from './device.js';
import { OPS } from './op.js';

export const command = 'explain [keys..]';
export const describe =
  'Show how a sort, a reduction, a scan or a histogram works, with numbers from the device';

export interface ExplainArguments extends DeviceArguments {
  readonly keys: readonly string[] | undefined;
  readonly algorithm: string;
  readonly step: string | undefined;
  readonly bits: string | undefined;
  readonly 'radix-bits': number | undefined;
  readonly scan: string | undefined;
  readonly op: string | undefined;
  readonly random: string | undefined;
  readonly max: string | undefined;
  readonly seed: string;
  readonly pairs: boolean;
  readonly descending: boolean;
  readonly dtype: string | undefined;
  readonly json: boolean;
  readonly html: string | undefined;
}

const STEPS = Object.entries(EXPLAINED)
  .filter(([, steps]) => steps.length > 0)
  .map(([name, steps]) => `${name}: ${steps.join(' ')}`)
  .join('; ');

export const builder = (yargs: Argv) =>
  withDevice(yargs)
    .positional('keys', { type: 'string', array: true, describe: 'the keys, such as 7 14 4 1' })
    .option('algorithm', {
      type: 'string',
      choices: EXPLAINED_NAMES,
      default: 'split',
      describe: 'which sort, or reduce, scan, histogram',
    })
    .option('step', { type: 'string', describe: `which step or form of it, by default the first: ${STEPS}` })
    .option('bits', {
      type: 'string',
      describe: 'sort by bits A to B of the code only, as A:B, or by the lowest B; of a histogram its bins',
    })
    .option('radix-bits', { type: 'number', describe: 'bits of a digit of split, 1 to 4' })
    .option('scan', { type: 'string', choices: ['3', '5'], describe: 'kernels of the scan of amd' })
    .option('op', { type: 'string', choices: [...OPS], describe: 'of reduce, by default sum' })
    .option('random', { type: 'string', nargs: 1, describe: 'so many keys drawn at random, instead of KEYS' })
    .option('max', {
      type: 'string',
      nargs: 1,
      describe: 'keys that are drawn are whole numbers below this; by default 1000',
    })
    .option('seed', { type: 'string', default: '1', describe: 'same seed, same keys; 64 bits' })
    .option('pairs', { type: 'boolean', default: false, describe: 'a value beside each key, v0 v1 v2 ...' })
    .option('descending', { alias: 'r', type: 'boolean', default: false, describe: 'largest key first' })
    .option('dtype', { type: 'string', describe: `${DTYPES.join(' ')}; by default as the keys look` })
    .option('json', { type: 'boolean', default: false, describe: 'print the data as JSON' })
    .option('html', { type: 'string', nargs: 1, describe: 'write a page to walk through in a browser' })
    .example('$0 explain --descending -- -inf -0 nan', "keys that begin like options stand behind '--'")
    .example('$0 explain 7 14 4 1 --bits 4', 'four keys, bit by bit')
    .example('$0 explain 3 1 2 --algorithm bitonic', 'the comparators of a network')
    .example('$0 explain --random 64 --algorithm amd --scan 5 --bits 8', 'blocks, bins and all seven kernels')
    .example(
      '$0 explain --random 32 --algorithm reduce --step compacted --html reduce.html',
      'a step of a ladder',
    );
