/** Formats a matrix report for a terminal. */

import { commandOf } from '../matrix/report/command.js';
import type { Change, Comparison, DeviceComparison } from '../matrix/report/compare.js';
import {
  countsText,
  type DeviceReport,
  gridOf,
  type MatrixReport,
  statusCounts,
} from '../matrix/report/report.js';
import type { Outcome } from '../matrix/row.js';
import { secondsText, table } from './table.js';

const WORDS: Readonly<Record<Outcome, string>> = {
  ...{ ok: 'ok', skipped: '-', wrong: 'WRONG', error: 'ERROR', crash: 'CRASH', timeout: 'TIMEOUT' },
};

/** Formats a table per device, followed by the commands that repeat the failures. */
export const matrixText = ({ devices }: MatrixReport): string => devices.map(deviceText).join('\n\n');

function deviceText(device: DeviceReport): string {
  const { name, platform, driver, cells } = device;
  const { dtypes, rows } = gridOf(device);
  const lines = rows.map(({ operation, algorithm, cells: own }) => [
    operation,
    algorithm,
    ...own.map((cell) => (cell ? WORDS[cell.status] : '')),
  ]);
  const failures = cells.flatMap((cell) =>
    (cell.bad ?? [])
      .slice(0, 1)
      .map((one) => `${one.outcome}: ${one.reason}\n  ${commandOf(device, cell, one)}`),
  );
  return [
    `${name} (${platform}, driver ${driver}): ${countsText(statusCounts(cells))}`,
    table([['operation', 'algorithm', ...dtypes], ...lines]),
    ...failures,
  ].join('\n');
}

/** Formats a table of changes per device. */
export function comparisonText({ devices, onlyBefore, onlyAfter, factor }: Comparison): string {
  return [
    ...devices.map((device) => deviceChanges(device, factor)),
    ...onlyBefore.map((name) => `${name} is in the first report only`),
    ...onlyAfter.map((name) => `${name} is in the second report only`),
  ].join('\n');
}

function deviceChanges(
  { name, platform, drivers, compared, changes }: DeviceComparison,
  factor: number,
): string {
  const [before, after] = drivers;
  const driver = before === after ? `driver ${after}` : `driver ${before} → ${after}`;
  const worse = changes.filter(({ isWorse }) => isWorse).length;
  const head = `${name} (${platform}, ${driver}): ${compared} cells in both, ${changes.length} changed, ${worse} worse`;
  if (changes.length === 0) return `${head} (times by a factor of ${factor})`;
  const rows = changes.map((change) => [
    change.isWorse ? 'worse' : '',
    change.operation,
    change.algorithm,
    change.dtype,
    changeText(change),
  ]);
  return `${head}\n${table([['', 'operation', 'algorithm', 'dtype', 'change'], ...rows])}`;
}

function changeText({ is, before, after, seconds, ratio, reason }: Change): string {
  if (seconds) return `${secondsText(seconds[0])} → ${secondsText(seconds[1])}, ${ratio} × the time`;
  if (is === 'gone') return `${before}, no longer tested`;
  if (is === 'new') return `${after}, not tested before`;
  return `${before} → ${after}${reason === undefined ? '' : `: ${reason.split('\n')[0]}`}`;
}
