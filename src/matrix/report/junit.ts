import { escapeMarkup } from '../../util/markup.js';
import { commandOf } from './command.js';
import { type CellReport, type DeviceReport, type MatrixReport, statusCounts } from './report.js';

/** Formats a matrix as JUnit XML for continuous integration: a suite per device, a test case per cell. */
export function junitReport({ devices }: MatrixReport): string {
  const all = devices.flatMap(({ cells }) => cells);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="clsort matrix" ${countsOf(all)}>`,
    ...devices.flatMap((device) => [
      `  <testsuite name="${escapeMarkup(`${device.name} (${device.platform}, driver ${device.driver})`)}" ${countsOf(device.cells)}>`,
      ...device.cells.map((cell) => testCase(device, cell)),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n');
}

function countsOf(cells: readonly CellReport[]): string {
  const {
    wrong = 0,
    error = 0,
    crash = 0,
    timeout = 0,
    skipped = 0,
  } = Object.fromEntries(statusCounts(cells));
  const seconds = cells.reduce((sum, cell) => sum + cell.seconds, 0);
  return `tests="${cells.length}" failures="${wrong}" errors="${error + crash + timeout}" skipped="${skipped}" time="${seconds.toFixed(3)}"`;
}

function testCase(device: DeviceReport, cell: CellReport): string {
  const { operation, algorithm, dtype, status, seconds, skipped = '', bad = [] } = cell;
  const begin =
    `    <testcase name="${escapeMarkup(`${operation} ${algorithm} ${dtype}`)}" ` +
    `classname="${escapeMarkup(`${device.platform}.${operation}`)}" time="${seconds.toFixed(3)}"`;
  if (status === 'ok') return `${begin}/>`;
  if (status === 'skipped') return `${begin}><skipped message="${escapeMarkup(skipped)}"/></testcase>`;
  const element = status === 'wrong' ? 'failure' : 'error';
  const [first] = bad;
  const listed = bad.map((one) => [
    `${one.outcome}: n ${one.n}, ${one.order}, ${one.keys} keys of seed ${one.seed}: ${one.reason}`,
    ...(one.plan === undefined ? [] : [`plan: ${one.plan}`]),
    `repeat: ${commandOf(device, cell, one)}`,
  ]);
  return `${begin}><${element} type="${status}" message="${escapeMarkup(first?.reason ?? '')}">${escapeMarkup(listed.flat().join('\n'))}</${element}></testcase>`;
}
