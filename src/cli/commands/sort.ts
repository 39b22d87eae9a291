import type { Argv } from 'yargs';
import { algorithmNamed } from '../../algorithms/registry.js';
import { Sorter } from '../../index.js';
import { isStdout } from '../../io/raw.js';
import { type FileReport, sortFile } from '../../io/sort-file.js';
import type { Progress } from '../../sort/api/options.js';
import { type OrderArguments, readOrder, withOrder } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import {
  type InputArguments,
  type OutputArguments,
  readInput,
  readTo,
  withAxis,
  withInput,
  withTo,
} from '../key-files.js';
import { ProgressBar } from '../progress-bar.js';
import { type SortPaths, sortFiles, withPaths } from '../sort-paths.js';
import { reportJson, reportText } from '../sort-report.js';

export const command = 'sort <in..>';
export const describe = 'Sort files of keys';

export interface SortArguments extends OrderArguments, InputArguments, OutputArguments, SortPaths {
  readonly dtype: string | undefined;
  readonly axis: number;
  readonly argsort: boolean;
  readonly algorithm: string;
  readonly scan: string;
  readonly 'radix-bits': number | undefined;
  readonly device: string;
  readonly verify: boolean;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withPaths(withTo(withAxis(withInput(withOrder(yargs)))))
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
    .example('$0 sort in.u32 -o out.u32', 'ascending, on the best device')
    .example('$0 sort in.f64 -o - --descending | head -c 80', 'the ten largest')
    .example('$0 sort in.npy -o order.npy --argsort', 'positions instead of keys')
    .example('$0 sort matrix.npy -o sorted.npy --axis 0', 'each column by itself')
    .example('$0 sort a.u32 b.u32be.gz -o all.npy', 'the keys of both files together')
    .example('$0 sort *.f64 --out-dir sorted', 'each file by itself')
    .epilogue("The report goes to stdout, with '-o -' to stderr. OUT is replaced when all is well.");

export async function run(args: SortArguments, console: Console): Promise<ExitCode> {
  const order = readOrder(args);
  const input = readInput(args);
  const { argsort, algorithm, verify, axis, 'radix-bits': radixBits } = args;
  const to = readTo(args);
  const files = await sortFiles(args, { argsort, to: args.to ?? 'auto' });
  if (algorithm !== 'auto' && algorithm !== 'host') algorithmNamed(algorithm);
  const bar = new ProgressBar(console);
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => {
    bar.clear();
    warnings.push(message);
    say(console, `clsort: warning: ${message}`);
  };
  const sorter = await Sorter.open({ device: args.device, onWarning });
  const reports: FileReport[] = [];
  try {
    const scan = args.scan === 'auto' ? 'auto' : args.scan === '3' ? 3 : 5;
    const digits = radixBits !== undefined && { radixBits };
    const how = { ...input, ...order, to, axis, argsort, algorithm, scan, ...digits, verify } as const;
    const onProgress = ({ phase, done, total }: Progress) => bar.update(phase, done, total);
    for (const file of files) {
      const report = await sortFile(sorter, { ...how, ...file }, { ...console, onWarning, onProgress });
      bar.clear();
      reports.push(report);
      if (args.json) continue;
      if (args['out-dir'] !== undefined) print(console, `${file.out}:`);
      (isStdout(file.out) ? say : print)(console, reportText(report));
    }
  } finally {
    bar.clear();
    await sorter.close();
  }
  const [first] = reports;
  if (args.json && first) {
    const all = reports.map((report) => reportJson(report, warnings));
    if (args['out-dir'] !== undefined) print(console, `[${all.join(',\n')}]`);
    else (isStdout(args.out ?? '') ? say : print)(console, reportJson(first, warnings));
  }
  return EXIT.ok;
}
