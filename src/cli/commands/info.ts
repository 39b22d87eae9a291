import { profileKeys } from '../../io/checks/file-profile.js';
import { linesOf } from '../../io/formats/axis.js';
import { keysOrTable, withInputs } from '../../io/formats/inputs.js';
import type { AnyTable } from '../../io/formats/key-file.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput } from '../key-files.js';
import type { InfoArguments } from '../options/info.js';
import { orderOf, textOf } from '../profile-text.js';
import { grouped, table as textTable } from '../table.js';

export async function run(args: InfoArguments, console: Console): Promise<ExitCode> {
  const input = readInput(args);
  return withInputs([args.file], console, async (open, _, tables) => {
    const reader = await keysOrTable(open, tables, input);
    if ('fields' in reader) return describeTable(reader, args, console);
    const { name, format, dtype, bigEndian = false } = reader;
    const profile = await profileKeys(reader, linesOf(reader, args.axis));
    const shape = reader.shape ?? [profile.n];
    const { n, minimum, maximum, nans } = profile;
    if (args.json) {
      const range = { minimum: textOf(minimum), maximum: textOf(maximum) };
      const facts = { format, dtype, bigEndian, n, shape, ...range, nans, sorted: orderOf(profile) };
      print(console, JSON.stringify({ schema: 'clsort.info/1', file: name, ...facts }));
      return EXIT.ok;
    }
    const lines = [
      name,
      `format   ${format}`,
      `dtype    ${dtype}${bigEndian ? ', big-endian' : ''}`,
      `count    ${grouped(n)}${shape.length > 1 ? ` (${shape.map(grouped).join(' × ')})` : ''}`,
      `minimum  ${textOf(minimum) ?? 'none'}`,
      `maximum  ${textOf(maximum) ?? 'none'}`,
      ...(nans > 0 ? [`NaNs     ${grouped(nans)}`] : []),
      `sorted   ${orderOf(profile) ?? 'no'}`,
    ];
    print(console, lines.join('\n'));
    return EXIT.ok;
  });
}

async function describeTable(table: AnyTable, { json }: InfoArguments, console: Console): Promise<ExitCode> {
  const { tableFacts } = await import('../../io/tables/table-facts.js');
  const { name: file, kind } = table;
  const { n, columns } = await tableFacts(table);
  const facts = { schema: 'clsort.info/1', file, format: kind.id, dtype: null, n, columns };
  const head = [file, `format   ${kind.id}`, `rows     ${grouped(n)}`, `columns  ${grouped(columns.length)}`];
  const lines = textTable(columns.map(({ name, type }) => ['', name, type]));
  print(console, json ? JSON.stringify(facts) : [...head, ...(lines === '' ? [] : [lines])].join('\n'));
  return EXIT.ok;
}
