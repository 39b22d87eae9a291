import type { Argv } from 'yargs';
import { linesOf } from '../../io/axis.js';
import { addKeys, checkOrder } from '../../io/check.js';
import type { KeyReader } from '../../io/formats/key-file.js';
import { withInputs } from '../../io/inputs.js';
import { Multiset, randomPoints } from '../../io/multiset.js';
import type { Descent } from '../../io/order-scan.js';
import { isStdin } from '../../io/raw.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { bitWindow } from '../../sort/api/options.js';
import { DtypeError, UsageError } from '../../util/errors.js';
import { type OrderArguments, readOrder, withOrder } from '../arguments.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { type InputArguments, readInput, withAxis, withInput } from '../key-files.js';
import { grouped } from '../table.js';

export const command = 'check <file>';
export const describe = 'Check that a file is sorted';

export interface CheckArguments extends OrderArguments, InputArguments {
  readonly dtype: string | undefined;
  readonly file: string;
  readonly against: string | undefined;
  readonly axis: number;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withAxis(withInput(withOrder(yargs)))
    .nargs('file', 1)
    .positional('file', { type: 'string', demandOption: true, describe: "file of keys, '-' for stdin" })
    .option('against', {
      type: 'string',
      nargs: 1,
      describe: 'also check that FILE holds the keys of this file, each as often',
    })
    .option('json', { type: 'boolean', default: false, describe: 'result as JSON' })
    .example('$0 check out.u32 --against in.u32', 'order and permutation')
    .example('$0 check out.npy --against in.f64be.gz', 'in any two formats')
    .epilogue('Exit code 0 when the file is sorted (and a permutation), 1 when it is not.');

export async function run(args: CheckArguments, console: Console): Promise<ExitCode> {
  const order = readOrder(args);
  const input = readInput(args);
  const { file, against } = args;
  if (isStdin(file) && against !== undefined && isStdin(against)) {
    throw new UsageError("both files are '-': only one can be read from stdin");
  }
  return withInputs([file], console, async (open) => {
    const reader = await open(input);
    const { dtype, name } = reader;
    const info = dtypeInfo(dtype);
    const lines = linesOf(reader, args.axis);
    // One look is enough, so that a pipe of any length can be checked.
    const points = randomPoints();
    const keys = against === undefined ? undefined : new Multiset(info, points);
    const wanted = { ...order, dtype, bits: bitWindow(order.bits, info) };
    const { n, descent } = await checkOrder(reader, wanted, { lines, keys });
    const permutation =
      keys && against !== undefined
        ? await withInputs([against], console, async (openOther) => {
            const other = await openOther(input);
            assertSameDtype(reader, other);
            const others = new Multiset(info, points);
            await addKeys(other, others);
            return keys.equals(others);
          })
        : null;
    const found = { name, n, dtype, descending: order.descending, descent, permutation };
    print(console, args.json ? resultJson(found) : resultText(found, against));
    return descent === undefined && permutation !== false ? EXIT.ok : EXIT.notSorted;
  });
}

/** @throws DtypeError */
function assertSameDtype(a: KeyReader, b: KeyReader): void {
  if (a.dtype === b.dtype) return;
  throw new DtypeError(
    `${a.name} holds ${a.dtype} keys and ${b.name} ${b.dtype} keys: none is a permutation of the other`,
  );
}

interface Found {
  readonly name: string;
  readonly n: number;
  readonly dtype: string;
  readonly descending: boolean;
  readonly descent: Descent | undefined;
  readonly permutation: boolean | null;
}

function resultJson({ n, dtype, descending, descent, permutation }: Found): string {
  const firstOutOfOrder = descent
    ? { at: descent.at, before: String(descent.before), key: String(descent.key) }
    : null;
  const sorted = descent === undefined;
  return JSON.stringify({
    schema: 'clsort.check/1',
    n,
    dtype,
    descending,
    sorted,
    permutation,
    firstOutOfOrder,
  });
}

function resultText({ name, n, dtype, descending, descent, permutation }: Found, against = ''): string {
  const lines = [
    `${name}: ${grouped(n)} ${dtype} keys, ${descending ? 'descending' : 'ascending'}`,
    descent
      ? `order: WRONG, key ${descent.at} (${descent.key}) belongs before the one in front of it (${descent.before})`
      : 'order: right',
  ];
  if (permutation !== null) {
    const [verdict, are] = permutation ? ['right', 'are'] : ['WRONG', 'are not'];
    lines.push(`permutation: ${verdict}, the keys ${are} those of ${against}`);
  }
  return lines.join('\n');
}
