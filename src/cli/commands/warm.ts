import type { BuiltProgram } from '../../device/device.js';
import { warm, warmOperations } from '../../matrix/warm.js';
import { CHECKED_OPERATIONS } from '../../sort/operations/cases.js';
import { cacheFolder } from '../../util/cache.js';
import { CacheError, IoError } from '../../util/errors.js';
import { listed, readDtypes } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { readDevice } from '../device-arguments.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { WarmArguments } from '../options/warm.js';
import { secondsText } from '../table.js';

/** A program, and the call that needed it first. */
interface WarmedProgram extends BuiltProgram {
  readonly operation: string;
  readonly dtype: string;
}

export async function run(args: WarmArguments, console: Console): Promise<ExitCode> {
  const dtypes = readDtypes(args.dtype.flatMap(listed));
  const operations = args.operation ? warmOperations(args.operation.flatMap(listed)) : CHECKED_OPERATIONS;
  const device = readDevice(args.device, 'warm');
  const started = performance.now();
  const programs: WarmedProgram[] = [];
  let step = { operation: '', dtype: '' };
  let unwritten: CacheError | undefined;
  await warm({
    ...{ device: device.id, operations, dtypes, signal: console.signal },
    onStep: (operation, dtype) => {
      step = { operation, dtype };
    },
    onProgram: (built) => {
      const program = { ...built, ...step };
      programs.push(program);
      if (!args.json && !console.quiet) print(console, lineOf(program));
    },
    onWarning: (warning) => {
      if (warning instanceof CacheError) unwritten = warning;
      else say(console, `clsort: warning: ${warning.message}`);
    },
  });
  if (console.signal.aborted) return EXIT.interrupted;
  if (unwritten) {
    const message = `cannot store the programs in ${cacheFolder()}: ${unwritten.message}`;
    throw new IoError(message, { cause: unwritten });
  }
  const seconds = (performance.now() - started) / 1000;
  const { name, platform, driver } = device;
  if (args.json) {
    const report = { schema: 'clsort.warm/1', device: name, platform, driver, seconds, programs };
    print(console, JSON.stringify(report, null, 2));
  } else {
    const cached = programs.filter(({ origin }) => origin === 'cached').length;
    print(
      console,
      `${programs.length} programs for ${name} (${platform}, driver ${driver}) in ${secondsText(seconds)}, ${cached} of them from the cache`,
    );
  }
  return EXIT.ok;
}

const lineOf = ({ file, milliseconds, origin, operation, dtype }: WarmedProgram): string =>
  [file, `${milliseconds.toFixed(0)} ms`, origin, `${operation} ${dtype}`].join('\t');
