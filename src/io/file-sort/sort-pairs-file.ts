/** A file sort of keys with one value per key. */

import { dtypeInfo } from '../../keys/dtype.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { SortReport } from '../../sort/model/report.js';
import { InputError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { withInputs } from '../formats/inputs.js';
import { readKeys } from '../formats/key-array.js';
import { inputOptionsOf, targetOf, writeKeyFile } from '../formats/keys.js';
import { textOptionsOf } from '../formats/text/text-options.js';
import { withOutput } from '../streams/output.js';
import { assertNotAborted, isStdout } from '../streams/raw.js';
import { assertSeparate } from '../streams/same-file.js';
import { measure } from '../streams/spans.js';
import { type FileContext, type FileJob, type FileReport, sortOptions } from './file-job.js';
import { onlyReport } from './sort-reports.js';

export interface PairsJob extends FileJob {
  /** File with one value per key, in a format or with a name that defines its dtype. */
  readonly values: string;
  /** Path of the output for the values, in the order of their keys. */
  readonly valuesOut: string;
}

/** @throws UsageError when an output would replace another file of the sort */
async function assertApart({ in: inputs, out, values, valuesOut }: PairsJob): Promise<void> {
  if (isStdout(valuesOut)) throw invalidArgument('--values-out', 'the path of a file', valuesOut);
  await assertSeparate('values', valuesOut, [...[inputs].flat(), out]);
  await assertSeparate('keys', out, [values]);
}

/**
 * Sorts the keys of files and moves their values along. Holds everything in memory.
 *
 * @param sorter sorts the pairs
 * @param job inputs, outputs and options
 * @param context streams and callbacks
 * @throws UsageError when an option is invalid
 * @throws InputError when the numbers of keys and values differ
 * @throws DtypeError when a dtype is missing or contradicts the file
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading or writing fails
 * @throws the errors of `Sorter.sortPairs`
 */
export async function sortPairsFile(
  sorter: Sorter,
  job: PairsJob,
  context: FileContext,
): Promise<FileReport> {
  await assertApart(job);
  const { header, delimiter, out, values, valuesOut } = job;
  const { signal } = context;
  const reports: SortReport[] = [];
  const options = sortOptions(job, context, (one) => reports.push(one));
  return withInputs([job.in].flat(), context, (openKeys) =>
    withInputs([values], context, async (openValues) => {
      const reader = await openKeys(inputOptionsOf(job));
      const beside = await openValues(textOptionsOf(job));
      const target = await targetOf(reader, out, { ...job, verify: false, signal });
      const valueTarget = await targetOf(beside, valuesOut, { header, delimiter, signal });
      const [[keys, all], readSeconds] = await measure(
        async () => [await readKeys(reader), await readKeys(beside)] as const,
      );
      if (keys.length !== all.length) {
        throw new InputError(
          `cannot sort pairs: there are ${keys.length} keys, and ${all.length} values in ${values}`,
          { details: { keys: keys.length, values: all.length } },
        );
      }
      assertNotAborted(signal);
      const sorted = await sorter.sortPairs(keys, all, { ...options, dtype: reader.dtype });
      const [, writeSeconds] = await measure(() =>
        withOutput(out, context, (keyOutput) =>
          withOutput(valuesOut, context, async (valueOutput) => {
            await writeKeyFile(target, keyOutput, sorted.keys, {
              dtype: reader.dtype,
              column: reader.column,
            });
            await writeKeyFile(valueTarget, valueOutput, sorted.values, {
              dtype: beside.dtype,
              column: beside.column,
            });
          }),
        ),
      );
      const report = onlyReport(reports);
      return {
        ...report,
        dtype: dtypeInfo(report.dtype).name,
        descending: job.descending ?? false,
        argsort: false,
        formats: [reader.format, target.format],
        ...{ shape: [keys.length], readSeconds, writeSeconds },
      };
    }),
  );
}
