import type { Argv } from 'yargs';
import { Sorter } from '../../index.js';
import { isSameFile } from '../../io/output.js';
import { openSource, STDIO } from '../../io/raw.js';
import { bytesOf } from '../../keys/array.js';
import type { SortOptions } from '../../sort/options.js';
import type { SortReport } from '../../sort/report.js';
import { UsageError } from '../../util/errors.js';
import { type OrderArguments, readOrder, withOrder } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { ProgressBar } from '../progress-bar.js';
import { type FileReport, reportJson, reportText } from '../sort-report.js';
import { assertGoing, withOutput } from '../with-output.js';

export const command = 'sort <in>';
export const describe = 'Sort a raw file of numbers';

export interface SortArguments extends OrderArguments {
  readonly in: string;
  readonly out: string;
  readonly argsort: boolean;
  readonly algorithm: string;
  readonly scan: string;
  readonly device: string;
  readonly verify: boolean;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withOrder(yargs)
    .nargs('in', 1)
    .positional('in', {
      type: 'string',
      demandOption: true,
      describe: "raw little-endian file, '-' for stdin",
    })
    .option('out', {
      alias: 'o',
      type: 'string',
      nargs: 1,
      demandOption: true,
      describe: "result, '-' for stdout",
    })
    .option('argsort', { type: 'boolean', default: false, describe: 'write positions (u32) instead of keys' })
    .option('algorithm', { type: 'string', default: 'auto', describe: "a name such as amd, or 'auto'" })
    .option('scan', {
      type: 'string',
      default: 'auto',
      choices: ['3', '5', 'auto'],
      describe: 'scan chain of amd',
    })
    .option('device', {
      type: 'string',
      default: 'auto',
      describe: 'auto, cpu, gpu, host, P:D or a part of a name',
    })
    .option('verify', { type: 'boolean', default: false, describe: 'check order and permutation' })
    .option('json', { type: 'boolean', default: false, describe: 'report as JSON' })
    .example('$0 sort in.u32 -o out.u32 --dtype u32', 'ascending, on the best device')
    .example('$0 sort in.f64 -o - --dtype f64 --descending | head -c 80', 'the ten largest')
    .example('$0 sort in.u64 -o order.u32 --dtype u64 --argsort', 'positions instead of keys')
    .epilogue("The report goes to stdout, with '-o -' to stderr. OUT is replaced when all is well.");

export async function run(args: SortArguments, console: Console): Promise<ExitCode> {
  const { info, ...order } = readOrder(args);
  if (args.argsort && (await isSameFile(args.in, args.out))) {
    throw new UsageError('--argsort would replace the keys by their positions: name another output');
  }
  const bar = new ProgressBar(console);
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => {
    bar.clear();
    warnings.push(message);
    say(console, `clsort: warning: ${message}`);
  };
  const source = await openSource(args.in, console.stdin);
  let report: FileReport | undefined;
  try {
    await withOutput(args.out, console, async (output) => {
      const sorter = await Sorter.open({ device: args.device, onWarning });
      try {
        bar.update('reading', 0, 1);
        const [bytes, readSeconds] = await timed(source.read(info.bytes));
        assertGoing(console);
        let made: SortReport | undefined;
        const options: SortOptions = {
          ...order,
          algorithm: args.algorithm,
          scan: args.scan === 'auto' ? 'auto' : args.scan === '3' ? 3 : 5,
          verify: args.verify,
          profile: true,
          signal: console.signal,
          onWarning,
          onProgress: ({ phase, done, total }) => bar.update(phase, done, total),
          onReport: (one) => {
            made = one;
          },
        };
        const result = args.argsort
          ? await sorter.argsort(bytes, options)
          : await sorter.sort(bytes, options);
        bar.update('writing', 1, 1);
        const [, writeSeconds] = await timed(output.write(bytesOf(result)));
        const { descending } = order;
        if (made)
          report = { ...made, descending, argsort: args.argsort, readSeconds, writeSeconds, warnings };
      } finally {
        bar.clear();
        await sorter.close();
      }
    });
  } finally {
    await source.close();
  }
  if (report) {
    const tell = args.out === STDIO ? say : print;
    tell(console, args.json ? reportJson(report) : reportText(report));
  }
  return EXIT.ok;
}

async function timed<T>(promise: Promise<T>): Promise<[result: T, seconds: number]> {
  const started = performance.now();
  const result = await promise;
  return [result, (performance.now() - started) / 1000];
}
