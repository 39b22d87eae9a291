/** Formats a forecast for people. */
import type { Bound, Forecast } from '../engines/forecast/forecast.js';
import { grouped, table } from './table.js';

const STEPS = ['', 'k', 'M', 'G', 'T', 'P'];

/** Formats an amount with a decimal prefix, as disks and networks are sold: 100 T → 100 TB. */
export function decimalText(amount: number, unit: string): string {
  const step = amount >= 1 ? Math.min(STEPS.length - 1, Math.floor(Math.log10(amount) / 3)) : 0;
  const scaled = amount / 1000 ** step;
  return `${Number(scaled.toPrecision(3))} ${STEPS[step]}${unit}`;
}

/** Formats a time: 95 s, 12.3 min, 4.5 h. */
export function timeText(seconds: number): string {
  if (seconds < 120) return `${Number(seconds.toPrecision(3))} s`;
  if (seconds < 7200) return `${Number((seconds / 60).toPrecision(3))} min`;
  return `${Number((seconds / 3600).toPrecision(3))} h`;
}

const BOUNDS: Readonly<Record<Bound, string>> = {
  host: "workers' hosts",
  device: 'devices',
  bus: 'buses',
  tasks: 'tasks and pieces',
  cores: 'cores',
  disk: 'disks',
  network: 'the network',
  storage: 'the storage',
};

const boundText = (bound: Bound): string => BOUNDS[bound];

/** Returns the bottleneck of the longest stage. */
function mainBound({ stages }: Forecast): Bound {
  const [longest] = stages.toSorted((a, b) => b.seconds - a.seconds);
  return longest?.binds ?? 'host';
}

const WHY: Readonly<Record<NonNullable<Forecast['byDisk']>, string>> = {
  memory: 'larger than memory',
  array: 'larger than an array of Node.js 20',
};

/** Columns with the time that each resource alone would take. */
const ALONE = ['host', 'device', 'bus', 'cores', 'disk', 'network', 'storage'] as const;

/** Formats one forecast in full. */
export function forecastLines(plan: Forecast, best: Forecast): string[] {
  const { stages, partitions, shards, workers, seconds, nodeHours, memoryPerNode, partBytes } = plan;
  const visibleStages = ALONE.filter((name) => stages.some(({ alone }) => alone[name] !== undefined));
  const rows = [
    ['stage', 'tasks', 'waves', 'time', 'limited by', ...visibleStages],
    ...stages.map((stage) => [
      stage.stage,
      grouped(stage.tasks),
      grouped(stage.waves),
      timeText(stage.seconds),
      boundText(stage.binds),
      ...visibleStages.map((name) => {
        const alone = stage.alone[name];
        return alone === undefined ? '' : timeText(alone);
      }),
    ]),
  ];
  const left = [0, 4];
  const align = rows[0]?.map((_, i) => (left.includes(i) ? ('left' as const) : ('right' as const)));
  const lines = [
    table(rows, align),
    `total: ${timeText(seconds)}, ${Number(nodeHours.toPrecision(3))} node hours; limited mostly by ${boundText(mainBound(plan))}`,
    `${grouped(partitions)} partitions of ${decimalText(partBytes, 'B')}, ${grouped(shards)} shards; ` +
      `${decimalText(memoryPerNode, 'B')} of memory per node${plan.byDisk ? `; external sorts, since parts are ${WHY[plan.byDisk]}` : ''}`,
  ];
  if (best.partitions !== partitions)
    lines.push(`best: --partitions ${best.partitions}, ${timeText(best.seconds)}`);
  const idle = stages.filter(({ stage, tasks }) => stage !== 'splitters' && tasks < workers);
  if (idle.length > 0) {
    const description = idle.map(({ stage, tasks }) => `${stage} has ${grouped(tasks)} tasks`).join(', ');
    lines.push(`some of the ${grouped(workers)} workers are idle: ${description}`);
  }
  return lines;
}

/** Formats several forecasts, one per line. */
export function forecastTable(plans: readonly Forecast[]): string {
  const rows = [
    ['size', 'nodes', 'time', 'node hours', 'partitions', 'memory per node', 'limited by'],
    ...plans.map((plan) => [
      decimalText(plan.bytes, 'B'),
      grouped(plan.nodes),
      timeText(plan.seconds),
      String(Number(plan.nodeHours.toPrecision(3))),
      `${grouped(plan.partitions)}${plan.byDisk ? ', external' : ''}`,
      decimalText(plan.memoryPerNode, 'B'),
      boundText(mainBound(plan)),
    ]),
  ];
  return table(rows, ['right', 'right', 'right', 'right', 'right', 'right', 'left']);
}
