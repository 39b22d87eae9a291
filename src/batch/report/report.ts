/** Reports of finished batches. */
import { extname } from 'node:path';
import { type OutputContext, withOutput } from '../../io/streams/output.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import type { BatchReport } from './batch-report.js';
import { htmlReport } from './html.js';
import { junitReport } from './junit.js';
import { markdownReport } from './markdown.js';

const FORMATS: Readonly<Record<string, (report: BatchReport) => string>> = {
  '.json': (report) => `${JSON.stringify({ schema: 'clsort.batch-report/1', ...report }, null, 2)}\n`,
  '.md': markdownReport,
  '.xml': junitReport,
  '.html': htmlReport,
};

/**
 * Returns the extension of a report file, which determines its format.
 *
 * @throws UsageError when the extension is not supported
 */
export function reportFormat(file: string): string {
  const extension = extname(file).toLowerCase();
  if (Object.hasOwn(FORMATS, extension)) return extension;
  throw invalidArgument('--report', `a file name that ends in ${Object.keys(FORMATS).join(', ')}`, file);
}

/** @throws IoError when writing fails */
export async function writeReport(
  file: string,
  format: string,
  report: BatchReport,
  context: OutputContext,
): Promise<void> {
  const text = FORMATS[format]?.(report) ?? '';
  // Ignores the signal of the context, so that an interrupted batch is also reported.
  const signal = new AbortController().signal;
  await withOutput(file, { ...context, signal }, (output) => output.write(Buffer.from(text)));
}
