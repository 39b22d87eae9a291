import { deviceName } from '../util/device-name.js';
import { type Plot, type PlotLine, plotFile } from './plot.js';
import type { SortBench, SortRow } from './sorts.js';
import type { Timing } from './statistics.js';

type Column = readonly [heading: string, cell: (row: SortRow) => string | number];

const COLUMNS: readonly Column[] = [
  ['algorithm', (row) => row.algorithm],
  ['dtype', (row) => row.dtype],
  ['mode', (row) => row.mode],
  ['distribution', (row) => row.distribution],
  ['keys', (row) => row.n],
  ['result', (row) => row.result],
  ['kernel ms', (row) => milliseconds(row.kernel?.median)],
  ['± ms', (row) => milliseconds(row.kernel?.mad)],
  ['end to end ms', (row) => milliseconds(row.endToEnd?.median)],
  ['± ms', (row) => milliseconds(row.endToEnd?.mad)],
  ['Mkeys/s', (row) => (row.keysPerSecond === undefined ? '' : (row.keysPerSecond / 1e6).toFixed(1))],
  ['GB/s', (row) => (row.bytesPerSecond === undefined ? '' : (row.bytesPerSecond / 1e9).toFixed(2))],
  ['% of copy', (row) => (row.copyShare === undefined ? '' : (row.copyShare * 100).toFixed(1))],
  ['compile ms', (row) => milliseconds(row.compileSeconds)],
  ['checked', (row) => row.checked ?? ''],
  ['reason', (row) => row.reason ?? ''],
];
const DEVICE: Column = ['device', (row) => row.device ?? ''];

/** Returns the columns; results of several devices have a column for the device. */
const columnsOf = (several: boolean): readonly Column[] => (several ? [DEVICE, ...COLUMNS] : COLUMNS);

export const milliseconds = (seconds?: number): string =>
  seconds === undefined ? '' : (seconds * 1e3).toFixed(3);

export const headings = (several: boolean): string[] => columnsOf(several).map(([heading]) => heading);

export const cells = (row: SortRow): string[] =>
  columnsOf(row.device !== undefined).map(([, cell]) => String(cell(row)));

export const titleOf = ({ device, driver, date }: Pick<SortBench, 'device' | 'driver' | 'date'>): string =>
  `${deviceName(device)}, driver ${driver}, ${date}`;

/** Formats lines of cells, the heading first, as CSV (RFC 4180). */
export function csvOf(lines: readonly (readonly string[])[]): string {
  const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return lines.map((line) => line.map(quoted).join(',')).join('\n');
}

/** Formats lines of cells, the heading first, as a Markdown table. */
export function markdownOf([names = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (texts: readonly string[]): string =>
    `| ${texts.map((text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(names), line(names.map(() => '---')), ...rows.map(line)].join('\n');
}

const linesOfCells = (benches: readonly SortBench[]): string[][] => [
  headings(benches.length > 1),
  ...benches.flatMap((bench) => bench.rows.map(cells)),
];

export const csv = (benches: readonly SortBench[]): string => csvOf(linesOfCells(benches));

export const markdown = (benches: readonly SortBench[]): string =>
  `${benches.map(titleOf).join('; ')}\n\n${markdownOf(linesOfCells(benches))}`;

const AXES = ['device', 'algorithm', 'dtype', 'mode', 'distribution'] as const;

/**
 * Returns the rows for which `value` is defined as lines over the number of keys, named by the axes in which they
 * differ.
 */
function linesOf(
  rows: readonly SortRow[],
  value: (row: SortRow) => { readonly y: number; readonly noise?: Timing | undefined } | undefined,
): PlotLine[] {
  const differs = AXES.filter((axis) => new Set(rows.map((row) => row[axis])).size > 1);
  const nameOf = (row: SortRow): string =>
    (differs.length > 0 ? differs : (['algorithm'] as const)).map((axis) => row[axis]).join(' ');
  const lines = new Map<string, PlotLine['points'][number][]>();
  for (const row of rows) {
    const found = row.result === 'ok' && row.n > 0 ? value(row) : undefined;
    if (!found) continue;
    const { y, noise } = found;
    const share = noise ? noise.mad / noise.median : 0;
    const bar = share > 0 && share < 1 ? { low: y / (1 + share), high: y / (1 - share) } : {};
    const points = lines.get(nameOf(row)) ?? [];
    // The algorithm that `auto` chose may also have been measured by name: the faster one is used.
    const same = points.findIndex(({ x }) => x === row.n);
    if (same < 0) points.push({ x: row.n, y, ...bar });
    else if (y > (points[same]?.y ?? 0)) points[same] = { x: row.n, y, ...bar };
    lines.set(nameOf(row), points);
  }
  return [...lines].map(([name, points]) => ({ name, points }));
}

const noiseOf = ({ kernel, endToEnd }: SortRow): Timing | undefined => kernel ?? endToEnd;

/** Plots keys per second over the number of keys. */
export function speedPlot(benches: readonly SortBench[]): Plot {
  const rows = benches.flatMap((bench) => bench.rows);
  return {
    title: 'Sorts by algorithm',
    subtitle: benches.map(titleOf).join('; '),
    x: 'keys',
    y: 'keys per second',
    scale: 'log',
    lines: linesOf(rows, (row) =>
      row.keysPerSecond ? { y: row.keysPerSecond, noise: noiseOf(row) } : undefined,
    ),
  };
}

/** Plots the share of the copy bandwidth, computed from the minimum traffic of a radix sort. */
export function sharePlot(benches: readonly SortBench[]): Plot {
  const rows = benches.flatMap((bench) => bench.rows);
  return {
    title: 'Share of the limit: of the bandwidth of a copy, by the fewest bytes that a radix sort moves',
    x: 'keys',
    y: 'share of the limit',
    scale: 'share',
    lines: linesOf(rows, (row) => (row.copyShare ? { y: row.copyShare, noise: row.kernel } : undefined)),
  };
}

/**
 * Plots the speed of each algorithm relative to the fastest one at the same size; the fastest changes where lines
 * cross.
 */
export function crossoverPlot(benches: readonly SortBench[]): Plot {
  const rows = benches.flatMap((bench) => bench.rows);
  const kindOf = ({ device, dtype, mode, distribution, n }: SortRow): string =>
    JSON.stringify([device, dtype, mode, distribution, n]);
  const fastest = new Map<string, number>();
  for (const row of rows) {
    if (row.result !== 'ok') continue;
    fastest.set(kindOf(row), Math.max(fastest.get(kindOf(row)) ?? 0, row.keysPerSecond ?? 0));
  }
  return {
    title: 'Crossover: speed as a share of the fastest at that size',
    x: 'keys',
    y: 'share of the fastest',
    scale: 'share',
    lines: linesOf(rows, (row) => {
      const best = fastest.get(kindOf(row));
      return best && row.keysPerSecond ? { y: row.keysPerSecond / best } : undefined;
    }),
  };
}

/** Returns the plot of keys per second as a file. */
export const svg = (benches: readonly SortBench[]): string => plotFile(speedPlot(benches));
