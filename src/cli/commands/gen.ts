import { nameFacts } from '../../io/formats/file-name.js';
import { keyTarget } from '../../io/formats/keys.js';
import { type Distribution, Generator, type GenRequest, unitRange } from '../../io/operations/gen.js';
import { withOutput } from '../../io/streams/output.js';
import { assertNotAborted, isStdout } from '../../io/streams/raw.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { type NamedDtype, namedDtype } from '../../keys/dtype-name.js';
import { UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { readCount, readSeed } from '../arguments.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readText } from '../key-files.js';
import { cannotCombine } from '../option-errors.js';
import type { GenArguments } from '../options/gen.js';
import { ProgressBar } from '../progress-bar.js';
import { bytesText, grouped } from '../table.js';

/** Keys generated per write. */
const PIECE = 2 ** 20;

export async function run(args: GenArguments, console: Console): Promise<ExitCode> {
  const { dtype, bigEndian } = await dtypeOf(args);
  const { bytes } = dtypeInfo(dtype);
  const count = readCount(args.count);
  if (args.range !== undefined && args.distribution !== 'uniform') {
    throw cannotCombine('--range', `--distribution ${args.distribution}`, 'only uniform keys have a range');
  }
  const range = rangeOf(args, dtype);
  const generator = new Generator({
    dtype,
    count,
    distribution: args.distribution as Distribution, // the Generator validates it
    seed: readSeed(args.seed),
    ...(range && { range }),
  });
  const model = { format: 'raw', bigEndian, isDtypeGiven: args.dtype !== undefined };
  const target = await keyTarget(args.out, { to: args.to ?? args.format, ...readText(args) }, model);
  const bar = new ProgressBar(console);
  await withOutput(args.out, console, async (output) => {
    const writer = await target.create(output, { dtype, n: count, shape: [count] });
    while (generator.remaining > 0) {
      await writer.write(generator.next(PIECE));
      assertNotAborted(console.signal);
      bar.update('generate', count - generator.remaining, count);
    }
    await writer.end();
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

/**
 * Returns the range of uniform keys: `--range`, or [0, 1) for floats by default; undefined means all bit patterns.
 *
 * @throws UsageError when `--range` is malformed
 */
function rangeOf({ range, distribution }: GenArguments, dtype: Dtype): GenRequest['range'] {
  if (range !== undefined) return readRange(range, dtype);
  const info = dtypeInfo(dtype);
  return distribution === 'uniform' && info.kind === 'float' ? unitRange(info) : undefined;
}

/**
 * Parses `--range A:B`: bigints for integer dtypes, numbers for floats.
 *
 * @throws UsageError when it is malformed
 */
function readRange(text: string, dtype: Dtype): readonly [bigint, bigint] | readonly [number, number] {
  const [low = '', high = '', ...more] = text.split(':');
  const isWhole = dtypeInfo(dtype).kind !== 'float';
  const form = isWhole ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  if (more.length > 0 || !form.test(low) || !form.test(high)) {
    const example = isWhole ? '0:999' : '-1:1';
    throw invalidArgument(
      '--range',
      `${isWhole ? 'whole numbers' : 'numbers'} A:B (such as ${example})`,
      text,
    );
  }
  return isWhole
    ? [BigInt(low.replace('+', '')), BigInt(high.replace('+', ''))]
    : [Number(low), Number(high)];
}

/**
 * Returns the dtype given by `--dtype`, or by the name of the output.
 *
 * @throws DtypeError when the dtype is unknown
 * @throws UsageError when neither specifies one
 */
async function dtypeOf({ dtype, out }: GenArguments): Promise<NamedDtype> {
  if (dtype !== undefined) return namedDtype(dtype);
  const { named } = await nameFacts(isStdout(out) ? '' : out);
  if (named) return named;
  throw new UsageError(
    `cannot generate ${out}: its name does not define the dtype. Pass --dtype, or a name such as keys.f64`,
  );
}
