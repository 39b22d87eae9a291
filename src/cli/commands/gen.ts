import { type Distribution, Generator } from '../../io/gen.js';
import { assertRawOutput, keyFormat } from '../../io/keys.js';
import { withOutput } from '../../io/output.js';
import { assertGoing, isStdout } from '../../io/raw.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { readCount, readSeed } from '../arguments.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { GenArguments } from '../options/gen.js';
import { ProgressBar } from '../progress-bar.js';
import { bytesText, grouped } from '../table.js';

/** Keys made between two writes. */
const PIECE = 2 ** 20;

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
  if (!isStdout(args.out) && !console.quiet) {
    print(
      console,
      `${args.out}: ${grouped(count)} ${dtype} keys, ${args.distribution}, seed ${args.seed}, ${bytesText(count * bytes)}`,
    );
  }
  return EXIT.ok;
}
