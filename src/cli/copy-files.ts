import type { AnyTable } from '../io/formats/key-file.js';
import { copyBytes, copyKeys } from '../io/operations/copy.js';
import type { Output } from '../io/streams/output.js';
import { expandParts } from '../io/streams/parts.js';
import { isStdout } from '../io/streams/raw.js';
import { type Console, print } from './console.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { readInput, readTo } from './key-files.js';
import type { InputArguments, OutputArguments } from './options/key-files.js';
import { readParts } from './parts-arguments.js';
import { showFileWork } from './run-with-sorter.js';
import { grouped } from './table.js';

/** Copies keys for `convert` and `concat`, or the rows of a table if `acceptsTables`, and prints the result. */
export async function runCopy(
  given: readonly string[],
  out: string,
  args: InputArguments & OutputArguments,
  console: Console,
  { acceptsTables = false } = {},
): Promise<ExitCode> {
  const { paths: inputs, manifest } = await expandParts(given);
  const options = { ...readInput(readParts(manifest, args)), to: readTo(args) };
  if (manifest && 'record' in manifest.units) {
    const bytes = await copyBytes(inputs, out, console);
    if (!isStdout(out) && !console.quiet)
      print(
        console,
        `${out}: ${grouped(bytes / manifest.units.record)} records of ${manifest.units.record} bytes`,
      );
    return EXIT.ok;
  }
  const { bar, context } = showFileWork(console);
  const copyTable =
    acceptsTables && inputs.length === 1
      ? async (table: AnyTable, output: Output) =>
          (await import('../io/tables/copy-table.js')).copyTable(
            table,
            { ...options, in: inputs, out },
            output,
            context,
          )
      : undefined;
  try {
    const { n, dtype, formats } = await copyKeys(inputs, out, { ...options, copyTable }, context);
    bar.clear();
    const [from, to] = formats;
    if (!isStdout(out) && !console.quiet)
      print(console, `${out}: ${grouped(n)} ${dtype ? `${dtype} keys` : 'rows'}, ${from} to ${to}`);
    return EXIT.ok;
  } finally {
    bar.clear();
  }
}
