import { addUnits, checkUnits } from '../io/check-units.js';
import { randomPoints } from '../io/multiset.js';
import { openRecords } from '../io/record-file.js';
import { keyText, type RecordLayout, recordKeys } from '../io/record-keys.js';
import { recordOrder } from '../io/record-order.js';
import { UnitMultiset } from '../io/unit-multiset.js';
import { type Console, print } from './console.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { grouped } from './table.js';

interface RecordCheck {
  readonly file: string;
  readonly against: string | undefined;
  readonly format: string;
  readonly json: boolean;
}

/** `clsort check` of a file of records. */
export async function checkRecords(
  layout: RecordLayout,
  { file, against, format, json }: RecordCheck,
  console: Console,
): Promise<ExitCode> {
  const { stdin, signal } = console;
  const order = recordOrder(layout);
  const points = randomPoints();
  const multiset = () => new UnitMultiset(order.unit, points);
  const records = against === undefined ? undefined : multiset();
  const opened = await openRecords(file, stdin, { format, signal });
  const { n, descent } = await checkUnits(opened, order, records).finally(() => opened.close());
  let permutation: boolean | null = null;
  if (records && against !== undefined) {
    const other = await openRecords(against, stdin, { format, signal });
    const others = multiset();
    await addUnits(other, order.unit, others).finally(() => other.close());
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
    print(console, `${opened.name}: ${grouped(n)} ${order.units}, by ${keys.join(', ')}`);
    print(
      console,
      sorted ? 'order: right' : `order: WRONG, record ${descent} belongs before the one in front of it`,
    );
    if (permutation === true) print(console, `permutation: right, the records are those of ${against}`);
    if (permutation === false) print(console, `permutation: WRONG, the records are not those of ${against}`);
  }
  return sorted && permutation !== false ? EXIT.ok : EXIT.notSorted;
}
