import { scanFiles } from '../../io/operations/primitive-files.js';
import { dtypeInfo } from '../../keys/dtype.js';
import type { ScanOp } from '../../primitives/possible.js';
import type { Console } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput, readTo } from '../key-files.js';
import type { ScanArguments } from '../options/scan.js';
import { printResult, runWithSorter } from '../run-with-sorter.js';
import { grouped } from '../table.js';

const RESULTS: Readonly<Record<ScanOp, string>> = {
  sum: 'sums',
  min: 'minima',
  max: 'maxima',
  product: 'products',
};

export async function run(args: ScanArguments, console: Console): Promise<ExitCode> {
  const { inclusive, in: inputs, op, out, verify, 'result-dtype': asked } = args;
  const resultDtype = asked === undefined ? undefined : dtypeInfo(asked).name;
  const result = { out, to: readTo(args), resultDtype };
  const job = { ...readInput(args), in: inputs, ...result, inclusive, op: op as ScanOp, verify };
  const {
    n,
    dtype,
    result: written,
    formats,
  } = await runWithSorter(args, console, (sorter, context) => scanFiles(sorter, job, context));
  const [from, to] = formats;
  printResult(args, console, {
    json: { schema: 'clsort.scan/1', n, dtype, result: written, op, inclusive, formats: { from, to } },
    text: `${inclusive ? 'inclusive' : 'exclusive'} prefix ${RESULTS[op as ScanOp]} of ${grouped(n)} ${dtype} keys${written === dtype ? '' : ` as ${written}`}`,
  });
  return EXIT.ok;
}
