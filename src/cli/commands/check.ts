import { addKeys, checkOrder } from '../../io/check.js';
import { assertRawInput, keyFormat } from '../../io/keys.js';
import { Multiset, randomPoints } from '../../io/multiset.js';
import { isStdin, openSource } from '../../io/raw.js';
import { UsageError } from '../../util/errors.js';
import { readOrder } from '../arguments.js';
import { checkRecords } from '../check-records.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { CheckArguments } from '../options/check.js';
import { readRecords } from '../record-options.js';
import { grouped } from '../table.js';

export async function run(args: CheckArguments, console: Console): Promise<ExitCode> {
  const records = readRecords(args);
  const format = keyFormat(args.format);
  if (isStdin(args.file) && args.against !== undefined && isStdin(args.against)) {
    throw new UsageError("both files are '-': only one can be read from stdin");
  }
  if (records) return checkRecords(records, { ...args, format }, console);
  const { info, ...order } = readOrder(args);
  const opened = await openSource(args.file, console.stdin, console.signal);
  try {
    await assertRawInput(opened, args.file, { dtype: order.dtype, format });
    // One look is enough, so that a pipe of any length can be checked.
    const points = randomPoints();
    const keys = args.against === undefined ? undefined : new Multiset(info, points);
    const { n, descent } = await checkOrder(opened, order, keys);
    let permutation: boolean | null = null;
    if (keys && args.against !== undefined) {
      const against = await openSource(args.against, console.stdin, console.signal);
      try {
        await assertRawInput(against, args.against, { dtype: order.dtype, format });
        const others = new Multiset(info, points);
        await addKeys(against, others, info);
        permutation = keys.equals(others);
      } finally {
        await against.close();
      }
    }
    const sorted = descent === undefined;
    if (args.json) {
      const first = descent
        ? { at: descent.at, before: String(descent.before), key: String(descent.key) }
        : null;
      const { dtype, descending } = order;
      print(
        console,
        JSON.stringify({
          schema: 'clsort.check/1',
          n,
          dtype,
          descending,
          sorted,
          permutation,
          firstOutOfOrder: first,
        }),
      );
    } else {
      const direction = order.descending ? 'descending' : 'ascending';
      print(console, `${opened.name}: ${grouped(n)} ${order.dtype} keys, ${direction}`);
      print(
        console,
        descent
          ? `order: WRONG, key ${descent.at} (${descent.key}) belongs before the one in front of it (${descent.before})`
          : 'order: right',
      );
      if (permutation !== null) {
        print(
          console,
          permutation
            ? `permutation: right, the keys are those of ${args.against}`
            : `permutation: WRONG, the keys are not those of ${args.against}`,
        );
      }
    }
    return sorted && permutation !== false ? EXIT.ok : EXIT.notSorted;
  } finally {
    await opened.close();
  }
}
