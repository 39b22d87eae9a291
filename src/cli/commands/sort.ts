import { keyFormat } from '../../io/keys.js';
import { isStdout } from '../../io/raw.js';
import { type FileReport, sortFile } from '../../io/sort-file.js';
import { dtypeInfo } from '../../keys/dtype.js';
import type { Progress } from '../../sort/api/options.js';
import { readOrder } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { SortArguments } from '../options/sort.js';
import { ProgressBar } from '../progress-bar.js';
import { readRecords } from '../record-options.js';
import { reportJson, reportText, verifiedText } from '../sort-report.js';
import { sorterFor } from '../sorter-for.js';

export async function run(args: SortArguments, console: Console): Promise<ExitCode> {
  const what = readRecords(args) ?? readKeys(args);
  const format = keyFormat(args.format);
  if (args.algorithm !== 'auto' && args.algorithm !== 'host') {
    const { algorithmNamed } = await import('../../algorithms/registry.js'); // small sorts do without
    algorithmNamed(args.algorithm);
  }
  const bar = new ProgressBar(console);
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => {
    bar.clear();
    warnings.push(message);
    say(console, `clsort: warning: ${message}`);
  };
  const sorter = await sorterFor(
    args,
    'record' in what ? what.record : dtypeInfo(what.dtype).bytes,
    onWarning,
  );
  let report: FileReport;
  try {
    const { in: from, out, argsort, algorithm, verify, 'radix-bits': radixBits } = args;
    const scan = args.scan === 'auto' ? 'auto' : args.scan === '3' ? 3 : 5;
    const digits = radixBits !== undefined && { radixBits };
    const job = { in: from, out, argsort, algorithm, scan, ...digits, verify, format } as const;
    const onProgress = ({ phase, done, total }: Progress) => bar.update(phase, done, total);
    const context = { ...console, onWarning, onProgress };
    if ('record' in what) {
      const { sortRecordFile } = await import('../../io/sort-record-file.js');
      report = await sortRecordFile(sorter, { ...job, ...what }, context);
    } else {
      report = await sortFile(sorter, { ...job, ...what }, context);
    }
  } finally {
    bar.clear();
    await sorter.close();
  }
  const [tell, { isTTY }] = isStdout(args.out) ? [say, console.stderr] : [print, console.stdout];
  if (args.json) tell(console, reportJson(report, warnings));
  else if (args.report || (isTTY && !console.quiet)) tell(console, reportText(report));
  else if (report.verified) tell(console, verifiedText(report.verified));
  return EXIT.ok;
}

function readKeys(args: SortArguments) {
  const { info: _, ...order } = readOrder(args);
  return order;
}
