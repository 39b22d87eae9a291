import type { Argv } from 'yargs';
import { algorithmNamed } from '../../algorithms/registry.js';
import { Sorter } from '../../index.js';
import { keyFormat } from '../../io/keys.js';
import { isStdout } from '../../io/raw.js';
import { type FileReport, sortFile } from '../../io/sort-file.js';
import type { Progress } from '../../sort/api/options.js';
import { type OrderArguments, readOrder, withFormat, withOrder } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { type MemoryArguments, readMemory, withMemory } from '../memory-options.js';
import { ProgressBar } from '../progress-bar.js';
import { reportJson, reportText } from '../sort-report.js';

export const command = 'sort <in>';
export const describe = 'Sort a raw file of numbers';

export interface SortArguments extends OrderArguments, MemoryArguments {
  readonly in: string;
  readonly out: string;
  readonly argsort: boolean;
  readonly algorithm: string;
  readonly scan: string;
  readonly 'radix-bits': number | undefined;
  readonly device: string;
  readonly verify: boolean;
  readonly format: string;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withMemory(withFormat(withOrder(yargs)))
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
    .option('radix-bits', {
      type: 'number',
      describe: 'bits of a digit: tiled 1 to 8, serial 1 to 12, split 1 to 4',
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
    .example(
      '$0 sort big.f64 -o sorted.f64 --dtype f64 --memory 2G',
      'what is larger than that, by way of the disk',
    )
    .epilogue("The report goes to stdout, with '-o -' to stderr. OUT is replaced when all is well.");

export async function run(args: SortArguments, console: Console): Promise<ExitCode> {
  const { info: _, ...order } = readOrder(args);
  const format = keyFormat(args.format);
  const memory = readMemory(args);
  if (args.algorithm !== 'auto' && args.algorithm !== 'host') algorithmNamed(args.algorithm);
  const bar = new ProgressBar(console);
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => {
    bar.clear();
    warnings.push(message);
    say(console, `clsort: warning: ${message}`);
  };
  const onNote = (text: string): void => {
    bar.clear();
    say(console, `clsort: ${text}`);
  };
  const sorter = await Sorter.open({ device: args.device, onWarning });
  let report: FileReport;
  try {
    const { in: from, out, argsort, algorithm, verify, 'radix-bits': radixBits } = args;
    const scan = args.scan === 'auto' ? 'auto' : args.scan === '3' ? 3 : 5;
    const digits = radixBits !== undefined && { radixBits };
    const job = {
      in: from,
      out,
      ...order,
      argsort,
      algorithm,
      scan,
      ...digits,
      verify,
      format,
      ...memory,
    } as const;
    const onProgress = ({ phase, done, total }: Progress) => bar.update(phase, done, total);
    report = await sortFile(sorter, job, { ...console, onWarning, onNote, onProgress });
  } finally {
    bar.clear();
    await sorter.close();
  }
  const tell = isStdout(args.out) ? say : print;
  tell(console, args.json ? reportJson(report, warnings) : reportText(report));
  return EXIT.ok;
}
