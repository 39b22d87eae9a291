/** Parsers for the options about key files. */
import { formatNamed, type InputOptions } from '../io/formats/keys.js';
import { assertTextOptions, type TextReadOptions } from '../io/formats/text/text-options.js';
import { namedDtype } from '../keys/dtype-name.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { cannotCombine } from './option-errors.js';
import type { InputArguments, OutputArguments, TextArguments } from './options/key-files.js';

/**
 * Reads the options about input files.
 *
 * @throws UsageError when the format or a text option is invalid
 * @throws DtypeError when the dtype is unknown
 */
export function readInput({ dtype, format, column, ...text }: InputArguments): InputOptions {
  formatNamed(format);
  if (dtype !== undefined) namedDtype(dtype);
  return { dtype, format, column: columnOf(column), ...readText(text) };
}

/**
 * Reads the text options, which apply to input and output.
 *
 * @throws UsageError when options conflict or are invalid
 */
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
  if (header && none) throw cannotCombine('--header', '--no-header', 'they contradict each other');
  const options = {
    header: none ? false : header,
    delimiter: delimiter === '\\t' ? '\t' : delimiter, // shells have no easy way to write a tab
    ...{ comment, skip, ragged, na, decimal, thousands },
  };
  assertTextOptions(options);
  return options;
}

function columnOf(column: string | undefined): InputOptions['column'] {
  if (column === '') throw invalidArgument('--column', 'an index from 0, or a name', column);
  return column !== undefined && /^\d+$/.test(column) ? Number(column) : column;
}

/** Returns the output format: `--to` if given, raw for an input with `--format raw`, and `auto` otherwise. */
export function readTo({ to, format }: OutputArguments & Pick<InputArguments, 'format'>): string {
  const chosen = to ?? (format === 'raw' ? 'raw' : 'auto');
  formatNamed(chosen);
  return chosen;
}
