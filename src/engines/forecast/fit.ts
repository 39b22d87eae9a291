/** Derives rates from runs: the parts of their time that depend on bytes, pieces and tasks. */
import { InputError } from '../../util/errors.js';
import type { RunFacts, StageTimes } from '../run-times.js';
import type { Cost, HostRates, RecordKind, RunnerRates } from './rates.js';

/** Report of a finished run. */
export interface RunReport extends RecordKind, RunFacts {
  readonly engine: string;
  readonly date: string;
  readonly n: number;
  readonly bytes: number;
  readonly shards: number;
  readonly partitions: number;
  readonly parts: number;
  /** Total number of sampled records. */
  readonly samples: number;
}

type Amount = 'bytes' | 'pieces' | 'tasks' | 'samples';

const noRunError = (): InputError => new InputError('cannot derive rates: there is no run');

const NOTHING: Cost = { seconds: 0, cpu: 0 };

/** Returns the amounts of work of a stage. */
function amountsOf(run: RunReport, stage: string): Readonly<Record<Amount, number>> {
  const { bytes, samples } = run;
  return { bytes, samples, pieces: run.shards * run.partitions, tasks: stageOf(run, stage).tasks };
}

/** @throws InputError when the run lacks the stage or did only part of it */
function stageOf(run: RunReport, stage: string): StageTimes {
  const found = run.stages.find((one) => one.stage === stage);
  if (found && found.ran === found.tasks) return found;
  const cause = found
    ? `it resumed an earlier run, and ran ${found.ran} of ${found.tasks} tasks of stage ${stage}`
    : `its report has no stage ${stage}`;
  throw new InputError(`cannot derive rates from the run: ${cause}. Use the report of a complete run`);
}

const spent = (run: RunReport, stage: string): Cost => {
  const { busySeconds, cpuSeconds } = stageOf(run, stage);
  return { seconds: busySeconds, cpu: cpuSeconds };
};

const sum = (a: Cost, b: Cost, factor = 1): Cost => ({
  seconds: a.seconds + factor * b.seconds,
  cpu: a.cpu + factor * b.cpu,
});
const scaled = (cost: Cost, factor: number): Cost => sum(NOTHING, cost, factor);
const clampToZero = ({ seconds, cpu }: Cost): Cost => ({
  seconds: Math.max(0, seconds),
  cpu: Math.max(0, cpu),
});

/**
 * Fits the cost of a stage per unit of `first` and of `second`, assuming that it has no other cost.
 *
 * @param subtracted part of the cost that has other causes, by run
 * @param known cost per unit of `second`, used when the runs do not determine it
 */
function fitTwoRates(
  runs: readonly RunReport[],
  stage: string,
  {
    first,
    second,
    subtracted,
    known,
  }: { first: Amount; second: Amount; subtracted: (run: RunReport) => Cost; known: Cost },
): readonly [Cost, Cost] {
  const rows = runs.map((run) => ({
    cost: clampToZero(sum(spent(run, stage), subtracted(run), -1)),
    x: amountsOf(run, stage)[first],
    y: amountsOf(run, stage)[second],
  }));
  const [a, b] = rows;
  if (!a) throw noRunError();
  let perSecond = known;
  const determinant = b ? b.y * a.x - a.y * b.x : 0;
  // Two runs with proportional amounts do not determine both rates.
  if (b && Math.abs(determinant) > 0.2 * Math.max(b.y * a.x, a.y * b.x)) {
    perSecond = clampToZero(scaled(sum(scaled(b.cost, a.x), a.cost, -b.x), 1 / determinant));
  }
  const all = rows.reduce(
    (total, { cost, x, y }) => ({
      cost: sum(total.cost, clampToZero(sum(cost, perSecond, -y))),
      x: total.x + x,
    }),
    { cost: NOTHING, x: 0 },
  );
  return [scaled(all.cost, 1 / Math.max(1, all.x)), perSecond];
}

/**
 * Derives host rates from runs on the same devices; the rates include the device time.
 *
 * @param runs one run, or two that differ in shards and partitions
 * @param known rates that a single run does not determine: those of pieces and tasks
 * @throws InputError when a run was resumed, or runs sorted different kinds of records
 */
export function hostRatesOf(runs: readonly RunReport[], known: HostRates | undefined): HostRates {
  const [run] = runs;
  if (!run) throw noRunError();
  const { of, unit: recordBytes, host, date } = run;
  const other = runs.find((one) => one.of !== of || one.unit !== recordBytes);
  if (other) {
    throw new InputError(
      `cannot combine the runs: they sorted ${of} of ${recordBytes} bytes and ${other.of} of ${other.unit} bytes`,
    );
  }
  const {
    task: knownTask = NOTHING,
    piece: knownPiece = NOTHING,
    opened: knownOpened = NOTHING,
    full = 1,
  } = known ?? {};
  const nothing = (): Cost => NOTHING;
  const tasks = { first: 'bytes', second: 'tasks', subtracted: nothing, known: knownTask } as const;
  const [verify, task] = fitTwoRates(runs, 'verify', tasks);
  const ofTasks =
    (stage: string) =>
    (one: RunReport): Cost =>
      scaled(task, stageOf(one, stage).tasks);
  const pieces = { first: 'bytes', second: 'pieces' } as const;
  const [partition, piece] = fitTwoRates(runs, 'partition', {
    ...pieces,
    subtracted: ofTasks('partition'),
    known: knownPiece,
  });
  const [sort, opened] = fitTwoRates(runs, 'sort', {
    ...pieces,
    subtracted: ofTasks('sort'),
    known: knownOpened,
  });
  const samples = { first: 'samples', second: 'tasks', known: task, subtracted: nothing } as const;
  // The run with the most samples determines the cost per sample best.
  const mostSampled = runs.toSorted((a, b) => b.samples - a.samples).slice(0, 1);
  const [sample] = fitTwoRates(mostSampled, 'sample', samples);
  const [splitters] = fitTwoRates(mostSampled, 'splitters', samples);
  return {
    ...{ of, unit: recordBytes, date, name: host.name, cores: host.cores, full },
    ...{ sample, splitters, partition, sort, verify, piece, opened, task },
  };
}

/**
 * Returns the overhead of the job runner per task, stage and job. The `splitters` stage, with one task, determines the
 * stage overhead.
 */
export function runnerRatesOf(run: RunReport): RunnerRates {
  const { seconds, busySeconds } = stageOf(run, 'splitters');
  const first = stageOf(run, 'sample');
  const stage = Math.max(0, seconds - busySeconds);
  const workers = Math.max(1, Math.min(run.workers, first.tasks));
  const waves = Math.ceil(first.tasks / workers);
  const task = Math.max(0, first.seconds - stage - first.busySeconds / workers) / waves;
  const job = Math.max(0, run.seconds - run.stages.reduce((sum, one) => sum + one.seconds, 0));
  return { name: run.engine, stage, task, job, source: `a run of ${run.date}` };
}
