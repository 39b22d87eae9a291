import type { Argv } from 'yargs';
import { DISTRIBUTIONS, type Distribution, Generator } from '../../io/gen.js';
import { assertRawOutput, keyFormat } from '../../io/keys.js';
import { withOutput } from '../../io/output.js';
import { assertGoing, isStdout } from '../../io/raw.js';
import { DTYPES, dtypeInfo } from '../../keys/dtype.js';
import { readCount, readSeed, withFormat } from '../arguments.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { ProgressBar } from '../progress-bar.js';
import { bytesText, grouped } from '../table.js';

export const command = 'gen';
export const describe = 'Make a raw file of test keys from a seed';

export interface GenArguments {
  readonly dtype: string;
  readonly count: string;
  readonly distribution: string;
  readonly seed: string;
  readonly out: string;
  readonly format: string;
}

/** Keys made between two writes. */
const PIECE = 2 ** 20;

export const builder = (yargs: Argv) =>
  withFormat(yargs)
    .option('dtype', {
      type: 'string',
      demandOption: true,
      describe: `what the keys are: ${DTYPES.join(' ')}`,
    })
    .option('count', { type: 'string', demandOption: true, describe: 'how many: 1000, 1e6, 16Mi, 2^24' })
    .option('distribution', { type: 'string', default: 'uniform', describe: DISTRIBUTIONS.join(' ') })
    .option('seed', { type: 'string', default: '1', describe: 'same seed, same file; 64 bits' })
    .option('out', {
      alias: 'o',
      type: 'string',
      nargs: 1,
      demandOption: true,
      describe: "file, '-' for stdout",
    })
    .example('$0 gen --dtype u32 --count 16Mi -o in.u32', '64 MiB of uniform keys')
    .example('$0 gen --dtype f64 --count 1e6 --distribution special -o in.f64', 'NaNs, infinities, zeros');

export async function run(args: GenArguments, console: Console): Promise<ExitCode> {
  const { name: dtype, bytes } = dtypeInfo(args.dtype);
  const count = readCount(args.count);
  const generator = new Generator({
    dtype,
    count,
    distribution: args.distribution as Distribution, // the Generator checks it
    seed: readSeed(args.seed),
  });
  await assertRawOutput(args.out, keyFormat(args.format));
  const bar = new ProgressBar(console);
  await withOutput(args.out, console, async (output) => {
    await output.reserve(count * bytes);
    while (generator.left > 0) {
      await output.write(generator.next(PIECE));
      assertGoing(console.signal);
      bar.update('making', count - generator.left, count);
    }
    bar.clear();
  });
  if (!isStdout(args.out)) {
    print(
      console,
      `${args.out}: ${grouped(count)} ${dtype} keys, ${args.distribution}, seed ${args.seed}, ${bytesText(count * bytes)}`,
    );
  }
  return EXIT.ok;
}
