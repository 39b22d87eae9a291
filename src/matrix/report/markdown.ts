import { markdownCell } from '../../util/markup.js';
import type { Outcome } from '../row.js';
import { commandOf, deviceCommandOf } from './command.js';
import {
  type CellReport,
  countsText,
  type DeviceReport,
  gridOf,
  type MatrixReport,
  statusCounts,
} from './report.js';

const WORDS: Readonly<Record<Outcome, string>> = {
  ok: 'ok',
  skipped: '–',
  wrong: '**wrong**',
  error: '**error**',
  crash: '**crash**',
  timeout: '**timeout**',
};

/** Formats a matrix as Markdown: per device a table of cells, the failures, and the reasons for skipped cases. */
export const markdownReport = ({ devices }: MatrixReport): string =>
  ['# Test matrix of clsort', '', ...devices.flatMap(section)].join('\n');

function section(device: DeviceReport): string[] {
  const { name, platform, driver, opencl, clsort, date, level, seed, cells } = device;
  const { dtypes, rows } = gridOf(device);
  const lines = rows.map(({ operation, algorithm, cells: own }) => {
    const words = own.map((cell) => (cell ? WORDS[cell.status] : ''));
    return `| ${[operation, algorithm, ...words].join(' | ')} |`;
  });
  return [
    `## ${markdownCell(name)} (${markdownCell(platform)})`,
    '',
    `${countsText(statusCounts(cells))} · driver ${markdownCell(driver)} · OpenCL ${opencl} · ${level}, seed ${seed} · clsort ${clsort} · ${date}`,
    '',
    `    ${deviceCommandOf(device)}`,
    '',
    `| operation | algorithm | ${dtypes.join(' | ')} |`,
    `|---|---|${dtypes.map(() => '---|').join('')}`,
    ...lines,
    '',
    ...failures(device),
    ...skips(cells),
  ];
}

function failures(device: DeviceReport): string[] {
  const listed = device.cells.flatMap((cell) =>
    (cell.bad ?? [])
      .slice(0, 1)
      .flatMap((one) => [
        `- ${cell.operation}, ${cell.algorithm}, ${cell.dtype}: ${one.outcome} with n ${one.n}, ${one.order}, ${one.keys} keys: ${markdownCell(one.reason)}`,
        '',
        `      ${commandOf(device, cell, one)}`,
        '',
      ]),
  );
  return listed.length > 0 ? ['Failures:', '', ...listed] : [];
}

/** Lists one reason per algorithm or operation: reasons differ only in types and sizes. */
function skips(cells: readonly CellReport[]): string[] {
  const reasons = new Map<string, string>();
  for (const { operation, algorithm, skipped } of cells) {
    const who = algorithm === 'none' || algorithm === 'auto' ? operation : algorithm;
    if (skipped !== undefined && !reasons.has(who)) reasons.set(who, skipped);
  }
  const listed = [...reasons].map(([who, reason]) => `- ${who}: ${markdownCell(reason)}`);
  return listed.length > 0 ? ['Skipped for some or all sizes:', '', ...listed, ''] : [];
}
