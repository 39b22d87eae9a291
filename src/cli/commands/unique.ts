import { sortFile } from '../../io/file-sort/sort-file.js';
import { sortRecordFile } from '../../io/file-sort/sort-record-file.js';
import { readOrder } from '../arguments.js';
import type { Console } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput, readTo } from '../key-files.js';
import { readMemory, restart } from '../memory-options.js';
import type { UniqueArguments } from '../options/unique.js';
import { onlyInput, readRecords } from '../record-options.js';
import { printResult, runWithSorter } from '../run-with-sorter.js';
import { grouped } from '../table.js';

export async function run(args: UniqueArguments, console: Console): Promise<ExitCode> {
  const records = readRecords(args);
  const { counts, 'duplicates-only': duplicatesOnly, format, in: inputs, out, verify } = args;
  const keys = { ...readInput(args), ...readOrder(args), to: readTo(args) };
  await restart(args, out);
  const how = { ...readMemory(args), out, unique: true, duplicatesOnly, counts, verify };
  const report = await runWithSorter(args, console, (sorter, context) =>
    records
      ? sortRecordFile(sorter, { ...records, ...how, format, in: onlyInput(inputs) }, context)
      : sortFile(sorter, { ...keys, ...how, in: inputs }, context),
  );
  const { n, distinct = 0, dtype, formats } = report;
  const [from, to] = formats;
  printResult(args, console, {
    json: {
      ...{ schema: 'clsort.unique/1', n, distinct, dtype: records ? null : dtype },
      formats: { from, to },
      external: report.external ?? null,
    },
    text:
      `${grouped(distinct)} ${duplicatesOnly ? 'of several equal ones' : 'distinct'} of ${grouped(n)} ` +
      (records ? `records of ${records.record} bytes` : `${dtype} keys`),
  });
  return EXIT.ok;
}
