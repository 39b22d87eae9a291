import { copyBytes, copyKeys } from '../io/operations/copy.js';
import { expandParts } from '../io/streams/parts.js';
import { isStdout } from '../io/streams/raw.js';
import { type Console, print } from './console.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { readInput, readTo } from './key-files.js';
import type { InputArguments, OutputArguments } from './options/key-files.js';
import { readParts } from './parts-arguments.js';
import { ProgressBar } from './progress-bar.js';
import { grouped } from './table.js';

/** Copies keys for `convert` and `concat`, and prints the result. */
export async function runCopy(
  given: readonly string[],
  out: string,
  args: InputArguments & OutputArguments,
  console: Console,
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
  const bar = new ProgressBar(console);
  try {
    const { n, dtype, formats } = await copyKeys(inputs, out, options, {
      ...console,
      onProgress: ({ phase, done, total }) => bar.update(phase, done, total),
    });
    bar.clear();
    const [from, to] = formats;
    if (!isStdout(out) && !console.quiet)
      print(console, `${out}: ${grouped(n)} ${dtype} keys, ${from} to ${to}`);
    return EXIT.ok;
  } finally {
    bar.clear();
  }
}
