import type { Argv } from 'yargs';
import { linesOf } from '../../io/axis.js';
import { withInputs } from '../../io/inputs.js';
import { type KeySurvey, surveyKeys } from '../../io/survey.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { type InputArguments, readInput, withAxis, withDtype, withInput } from '../key-files.js';
import { grouped } from '../table.js';

export const command = 'info <file>';
export const describe = 'Tell what a file of keys holds: format, dtype, count, range, order';

export interface InfoArguments extends InputArguments {
  readonly file: string;
  readonly axis: number;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withAxis(withInput(withDtype(yargs)))
    .nargs('file', 1)
    .positional('file', { type: 'string', demandOption: true, describe: "file of keys, '-' for stdin" })
    .option('json', { type: 'boolean', default: false, describe: 'result as JSON' })
    .example('$0 info prices.npy', 'what its header says, and what its keys are like')
    .epilogue(
      'The file is read once. With --json numbers are strings, since JSON has neither 64 bits nor infinity.',
    );

export async function run(args: InfoArguments, console: Console): Promise<ExitCode> {
  const input = readInput(args);
  return withInputs([args.file], console, async (open) => {
    const reader = await open(input);
    const { name, format, dtype, bigEndian = false } = reader;
    const survey = await surveyKeys(reader, linesOf(reader, args.axis));
    const shape = reader.shape ?? [survey.n];
    const { n, minimum, maximum, nans } = survey;
    if (args.json) {
      const range = { minimum: numberText(minimum), maximum: numberText(maximum) };
      const facts = { format, dtype, bigEndian, n, shape, ...range, nans, sorted: orderOf(survey) };
      print(console, JSON.stringify({ schema: 'clsort.info/1', file: name, ...facts }));
      return EXIT.ok;
    }
    const lines = [
      name,
      `format   ${format}`,
      `dtype    ${dtype}${bigEndian ? ', big-endian' : ''}`,
      `count    ${grouped(n)}${shape.length > 1 ? ` (${shape.map(grouped).join(' × ')})` : ''}`,
      `minimum  ${numberText(minimum) ?? 'none'}`,
      `maximum  ${numberText(maximum) ?? 'none'}`,
      ...(nans > 0 ? [`NaNs     ${grouped(nans)}`] : []),
      `sorted   ${orderOf(survey) ?? 'no'}`,
    ];
    print(console, lines.join('\n'));
    return EXIT.ok;
  });
}

const numberText = (number: number | bigint | undefined): string | null =>
  number === undefined ? null : Object.is(number, -0) ? '-0' : String(number);

/** Equal keys are in both orders, and are told to be in the usual one. */
function orderOf({ ascending, descending }: KeySurvey): 'ascending' | 'descending' | null {
  if (ascending) return 'ascending';
  return descending ? 'descending' : null;
}
