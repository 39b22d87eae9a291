/** Formats rows of `clsort bench calls` as cells, plots and a page. */
import { type CallBench, type CallPlace, type CallRow, PLACES } from './calls.js';
import { csvOf, markdownOf, milliseconds, titleOf } from './format.js';
import { htmlPage } from './html.js';
import { type Plot, type PlotLine, panelsOf, plotsFile } from './plot.js';

/** Returns the seconds of an awaited call beyond its kernels; undefined when the kernel time is unknown. */
export const overhead = ({ awaited, kernel }: CallRow): number | undefined =>
  awaited && kernel && awaited.median - kernel.median;

/** Returns the kernels' share of the time of a chain; undefined when the kernel time is unknown. */
export const busyShare = ({ chained, kernel }: CallRow): number | undefined =>
  chained && kernel && kernel.median / chained.median;

const COLUMNS: readonly (readonly [heading: string, cell: (row: CallRow) => string | number])[] = [
  ['operation', (row) => row.operation],
  ['arrays', (row) => row.place],
  ['keys', (row) => row.n],
  ['result', (row) => row.result],
  ['awaited ms', (row) => milliseconds(row.awaited?.median)],
  ['± ms', (row) => milliseconds(row.awaited?.mad)],
  ['in a chain ms', (row) => milliseconds(row.chained?.median)],
  ['± ms', (row) => milliseconds(row.chained?.mad)],
  ['of calls', (row) => row.chain ?? ''],
  ['kernels ms', (row) => milliseconds(row.kernel?.median)],
  ['over kernels µs', (row) => scaled(overhead(row), 1e6)],
  ['% busy in a chain', (row) => scaled(busyShare(row), 100)],
  ['reason', (row) => row.reason ?? ''],
];

const scaled = (value: number | undefined, factor: number): string =>
  value === undefined ? '' : (value * factor).toFixed(1);

export const callHeadings: readonly string[] = COLUMNS.map(([heading]) => heading);

export const callCells = (row: CallRow): string[] => COLUMNS.map(([, cell]) => String(cell(row)));

const linesOfCells = ({ rows }: CallBench): (readonly string[])[] => [callHeadings, ...rows.map(callCells)];

export const callsCsv = (bench: CallBench): string => csvOf(linesOfCells(bench));

export const callsMarkdown = (bench: CallBench): string =>
  `${titleOf(bench)}\n\n${markdownOf(linesOfCells(bench))}`;

/** Returns a line per operation over the number of keys, from the rows for which `value` is defined. */
function linesOf(
  rows: readonly CallRow[],
  value: (row: CallRow) => Omit<PlotLine['points'][number], 'x'> | undefined,
): PlotLine[] {
  return [...new Set(rows.map(({ operation }) => operation))].flatMap((name) => {
    const points = rows.flatMap((row) => {
      const found = row.operation === name && row.result === 'ok' && row.n > 0 ? value(row) : undefined;
      return found ? [{ x: row.n, ...found }] : [];
    });
    return points.length > 0 ? [{ name, points }] : [];
  });
}

/** Plots keys per second of calls that are awaited one by one. */
export function callsPlots(bench: CallBench, place: CallPlace): Plot[] {
  return panelsOf({
    title:
      place === 'device' ? 'Awaited calls on device arrays' : 'Awaited calls from typed array to typed array',
    subtitle: titleOf(bench),
    x: 'keys',
    y: 'keys per second',
    scale: 'log',
    lines: linesOf(
      bench.rows.filter((row) => row.place === place),
      ({ n, awaited }) => {
        if (!awaited) return undefined;
        const { median, mad } = awaited;
        const bar = mad > 0 && mad < median ? { low: n / (median + mad), high: n / (median - mad) } : {};
        return { y: n / median, ...bar };
      },
    ),
  });
}

/** Plots the kernels' share of the time of chains, on device arrays. */
export function busyPlots(bench: CallBench): Plot[] {
  return panelsOf({
    title: 'Chains of calls on device arrays: share of their time that kernels take',
    subtitle: titleOf(bench),
    x: 'keys',
    y: 'share of the time',
    scale: 'share',
    lines: linesOf(
      bench.rows.filter(({ place }) => place === 'device'),
      (row) => {
        const y = busyShare(row);
        return y === undefined ? undefined : { y };
      },
    ),
  });
}

const plottedPlace = ({ rows }: CallBench): CallPlace =>
  rows.some(({ place }) => place === 'device') ? 'device' : 'host';

/** Returns the plot of keys per second as a file; for device arrays if they were measured. */
export const callsSvg = (bench: CallBench): string => plotsFile(callsPlots(bench, plottedPlace(bench)));

const figuresOf = (plots: readonly Plot[], id: string, caption: string) =>
  plots.map((plot, i) => ({ plot, id: `${id}-${i}`, caption }));

/**
 * Returns the page of `clsort bench calls`.
 *
 * @param command the command line that repeats it
 */
export function callsHtml(bench: CallBench, command: string): string {
  return htmlPage({
    title: 'clsort bench calls',
    about: [
      `${titleOf(bench)}, ${bench.platform}; load average before: ${bench.load.toFixed(2)}`,
      'u32 keys, wall time, medians. Kernels are those of a profiled call, in a run of their own; where an operation has several steps, no report tells all of them.',
    ],
    command,
    figures: [
      ...PLACES.flatMap((place) =>
        figuresOf(
          callsPlots(bench, place),
          place,
          'Each call is awaited before the next one. Bars are the median deviation.',
        ),
      ),
      ...figuresOf(busyPlots(bench), 'busy', 'The device waits for the rest of the time, up to 100 %.'),
    ],
    headings: callHeadings,
    rows: bench.rows.map((row) => ({ cells: callCells(row), isRight: row.result === 'ok' })),
  });
}
