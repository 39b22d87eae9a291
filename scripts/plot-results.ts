/**
 * Draws the stored results: a plot per file and kind of measurement, next to the data.
 *
 *     node dist/scripts/plot-results.js [--check]
 *
 * With `--check` nothing is written; the exit code is 1 when a plot is out of date. Files with names ending in
 * `-calls.json` come from `clsort bench calls --json` or `bench-peers.js --calls`, with a plot per location of the
 * arrays. Those ending in `-ladder.json` come from `clsort bench ladder --json`, with the plots of all tasks in one
 * file.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CallBench, PLACES } from '../src/bench/calls.js';
import { callsPlots } from '../src/bench/calls-format.js';
import { svg } from '../src/bench/format.js';
import { ladderSvg } from '../src/bench/ladder/format.js';
import type { Ladder } from '../src/bench/ladder/ladder.js';
import { type PlotLine, panelsOf, plotFile, plotsFile, prefixed } from '../src/bench/plot.js';
import type { SortBench } from '../src/bench/sorts.js';
import type { Timing } from '../src/bench/statistics.js';
import { deviceName } from '../src/util/device-name.js';
import { packageRoot } from '../src/util/paths.js';
import { type Bar, barChartFile } from './bar-chart.js';

/** Cores of the CPUs that were measured. */
const CORES = 2;

const FOLDER = join(packageRoot, 'scripts', 'results');

interface Peers {
  readonly device: string;
  readonly driver: string;
  readonly date: string;
  readonly rows: readonly {
    readonly n: number;
    readonly sort: string;
    readonly mode: string;
    /** 'missing' or 'wrong' for a peer without a valid result. */
    readonly time?: Timing | 'missing' | 'wrong';
  }[];
}

interface Device {
  readonly device: string;
  readonly driver: string;
  readonly date: string;
  readonly rows: readonly {
    readonly algorithm: string;
    readonly dtype: string;
    readonly valueBytes: number;
    readonly n: number;
    readonly distribution: string;
    readonly queuedMilliseconds?: number;
    readonly cub?: { readonly queued: { readonly int: number; readonly size_t: number } };
  }[];
}

/** Output of `bench-multi-device.js --json`, of several runs. */
interface MultiDeviceResults {
  readonly devices: readonly { readonly name: string; readonly driver: string }[];
  readonly runs: readonly {
    readonly date: string;
    readonly rows: readonly {
      readonly way: 'host' | 'spread' | 'there';
      readonly dtype: string;
      readonly memory: string;
      readonly n: number;
      readonly devices: number;
      readonly milliseconds: number;
      readonly boundMilliseconds: number;
    }[];
  }[];
}

/** Output of `bench-batch.mjs --json`. */
interface Batch {
  readonly files: number;
  readonly sets: readonly {
    readonly device: string;
    readonly seconds: { readonly batch: readonly number[] };
  }[];
}

/** Output of `bench-host.js --json`. */
interface HostResults {
  readonly cpu: string;
  readonly cores: number;
  readonly rows: readonly {
    readonly dtype: string;
    readonly n: number;
    readonly sort: string;
    readonly mkeys: number;
  }[];
}

/** Reads a file of results, with the names of devices as people say them. */
function read(file: string): unknown {
  const isName = (key: string, value: unknown): value is string =>
    (key === 'device' || key === 'name') && typeof value === 'string';
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8'), (key, value) =>
    isName(key, value) ? deviceName(value, CORES) : value,
  );
}

/** Groups points by name into lines, in the order of first occurrence; the fastest point of each size counts. */
function linesOf(points: readonly { name: string; x: number; y: number }[]): PlotLine[] {
  return [...new Set(points.map(({ name }) => name))].map((name) => {
    const best = new Map<number, number>();
    for (const { x, y } of points.filter((point) => point.name === name)) {
      best.set(x, Math.max(best.get(x) ?? 0, y));
    }
    return { name, points: [...best].map(([x, y]) => ({ x, y })) };
  });
}

const plotOf = (
  title: string,
  { device, driver, date }: Peers | Device,
  lines: readonly PlotLine[],
): string =>
  plotFile({
    title,
    subtitle: `${device}, driver ${driver}, ${date}`,
    x: 'keys',
    y: 'keys per second',
    scale: 'log',
    lines,
  });

/** Plots clsort and other sorts of u32 keys. */
function peersPlot(file: string, mode: string, title: string): string {
  const peers = read(file) as Peers;
  const points = peers.rows.flatMap(({ n, sort, mode: own, time }) =>
    own === mode && typeof time === 'object' ? [{ name: shortName(sort), x: n, y: n / time.median }] : [],
  );
  return plotOf(title, peers, linesOf(points));
}

/** Returns names as in the README, with only major and minor versions. */
const shortName = (name: string): string =>
  name
    .replace('TypedArray.prototype.sort', 'TypedArray.sort')
    .replace('clsort, into an array that is there', 'clsort, existing array')
    .replace('clsort, between arrays of alloc', 'clsort, pinned arrays')
    .replace('radix sort in JavaScript', 'JS radix sort')
    .replace(/^PyTorch on (?:the )?(\w+) (\S+)/, 'PyTorch $2, $1')
    .replace(/(\d+\.\d+)\.\d+(?:\+\w+)?/, '$1');

/** Returns millions of keys per second of 2^24 keys, by sort, the fastest first. */
function peerBars(file: string, mode: 'device' | 'end to end'): Bar[] {
  return (read(file) as Peers).rows
    .flatMap(({ n, sort, mode: own, time }) =>
      n === 2 ** 24 && own === mode && typeof time === 'object' && !sort.startsWith('clsort,')
        ? [{ name: shortName(sort), value: n / time.median / 1e6, highlighted: sort === 'clsort' }]
        : [],
    )
    .toSorted((a, b) => b.value - a.value);
}

/** Returns the chart of the README, the landing page and the top of the performance page. */
function overviewChart(): string {
  const [gpu, cpu] = ['h200-peers.json', 'pocl-peers.json'] as const;
  const nameOf = (file: string): string => (read(file) as Peers).device;
  return barChartFile({
    title: 'Sorting 16.8 million random 32-bit integers',
    axis: 'million numbers per second',
    legend: ['clsort', 'alternatives'],
    panels: [
      { title: nameOf(gpu), subtitle: 'data already in GPU memory', bars: peerBars(gpu, 'device') },
      {
        title: nameOf(gpu),
        subtitle: 'typed array to new typed array, copies included',
        bars: peerBars(gpu, 'end to end'),
      },
      { title: nameOf(cpu), subtitle: 'typed array to new typed array', bars: peerBars(cpu, 'end to end') },
    ],
  });
}

/** Returns the chart of the host engine beside other sorts on the CPU. */
function hostChart(): string {
  const panels = ['epyc-2-host-engine.json', 'xeon-16-host-engine.json'].flatMap((file) => {
    const { cpu, cores, rows } = read(file) as HostResults;
    const large = rows.filter(({ n }) => n === 2 ** 24);
    const ours = `clsort, ${cores} threads`;
    return ['u32', 'f64'].map((dtype) => ({
      title: `${deviceName(cpu, cores)}, ${cores} cores`,
      subtitle: `${dtype}, typed array to new typed array`,
      bars: large
        .filter((row) => row.dtype === dtype && (row.sort === ours || !row.sort.startsWith('clsort')))
        .map(({ sort, mkeys }) => ({
          name: shortName(sort.replace(' without', ', no')),
          value: mkeys,
          highlighted: sort === ours,
        }))
        .toSorted((a, b) => b.value - a.value),
    }));
  });
  return barChartFile({
    title: 'Sorting 16.8 million random numbers on a CPU',
    axis: 'million numbers per second',
    legend: ['clsort', 'alternatives'],
    panels,
  });
}

/** Plots clsort's fastest algorithm and CUB, by shape. */
function cubPlot(file: string): string {
  const device = read(file) as Device;
  const points = device.rows.flatMap(
    ({ dtype, valueBytes, n, distribution, queuedMilliseconds, cub, algorithm }) => {
      // The planner's choice; the others are in the table.
      if (distribution !== 'uniform' || !queuedMilliseconds || !cub || !/onesweep|persistent/.test(algorithm))
        return [];
      const shape = valueBytes > 0 ? `${dtype} pairs` : dtype;
      return [
        { name: `clsort, ${shape}`, x: n, y: n / (queuedMilliseconds / 1e3) },
        { name: `CUB, ${shape}`, x: n, y: n / (Math.min(cub.queued.int, cub.queued.size_t) / 1e3) },
      ];
    },
  );
  return plotOf('Data on the device', device, linesOf(points));
}

/** Returns the parallel efficiency (the speed-up divided by the number of devices), from the time of one device and theirs. */
function sharesOf(name: string, times: readonly { devices: number; time: number }[]): PlotLine {
  const minimum = (devices: number): number =>
    Math.min(...times.filter((one) => one.devices === devices).map(({ time }) => time));
  const counts = [...new Set(times.map(({ devices }) => devices))].toSorted((a, b) => a - b);
  return { name, points: counts.map((count) => ({ x: count, y: minimum(1) / minimum(count) / count })) };
}

/**
 * Plots the speed-up of sorts and batches on several devices of one host, in the fastest way, and the bound by the
 * buses.
 */
function multiDevicePlot(file: string, batchFile: string): string {
  const { devices, runs } = read(file) as MultiDeviceResults;
  const { files, sets } = read(batchFile) as Batch;
  const rows = runs.flatMap((run) => run.rows).filter(({ way }) => way !== 'there');
  const kindOf = ({ n, dtype, memory, way }: (typeof rows)[number]): string =>
    `${prefixed(n, 1024)} ${dtype}${way === 'spread' ? ', sharded array' : ''}${memory === 'pinned' ? ', pinned' : ''}`;
  const kinds = [...new Set(rows.map(kindOf))];
  const timesOf = (kind: string, time: 'milliseconds' | 'boundMilliseconds') =>
    rows.filter((row) => kindOf(row) === kind).map((row) => ({ devices: row.devices, time: row[time] }));
  const batches = sets.map(({ device, seconds }) => ({
    devices: device.split(',').length,
    time: Math.min(...seconds.batch),
  }));
  const [{ name, driver } = { name: '', driver: '' }] = devices;
  return plotsFile(
    panelsOf({
      title: 'Several devices of one host',
      subtitle: `${name}, driver ${driver}, ${(runs[0]?.date ?? '').slice(0, 10)}`,
      x: 'devices',
      y: 'parallel efficiency',
      scale: 'share',
      lines: [
        ...kinds.map((kind) => sharesOf(kind, timesOf(kind, 'milliseconds'))),
        sharesOf(`batch of ${files} files`, batches),
        sharesOf('limit of the buses', timesOf(kinds[0] ?? '', 'boundMilliseconds')),
      ],
    }),
  );
}

/** Returns plots of calls of every operation on device arrays, and from typed array to typed array. */
function plotsOfCalls(): Record<string, () => string> {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('-calls.json'));
  const plots = files.flatMap((file) => {
    const bench = read(file) as CallBench;
    const measured = PLACES.filter((place) => bench.rows.some((row) => row.place === place));
    return measured.map((place): [string, () => string] => [
      file.replace('.json', `-${place}.svg`),
      () => plotsFile(callsPlots(bench, place)),
    ]);
  });
  return Object.fromEntries(plots);
}

/** Returns plots of the lectures' ladders, all tasks stacked. */
function ladderPlots(): Record<string, () => string> {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('-ladder.json'));
  return Object.fromEntries(
    files.map((file) => [file.replace('.json', '.svg'), () => ladderSvg(read(file) as Ladder)]),
  );
}

const PLOTS: Readonly<Record<string, () => string>> = {
  ...plotsOfCalls(),
  ...ladderPlots(),
  'h200.svg': () => cubPlot('h200.json'),
  'h200-device.svg': () => peersPlot('h200-peers.json', 'device', 'u32 keys on the device'),
  'h200-end-to-end.svg': () => peersPlot('h200-peers.json', 'end to end', 'u32 keys from array to array'),
  'h200-x4-spread.svg': () => multiDevicePlot('h200-x4-spread.json', 'h200-x4-batch.json'),
  'host-engine.svg': hostChart,
  'overview.svg': overviewChart,
  'pocl.svg': () => svg([read('pocl.json') as SortBench]),
  'pocl-end-to-end.svg': () => peersPlot('pocl-peers.json', 'end to end', 'u32 keys from array to array'),
};

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
for (const [name, plot] of Object.entries(PLOTS)) {
  const file = join(FOLDER, name);
  const drawn = plot();
  if (!options.check) writeFileSync(file, drawn);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== drawn) {
    process.stderr.write(
      `scripts/results/${name} is not what its data make: run node dist/scripts/plot-results.js\n`,
    );
    process.exitCode = 1;
  }
}
