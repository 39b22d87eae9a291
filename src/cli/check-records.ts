import { countPieces, scanOrder } from '../io/checks/check.js';
import { Multiset, randomPoints } from '../io/checks/multiset.js';
import { openRecords } from '../io/formats/keys.js';
import { layoutOrdering } from '../io/records/layout-ordering.js';
import { keyText, type RecordLayout, recordKeys } from '../io/records/record-keys.js';
import { RecordOrderChecker } from '../io/records/scan-record-order.js';
import { isStdin } from '../io/streams/raw.js';
import { type Console, print } from './console.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { grouped } from './table.js';

interface RecordCheck {
  readonly file: string;
  /** The parts of `file`, or `file` itself when it is not a folder of parts. */
  readonly files: readonly string[];
  readonly against: string | undefined;
  /** The parts of `against`, or `against` itself when it is not a folder of parts. */
  readonly others: readonly string[] | undefined;
  readonly format: string;
  readonly json: boolean;
}

/**
 * Runs `clsort check` on a file of records: checks the order and, with `against`, that both files hold the same
 * records.
 */
export async function checkRecords(
  layout: RecordLayout,
  { file, files, against, others: otherFiles, format, json }: RecordCheck,
  console: Console,
): Promise<ExitCode> {
  const { stdin, signal } = console;
  const order = layoutOrdering(layout);
  const points = randomPoints();
  const multiset = () => new Multiset(order.recordBytes, points);
  const records = against === undefined ? undefined : multiset();
  const open = async (path: string) => openRecords(path, stdin, { format, signal });
  const check = new RecordOrderChecker(order);
  for (const path of files) {
    const opened = await open(path);
    await scanOrder(opened.pieces(order.recordBytes), check, records).finally(() => opened.close());
  }
  const { n, descent } = check;
  let permutation: boolean | null = null;
  if (records && against !== undefined) {
    const others = multiset();
    for (const path of otherFiles ?? [against]) {
      const other = await open(path);
      await countPieces(other.pieces(order.recordBytes), others).finally(() => other.close());
    }
    permutation = records.equals(others);
  }
  const sorted = descent === undefined;
  const keys = recordKeys(layout).map(keyText);
  if (json) {
    const facts = { n, record: layout.record, keys, sorted, permutation };
    print(
      console,
      JSON.stringify({
        schema: 'clsort.check/1',
        ...facts,
        firstOutOfOrder: sorted ? null : { at: descent },
      }),
    );
  } else {
    print(
      console,
      `${isStdin(file) ? 'stdin' : file}: ${grouped(n)} ${order.description}, by ${keys.join(', ')}`,
    );
    print(
      console,
      sorted ? 'order: right' : `order: WRONG, record ${descent} belongs before record ${(descent ?? 0) - 1}`,
    );
    if (permutation === true) print(console, `permutation: right, the records are those of ${against}`);
    if (permutation === false) print(console, `permutation: WRONG, the records are not those of ${against}`);
  }
  return sorted && permutation !== false ? EXIT.ok : EXIT.notSorted;
}
