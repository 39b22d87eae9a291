import type { Console } from './console.js';
import type { ExitCode } from './exit-code.js';
import { assertCommand, type CommandName } from './specs.js';

/** The exports of a file in `commands/`. */
interface Runner {
  readonly run: (args: never, console: Console) => Promise<ExitCode>;
}

const RUNNERS: Readonly<Record<CommandName, () => Promise<Runner>>> = {
  devices: () => import('./commands/devices.js'),
  sort: () => import('./commands/sort.js'),
  batch: () => import('./commands/batch.js'),
  bench: () => import('./commands/bench.js'),
  check: () => import('./commands/check.js'),
  info: () => import('./commands/info.js'),
  convert: () => import('./commands/convert.js'),
  concat: () => import('./commands/concat.js'),
  merge: () => import('./commands/merge.js'),
  topk: () => import('./commands/topk.js'),
  unique: () => import('./commands/unique.js'),
  reduce: () => import('./commands/reduce.js'),
  scan: () => import('./commands/scan.js'),
  histogram: () => import('./commands/histogram.js'),
  gen: () => import('./commands/gen.js'),
  demo: () => import('./commands/demo.js'),
  explain: () => import('./commands/explain.js'),
  matrix: () => import('./commands/matrix.js'),
  worker: () => import('./commands/worker.js'),
  status: () => import('./commands/status.js'),
  cancel: () => import('./commands/cancel.js'),
  plan: () => import('./commands/plan.js'),
  tune: () => import('./commands/tune.js'),
  doctor: () => import('./commands/doctor.js'),
  'build-addon': () => import('./commands/build-addon.js'),
  completion: () => import('./commands/completion.js'),
  man: () => import('./commands/man.js'),
};

/**
 * Loads the command of that name.
 *
 * @throws UsageError when the name is unknown
 */
export async function loadCommand(name: string): Promise<Runner> {
  assertCommand(name);
  return RUNNERS[name]();
}
