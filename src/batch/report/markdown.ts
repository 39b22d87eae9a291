import { deviceName } from '../../util/device-name.js';
import { markdownCell as cell } from '../../util/markup.js';
import { type BatchReport, byName, headline } from './batch-report.js';

/** Formats a batch report as Markdown: failures first, then all jobs. */
export function markdownReport(report: BatchReport): string {
  const sorted = byName(report.rows);
  const failures = sorted.filter(({ error }) => error);
  const rows = sorted.map(({ name, outcome, n, seconds, algorithm, device }) => {
    const facts = [
      n?.toLocaleString('en-US') ?? '',
      seconds?.toFixed(3) ?? '',
      algorithm ?? '',
      device ? deviceName(device.name) : '',
    ];
    return `| ${[cell(name), outcome, ...facts.map(cell)].join(' | ')} |`;
  });
  const listed = failures.map(
    ({ name, error }) => `| ${cell(name)} | ${error?.code} | ${cell(error?.message ?? '')} |`,
  );
  const failed = ['## Failed', '', '| job | code | error |', '|---|---|---|', ...listed, ''];
  return [
    `# Batch ${cell(report.name)}`,
    '',
    headline(report),
    '',
    ...(listed.length > 0 ? failed : []),
    '## Jobs',
    '',
    '| job | outcome | n | seconds | algorithm | device |',
    '|---|---|--:|--:|---|---|',
    ...rows,
    '',
  ].join('\n');
}
