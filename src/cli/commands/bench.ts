import type { Argv } from 'yargs';
import { type LadderRow, ladder } from '../../bench/ladder.js';
import { Device } from '../../device/device.js';
import { UsageError } from '../../util/errors.js';
import { readCount } from '../arguments.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { grouped, secondsText, table } from '../table.js';

export const command = 'bench <what>';
export const describe = 'Measure this device: ladder, the steps of reduce, scan and histogram';

export interface BenchArguments {
  readonly what: string;
  readonly count: string;
  readonly device: string;
  readonly json: boolean;
}

/** What can be measured; each prints its own rows and says whether all of them are right. */
const BENCHES: Readonly<Record<string, (args: BenchArguments, console: Console) => Promise<ExitCode>>> = {
  ladder: runLadder,
};

export const builder = (yargs: Argv) =>
  yargs
    .positional('what', { type: 'string', choices: Object.keys(BENCHES), demandOption: true })
    .option('count', { type: 'string', default: '4Mi', describe: 'number of keys: 1000, 1e6, 16Mi, 2^24' })
    .option('device', {
      type: 'string',
      default: 'auto',
      describe: 'auto, cpu, gpu, P:D or a part of a name',
    })
    .option('json', {
      type: 'boolean',
      default: false,
      describe: 'print { schema, device, n, rows } as JSON',
    })
    .example('$0 bench ladder', 'how each step of the lectures fares here');

export async function run(args: BenchArguments, console: Console): Promise<ExitCode> {
  const bench = BENCHES[args.what];
  if (!bench)
    throw new UsageError(`unknown bench '${args.what}': expected ${Object.keys(BENCHES).join(', ')}`);
  return bench(args, console);
}

async function runLadder({ count, device: spec, json }: BenchArguments, console: Console): Promise<ExitCode> {
  const n = readCount(count);
  if (n === 0) throw new UsageError('--count is 0: there is nothing to measure');
  const device = await Device.open(spec);
  try {
    const rows = await ladder(device, { n });
    if (json) {
      const report = { schema: 'clsort.bench.ladder/1', device: device.info, n, rows };
      print(console, JSON.stringify(report, null, 2));
    } else {
      print(
        console,
        `${grouped(n)} u32 keys on ${device.info.name}; best of 5; x is against the first step\n`,
      );
      print(console, ladderTable(rows));
    }
    return rows.every(({ result }) => result === 'right') ? EXIT.ok : EXIT.device;
  } finally {
    await device.close();
  }
}

const HEADING = ['primitive', 'step', 'result', 'kernels', 'device', 'end to end', 'GB/s', 'x'];

function ladderTable(rows: readonly LadderRow[]): string {
  const lines = rows.map((row) => [
    row.primitive,
    row.step,
    row.result,
    row.kernelSeconds === null ? 'n/a' : secondsText(row.kernelSeconds),
    secondsText(row.seconds),
    secondsText(row.endToEndSeconds),
    (row.bytesPerSecond / 1e9).toFixed(1),
    row.speedup.toFixed(2),
  ]);
  return table([HEADING, ...lines], ['left', 'left', 'left', 'right', 'right', 'right', 'right', 'right']);
}
