import type { Argv } from 'yargs';
import { EXPLAINED } from '../../explain/explained.js';
import { DTYPES } from '../../keys/dtype.js';
import { type DeviceArguments, withDevice } from './device.js';

export const command = 'explain <keys..>';
export const describe = 'Show how a sort works, stage by stage, with numbers from the device';

export interface ExplainArguments extends DeviceArguments {
  readonly keys: readonly string[];
  readonly algorithm: string;
  readonly bits: number | undefined;
  readonly 'radix-bits': number | undefined;
  readonly descending: boolean;
  readonly dtype: string | undefined;
  readonly json: boolean;
  readonly html: string | undefined;
}

export const builder = (yargs: Argv) =>
  withDevice(yargs)
    .positional('keys', { type: 'string', array: true, describe: 'the keys to sort, such as 7 14 4 1' })
    .option('algorithm', {
      type: 'string',
      choices: [...EXPLAINED],
      default: 'split',
      describe: 'which sort',
    })
    .option('bits', { type: 'number', describe: 'sort by the lowest BITS bits of the code only' })
    .option('radix-bits', { type: 'number', describe: 'bits of a digit of split, 1 to 4' })
    .option('descending', { alias: 'r', type: 'boolean', default: false, describe: 'largest key first' })
    .option('dtype', { type: 'string', describe: `${DTYPES.join(' ')}; by default as the keys look` })
    .option('json', { type: 'boolean', default: false, describe: 'print the data as JSON' })
    .option('html', { type: 'string', nargs: 1, describe: 'write a page to walk through in a browser' })
    .example('$0 explain --descending -- -inf -0 nan', "keys that begin like options stand behind '--'")
    .example('$0 explain 7 14 4 1 --bits 4', 'four keys, bit by bit')
    .example('$0 explain 3 1 2 --algorithm bitonic', 'the comparators of a network');
