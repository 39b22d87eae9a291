/** How the options about files of keys are read. */
import { formatNamed, type InputOptions } from '../io/keys.js';
import { assertTextOptions, type TextReadOptions } from '../io/text/text-options.js';
import { namedDtype } from '../keys/dtype-name.js';
import { UsageError } from '../util/errors.js';
import type { InputArguments, OutputArguments, TextArguments } from './options/key-files.js';

/** What is said about files to read. @throws UsageError, DtypeError */
export function readInput({ dtype, format, column, ...text }: InputArguments): InputOptions {
  formatNamed(format);
  if (dtype !== undefined) namedDtype(dtype);
  return { dtype, format, column: columnOf(column), ...readText(text) };
}

/** How texts are, in the input and in the output. @throws UsageError */
export function readText({
  header,
  'no-header': none,
  delimiter,
  comment,
  skip,
  ragged,
  na,
  decimal,
  thousands,
}: TextArguments): TextReadOptions {
  if (header && none) throw new UsageError('--header and --no-header say two things: give one of them');
  const options = {
    header: none ? false : header,
    delimiter: delimiter === '\\t' ? '\t' : delimiter, // shells have no easy way to write a tab
    ...{ comment, skip, ragged, na, decimal, thousands },
  };
  assertTextOptions(options);
  return options;
}

function columnOf(column: string | undefined): InputOptions['column'] {
  if (column === '') throw new UsageError('--column is empty: expected a number from 0 on, or a name');
  return column !== undefined && /^\d+$/.test(column) ? Number(column) : column;
}

/** The format of the output: that of --to, else raw where the input is said to be raw, whatever the names say. */
export function readTo({ to, format }: OutputArguments & Pick<InputArguments, 'format'>): string {
  const chosen = to ?? (format === 'raw' ? 'raw' : 'auto');
  formatNamed(chosen);
  return chosen;
}
