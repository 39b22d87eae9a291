import type { Argv } from 'yargs';
import { DTYPES } from '../../keys/dtype.js';
import { type DeviceArguments, withDevice } from './device.js';

export const command = 'matrix';
export const describe = 'Try every algorithm, type and size on every device';

export interface MatrixArguments extends DeviceArguments {
  readonly quick: boolean;
  readonly algorithm: readonly string[] | undefined;
  readonly dtype: readonly string[] | undefined;
  readonly timeout: number;
  /** Of the child process: which device, and the case to begin with. */
  readonly child: string | undefined;
  readonly from: number;
}

export const builder = (yargs: Argv) =>
  withDevice(yargs, { unnamed: 'all', words: true })
    .option('quick', { type: 'boolean', default: false, describe: 'two sizes, keys alone, ascending' })
    .option('algorithm', { type: 'string', array: true, describe: 'only these algorithms' })
    .option('dtype', { type: 'string', array: true, describe: `only these types, of ${DTYPES.join(' ')}` })
    .option('timeout', { type: 'number', default: 120, describe: 'seconds for one case' })
    .option('child', { type: 'string', hidden: true })
    .option('from', { type: 'number', default: 0, hidden: true })
    .example('$0 matrix --quick', 'a few minutes, every device')
    .epilogue(
      'One JSON object a line, with outcome ok, wrong, unsupported, error, crash or timeout, and why.\n' +
        'Each device runs in a process of its own, so that a driver that crashes fails its own rows.\n' +
        'Exit code 1 when a row is wrong, error, crash or timeout.',
    );
