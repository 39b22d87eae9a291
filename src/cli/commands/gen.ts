import type { Argv } from 'yargs';
import { nameFacts } from '../../io/formats/file-name.js';
import { DISTRIBUTIONS, type Distribution, Generator } from '../../io/gen.js';
import { keyTarget } from '../../io/keys.js';
import { withOutput } from '../../io/output.js';
import { assertGoing, isStdout } from '../../io/raw.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { type NamedDtype, namedDtype } from '../../keys/dtype-name.js';
import { UsageError } from '../../util/errors.js';
import { readCount, readSeed } from '../arguments.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { withDtype, withTo } from '../key-files.js';
import { ProgressBar } from '../progress-bar.js';
import { bytesText, grouped } from '../table.js';

export const command = 'gen';
export const describe = 'Make a file of test keys from a seed';

export interface GenArguments {
  readonly dtype: string | undefined;
  readonly count: string;
  readonly distribution: string;
  readonly seed: string;
  readonly out: string;
  readonly format: string;
  readonly to: string | undefined;
}

/** Keys made between two writes. */
const PIECE = 2 ** 20;

export const builder = (yargs: Argv) =>
  withTo(withDtype(yargs))
    .option('format', { type: 'string', default: 'auto', describe: 'the same as --to' })
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
    .example('$0 gen --count 16Mi -o in.u32', '64 MiB of uniform keys')
    .example('$0 gen --dtype f64 --count 1e6 --distribution special -o in.npy', 'NaNs, infinities, zeros');

export async function run(args: GenArguments, console: Console): Promise<ExitCode> {
  const { dtype, bigEndian } = await dtypeOf(args);
  const { bytes } = dtypeInfo(dtype);
  const count = readCount(args.count);
  const generator = new Generator({
    dtype,
    count,
    distribution: args.distribution as Distribution, // the Generator checks it
    seed: readSeed(args.seed),
  });
  const model = { format: 'raw', bigEndian, dtypeSaid: args.dtype !== undefined };
  const target = await keyTarget(args.out, { to: args.to ?? args.format }, model);
  const bar = new ProgressBar(console);
  await withOutput(args.out, console, async (output) => {
    const writer = await target.create(output, { dtype, n: count, shape: [count] });
    while (generator.left > 0) {
      await writer.write(generator.next(PIECE));
      assertGoing(console.signal);
      bar.update('making', count - generator.left, count);
    }
    await writer.end();
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

/** What --dtype says, else the name of the output. @throws DtypeError, UsageError */
async function dtypeOf({ dtype, out }: GenArguments): Promise<NamedDtype> {
  if (dtype !== undefined) return namedDtype(dtype);
  const { named } = await nameFacts(isStdout(out) ? '' : out);
  if (named) return named;
  throw new UsageError(
    `${out} does not say what its keys are to be: say so with --dtype, or by its name (.f64)`,
  );
}
