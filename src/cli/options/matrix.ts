import type { Argv } from 'yargs';
import { DTYPES } from '../../keys/dtype.js';
import type { ArgumentsOf } from '../spec.js';
import { withDevice } from './device.js';
import { flag, number, text, texts, words } from './kinds.js';

export const builder = (yargs: Argv) =>
  withDevice(yargs, { unnamed: 'all', words: true })
    .option('quick', flag('two sizes, ascending, keys only; each operation once'))
    .option('full', flag('up to 2^20 + 3 keys, also NaN first; few distinct, sorted and equal keys'))
    .option(
      'only',
      texts('only matching cases, such as algorithm=tiled,dtype=u32|f64 or topK,u32; may be repeated'),
    )
    .option('algorithm', words('only these algorithms; comma-separated or repeated'))
    .option('dtype', words(`only these dtypes, of ${DTYPES.join(' ')}; comma-separated or repeated`))
    .option('seed', { ...text('seed of all keys'), default: '1' })
    .option('timeout', { type: 'number', default: 120, describe: 'time limit of one case in seconds' })
    .option('json', flag('print one report of all cases as JSON'))
    .option('markdown', flag('print the report as Markdown'))
    .option('html', text('write the report as a page, with filters and details of each case'))
    .option('junit', text('write the report as JUnit XML'))
    .option('read', words('combine these reports of earlier runs (--json) instead of testing'))
    .option('compare', {
      type: 'string',
      array: true,
      nargs: 2,
      describe: 'compare two reports of earlier runs (--json) instead of testing',
    })
    .option('factor', {
      ...number('with --compare, factor of time from which a call counts as slower'),
      default: 2,
    })
    .option('child', { type: 'string', hidden: true })
    .group(['device', 'quick', 'full', 'only', 'algorithm', 'dtype', 'timeout'], 'Cases:')
    .group(['json', 'markdown', 'html'], 'Output:')
    .group(['read', 'compare'], 'Reports:')
    .example('$0 matrix --quick', 'every device, in a few minutes')
    .example('$0 matrix --device gpu --json > before.json', 'before and after a driver update')
    .example('$0 matrix --compare before.json after.json', 'changes between two reports')
    .example("$0 matrix --only 'algorithm=tiled,dtype=u32|f64' --html tiled.html", 'some cases, as a page')
    .epilogue(
      'Prints a table on a terminal, otherwise one JSON object per line and case. Outcomes, with causes: ok; skipped (not applicable ' +
        'to the device); wrong (differs from an independent reference); error; crash; timeout.\n' +
        'Axes of --only: operation algorithm dtype n order keys. A term is axis=value|value, or values; a comma means and.\n' +
        'One process runs the cases of a device. If the driver crashes or hangs, only that case fails, and a new process continues.\n' +
        'The exit code is 1 if a case is wrong, error, crash or timeout, or if --compare finds a regression.',
    );

export type MatrixArguments = ArgumentsOf<typeof builder>;
