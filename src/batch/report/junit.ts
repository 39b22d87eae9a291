import { escapeMarkup } from '../../util/markup.js';
import type { BatchReport, ReportRow } from './batch-report.js';

/** Formats a batch report as JUnit XML for continuous integration: each job is a test case. */
export function junitReport({ name, summary, rows }: BatchReport): string {
  const { jobs, failed, skipped, seconds } = summary;
  const counts = `tests="${jobs}" failures="${failed}" errors="0" skipped="${skipped}" time="${seconds.toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="clsort batch" ${counts}>`,
    `  <testsuite name="${escapeMarkup(name)}" ${counts}>`,
    ...rows.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ name, outcome, out, seconds = 0, error }: ReportRow): string {
  const begin = `    <testcase name="${escapeMarkup(name)}" classname="${escapeMarkup(out)}" time="${seconds.toFixed(3)}"`;
  if (outcome === 'skipped') return `${begin}><skipped/></testcase>`;
  if (!error) return `${begin}/>`;
  const message = escapeMarkup(error.message);
  return `${begin}><failure type="${escapeMarkup(error.code)}" message="${message}">${message}</failure></testcase>`;
}
