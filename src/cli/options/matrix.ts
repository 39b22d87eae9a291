import type { Argv } from 'yargs';
import { DTYPES } from '../../keys/dtype.js';
import { type DeviceArguments, withDevice } from './device.js';

export const command = 'matrix';
export const describe = 'Try every algorithm, operation, type and size on every device';

export interface MatrixArguments extends DeviceArguments {
  readonly quick: boolean;
  readonly full: boolean;
  readonly only: readonly string[] | undefined;
  readonly algorithm: readonly string[] | undefined;
  readonly dtype: readonly string[] | undefined;
  readonly seed: string;
  readonly timeout: number;
  readonly json: boolean;
  readonly markdown: boolean;
  readonly html: string | undefined;
  readonly junit: string | undefined;
  readonly read: readonly string[] | undefined;
  readonly compare: readonly string[] | undefined;
  readonly factor: number;
  /** Task of a child process, as JSON. */
  readonly child: string | undefined;
}

export const builder = (yargs: Argv) =>
  withDevice(yargs, { unnamed: 'all', words: true })
    .option('quick', {
      type: 'boolean',
      default: false,
      describe: 'two sizes, ascending, keys alone; operations once',
    })
    .option('full', {
      type: 'boolean',
      default: false,
      describe: 'up to 2^20 + 3 keys, NaN first as well, keys that are few, sorted or all the same',
    })
    .option('only', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'only cases such as algorithm=tiled,dtype=u32|f64, or by names: topK,u32; may be repeated',
    })
    .option('algorithm', {
      type: 'string',
      array: true,
      describe: 'only these algorithms; with commas, or repeated',
    })
    .option('dtype', {
      type: 'string',
      array: true,
      describe: `only these types, of ${DTYPES.join(' ')}; with commas, or repeated`,
    })
    .option('seed', { type: 'string', nargs: 1, default: '1', describe: 'where all keys come from' })
    .option('timeout', { type: 'number', default: 120, describe: 'seconds for one case' })
    .option('json', { type: 'boolean', default: false, describe: 'print one report of all cells as JSON' })
    .option('markdown', { type: 'boolean', default: false, describe: 'print it as Markdown' })
    .option('html', {
      type: 'string',
      nargs: 1,
      describe: 'write it as a page, with filters and details of each cell',
    })
    .option('junit', { type: 'string', nargs: 1, describe: 'write it as JUnit XML' })
    .option('read', {
      type: 'string',
      array: true,
      describe: 'try nothing: draw these reports of earlier runs (--json), together',
    })
    .option('compare', {
      type: 'string',
      array: true,
      nargs: 2,
      describe: 'try nothing: tell what the second of two reports (--json) has that the first has not',
    })
    .option('factor', {
      type: 'number',
      nargs: 1,
      default: 2,
      describe: 'compare: how many times as long a call has to take to be slower',
    })
    .option('child', { type: 'string', hidden: true })
    .example('$0 matrix --quick', 'a few minutes, every device')
    .example('$0 matrix --device gpu --json > before.json', 'then update the driver, do it again, and')
    .example('$0 matrix --compare before.json after.json', 'tells what has changed')
    .example("$0 matrix --only 'algorithm=tiled,dtype=u32|f64' --html tiled.html", 'a part, as a page')
    .epilogue(
      'A table on a terminal, else one JSON object a line, a case each. Outcomes: ok; skipped, what is not for the device; ' +
        'wrong, by comparison with a reference of its own; error; crash; timeout; and why.\n' +
        'Axes of --only: operation algorithm dtype n order keys. A term is axis=value|value, or values; commas mean and.\n' +
        'Cases run in a process of their own, so that a driver that crashes or hangs fails its own cell.\n' +
        'Exit code 1 when a case is wrong, error, crash or timeout, or with --compare when anything became worse.',
    );
