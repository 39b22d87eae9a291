import { countPieces, scanOrder } from '../../io/checks/check.js';
import { Multiset, randomPoints } from '../../io/checks/multiset.js';
import { type Descent, OrderScan } from '../../io/checks/order-scan.js';
import { linesOf } from '../../io/formats/axis.js';
import { withInputs } from '../../io/formats/inputs.js';
import type { KeyReader } from '../../io/formats/key-file.js';
import { expandParts } from '../../io/streams/parts.js';
import { isStdin } from '../../io/streams/raw.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { bitWindow } from '../../sort/model/options.js';
import { DtypeError, UsageError } from '../../util/errors.js';
import { readOrder } from '../arguments.js';
import { checkRecords } from '../check-records.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput } from '../key-files.js';
import { cannotCombine } from '../option-errors.js';
import type { CheckArguments } from '../options/check.js';
import { readPartsOrder } from '../parts-arguments.js';
import { readRecords } from '../record-options.js';
import { grouped } from '../table.js';

export async function run(given: CheckArguments, console: Console): Promise<ExitCode> {
  const { paths, manifest } = await expandParts([given.file]);
  const args = readPartsOrder(manifest, given);
  const records = readRecords(args);
  if (records && args.column !== undefined)
    throw cannotCombine('--column', '--record', 'the keys of records have offsets');
  const order = readOrder(args);
  const input = readInput(args);
  const { file } = args;
  // `--against` names a folder of parts or any file; the options of the checked file apply to it.
  const against = args.against;
  const others = against === undefined ? undefined : await expandParts([against]);
  if (isStdin(file) && against !== undefined && isStdin(against)) {
    throw new UsageError("cannot check '-' against '-': stdin can be read only once");
  }
  if (records) return checkRecords(records, { ...args, files: paths, others: others?.paths }, console);
  return withInputs(paths, console, async (open) => {
    const reader = await open(input);
    const { dtype } = reader;
    const name = manifest ? file : reader.name;
    const info = dtypeInfo(dtype);
    const lines = linesOf(reader, args.axis);
    // One pass computes order and multiset, so a pipe of any length can be checked.
    const points = randomPoints();
    const keys = against === undefined ? undefined : new Multiset(info.bytes, points);
    const wanted = { ...order, dtype, bits: bitWindow(order.bits, info) };
    const { n, descent } = await scanOrder(reader.pieces(), new OrderScan(wanted, lines), keys);
    const permutation =
      keys && against !== undefined
        ? await withInputs(others?.paths ?? [], console, async (openOther) => {
            const other = await openOther(manifest && !others?.manifest ? readInput(given) : input);
            assertSameDtype(reader, other);
            const multiset = new Multiset(info.bytes, points);
            await countPieces(other.pieces(), multiset);
            return keys.equals(multiset);
          })
        : null;
    const found = { name, n, dtype, descending: order.descending, descent, permutation };
    print(console, args.json ? resultJson(found) : resultText(found, against));
    return descent === undefined && permutation !== false ? EXIT.ok : EXIT.notSorted;
  });
}

/**
 * Checks that both inputs hold keys of the same dtype.
 *
 * @throws DtypeError when they differ
 */
function assertSameDtype(a: KeyReader, b: KeyReader): void {
  if (a.dtype === b.dtype) return;
  throw new DtypeError(`cannot compare ${a.name} and ${b.name}: they contain ${a.dtype} and ${b.dtype} keys`);
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
      ? `order: WRONG, key ${descent.at} (${descent.key}) belongs before the previous key (${descent.before})`
      : 'order: right',
  ];
  if (permutation !== null) {
    const [verdict, are] = permutation ? ['right', 'are'] : ['WRONG', 'are not'];
    lines.push(`permutation: ${verdict}, the keys ${are} those of ${against}`);
  }
  return lines.join('\n');
}
