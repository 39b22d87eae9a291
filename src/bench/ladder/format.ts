/** Formats ladders as a table, plots and a page. */
import { deviceName } from '../../util/device-name.js';
import { htmlPage } from '../html.js';
import { type Plot, plotsFile } from '../plot.js';
import type { Claim } from './claims.js';
import type { Ladder, LadderName } from './ladder.js';
import type { LadderRow } from './ladder-row.js';

const milliseconds = (seconds: number | null): string =>
  seconds === null ? 'n/a' : (seconds * 1e3).toPrecision(4);

const COLUMNS: readonly (readonly [string, (row: LadderRow) => string])[] = [
  ['primitive', (row) => row.primitive],
  ['step', (row) => row.step],
  ['result', (row) => row.result],
  ['kernels ms', (row) => milliseconds(row.kernelSeconds)],
  ['± ms', (row) => milliseconds(row.madSeconds)],
  ['device ms', (row) => milliseconds(row.seconds)],
  ['end to end ms', (row) => milliseconds(row.endToEndSeconds)],
  ['GB/s', (row) => (row.bytesPerSecond === null ? 'n/a' : (row.bytesPerSecond / 1e9).toFixed(2))],
  ['% of copy', (row) => (row.copyShare === null ? 'n/a' : (row.copyShare * 100).toFixed(1))],
  ['x', (row) => (row.speedup === null ? 'n/a' : row.speedup.toFixed(2))],
  ['keys', (row) => row.n.toLocaleString('en-US')],
  ['task', (row) => row.task],
  ['on', (row) => row.device],
  ['', (row) => row.reason ?? ''],
];

export const ladderHeadings = COLUMNS.map(([name]) => name);
export const ladderCells = (row: LadderRow): string[] => COLUMNS.map(([, cell]) => cell(row));

const VERDICTS = { true: 'holds', false: 'fails here', null: 'not measured' } as const;

export const verdictOf = ({ holds }: Claim): string => VERDICTS[String(holds) as 'true' | 'false' | 'null'];

/** Formats a claim as one line. */
export const claimText = (claim: Claim): string =>
  `${verdictOf(claim)}: ${claim.claim} (${claim.task}, ${claim.n.toLocaleString('en-US')} keys, ${claim.device}): ${claim.reason}`;

/** Plots the steps of a task over the number of keys; with several devices, lines include the device name. */
export function taskPlot(
  { rows, devices }: Pick<Ladder, 'rows' | 'devices'>,
  primitive: LadderName,
  task: string,
): Plot {
  const own = rows.filter(
    (row) => row.primitive === primitive && row.task === task && row.bytesPerSecond !== null,
  );
  const nameOf = ({ device, step }: LadderRow): string =>
    devices.length > 1 && device !== 'host' ? `${step}, ${deviceName(device)}` : step;
  const names = [...new Set(own.map(nameOf))];
  const { size } = new Set(rows.map(({ n }) => n));
  return {
    title: `${primitive}: ${task}${size === 1 ? ', one size' : ''}`,
    subtitle: devices.map(({ info }) => `${deviceName(info.name)}, driver ${info.driver}`).join('; '),
    x: 'keys',
    y: 'GB/s of what the task must read and write',
    scale: 'log',
    lines: names.map((name) => ({
      name,
      points: own
        .filter((row) => nameOf(row) === name)
        .map((row) => {
          const rate = (row.bytesPerSecond ?? 0) / 1e9;
          const time = row.kernelSeconds ?? row.seconds ?? 0;
          const share = time > 0 ? Math.min(0.9, (row.madSeconds ?? 0) / time) : 0;
          return { x: row.n, y: rate, low: rate * (1 - share), high: rate * (1 + share) };
        }),
    })),
  };
}

/** Returns the tasks in the order in which they were measured. */
export const tasksOf = (rows: readonly LadderRow[]): (readonly [LadderName, string])[] => [
  ...new Map(
    rows.map(({ primitive, task }) => [`${primitive} ${task}`, [primitive, task] as const]),
  ).values(),
];

/** Returns all plots, stacked, as one SVG file. */
export const ladderSvg = (ladder: Ladder): string =>
  plotsFile(tasksOf(ladder.rows).map(([primitive, task]) => taskPlot(ladder, primitive, task)));

/**
 * Returns a page with the claims, the plots and all rows.
 *
 * @param command the command line that repeats it
 */
export function ladderHtml(ladder: Ladder, command: string): string {
  const { devices, rows, claims } = ladder;
  const about = devices.map(({ info, copyBytesPerSecond }) => {
    const copies =
      copyBytesPerSecond === null
        ? 'does not measure its copies'
        : `copies ${(copyBytesPerSecond / 1e9).toFixed(1)} GB/s, read and written`;
    return `${info.name}, ${info.platform}, driver ${info.driver}; ${copies}.`;
  });
  const claimTexts =
    'Medians of the kernels by their events where the device tells them, else of the host\u2019s clock; bars are the median deviation. ' +
    'GB/s counts what the task has to read and write once.';
  return htmlPage({
    title: 'clsort bench ladder',
    about: [...about, claimTexts],
    command,
    figures: tasksOf(rows).map(([primitive, task], i) => ({
      plot: taskPlot(ladder, primitive, task),
      id: `task-${i}`,
      caption:
        claims.filter((one) => one.primitive === primitive && one.task === task).length > 0
          ? 'Its claims are below.'
          : '',
    })),
    found: claims.map(claimText),
    headings: ladderHeadings,
    rows: rows.map((row) => ({ cells: ladderCells(row), isRight: row.result === 'right' })),
  });
}
