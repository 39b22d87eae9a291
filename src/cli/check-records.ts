import { addUnits, checkUnits, UnitOrderCheck } from '../io/check-units.js';
import { randomPoints } from '../io/multiset.js';
import { isStdin } from '../io/raw.js';
import { openRecords } from '../io/record-file.js';
import { keyText, type RecordLayout, recordKeys } from '../io/record-keys.js';
import { recordOrder } from '../io/record-order.js';
import { UnitMultiset } from '../io/unit-multiset.js';
import { type Console, print } from './console.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { grouped } from './table.js';

interface RecordCheck {
  readonly file: string;
  /** The parts of `file`, or the file. */
  readonly files: readonly string[];
  readonly against: string | undefined;
  /** The parts of `against`, or the file. */
  readonly others: readonly string[] | undefined;
  readonly format: string;
  readonly json: boolean;
}

/** `clsort check` of a file of records. */
export async function checkRecords(
  layout: RecordLayout,
  { file, files, against, others: otherFiles, format, json }: RecordCheck,
  console: Console,
): Promise<ExitCode> {
  const { stdin, signal } = console;
  const order = recordOrder(layout);
  const points = randomPoints();
  const multiset = () => new UnitMultiset(order.unit, points);
  const records = against === undefined ? undefined : multiset();
  const open = async (path: string) => openRecords(path, stdin, { format, signal });
  const check = new UnitOrderCheck(order);
  for (const path of files) {
    const opened = await open(path);
    await checkUnits(opened, order, records, check).finally(() => opened.close());
  }
  const { n, descent } = check;
  let permutation: boolean | null = null;
  if (records && against !== undefined) {
    const others = multiset();
    for (const path of otherFiles ?? [against]) {
      const other = await open(path);
      await addUnits(other, order.unit, others).finally(() => other.close());
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
    print(console, `${isStdin(file) ? 'stdin' : file}: ${grouped(n)} ${order.units}, by ${keys.join(', ')}`);
    print(
      console,
      sorted ? 'order: right' : `order: WRONG, record ${descent} belongs before the one in front of it`,
    );
    if (permutation === true) print(console, `permutation: right, the records are those of ${against}`);
    if (permutation === false) print(console, `permutation: WRONG, the records are not those of ${against}`);
  }
  return sorted && permutation !== false ? EXIT.ok : EXIT.notSorted;
}
