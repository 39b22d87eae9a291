import { invalidArgument } from '../util/invalid-argument.js';
import { didYouMean } from '../util/suggest.js';
import type { Console } from './console.js';
import type { ExitCode } from './exit-code.js';
import { type CommandSpec, type Described, specOf } from './spec.js';

/** The exports of a file in `commands/`. */
interface Runner {
  readonly run: (args: never, console: Console) => Promise<ExitCode>;
}

interface Command {
  readonly options: () => Promise<Described>;
  readonly load: () => Promise<Runner>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  devices: {
    options: () => import('./options/devices.js'),
    load: () => import('./commands/devices.js'),
  },
  sort: { options: () => import('./options/sort.js'), load: () => import('./commands/sort.js') },
  batch: { options: () => import('./options/batch.js'), load: () => import('./commands/batch.js') },
  bench: { options: () => import('./options/bench.js'), load: () => import('./commands/bench.js') },
  check: { options: () => import('./options/check.js'), load: () => import('./commands/check.js') },
  info: { options: () => import('./options/info.js'), load: () => import('./commands/info.js') },
  convert: { options: () => import('./options/convert.js'), load: () => import('./commands/convert.js') },
  concat: { options: () => import('./options/concat.js'), load: () => import('./commands/concat.js') },
  merge: { options: () => import('./options/merge.js'), load: () => import('./commands/merge.js') },
  topk: { options: () => import('./options/topk.js'), load: () => import('./commands/topk.js') },
  unique: { options: () => import('./options/unique.js'), load: () => import('./commands/unique.js') },
  reduce: { options: () => import('./options/reduce.js'), load: () => import('./commands/reduce.js') },
  scan: { options: () => import('./options/scan.js'), load: () => import('./commands/scan.js') },
  histogram: {
    options: () => import('./options/histogram.js'),
    load: () => import('./commands/histogram.js'),
  },
  gen: { options: () => import('./options/gen.js'), load: () => import('./commands/gen.js') },
  demo: { options: () => import('./options/demo.js'), load: () => import('./commands/demo.js') },
  explain: {
    options: () => import('./options/explain.js'),
    load: () => import('./commands/explain.js'),
  },
  matrix: { options: () => import('./options/matrix.js'), load: () => import('./commands/matrix.js') },
  worker: { options: () => import('./options/worker.js'), load: () => import('./commands/worker.js') },
  status: { options: () => import('./options/status.js'), load: () => import('./commands/status.js') },
  cancel: { options: () => import('./options/cancel.js'), load: () => import('./commands/cancel.js') },
  plan: { options: () => import('./options/plan.js'), load: () => import('./commands/plan.js') },
  tune: { options: () => import('./options/tune.js'), load: () => import('./commands/tune.js') },
  completion: {
    options: () => import('./options/completion.js'),
    load: () => import('./commands/completion.js'),
  },
  man: { options: () => import('./options/man.js'), load: () => import('./commands/man.js') },
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

/**
 * Returns the command of that name.
 *
 * @throws UsageError when the name is unknown
 */
export function commandNamed(name: string): Command {
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (found) return found;
  throw invalidArgument('clsort', 'a command', name, { advice: didYouMean(name, COMMAND_NAMES) });
}

/**
 * Returns the specification of one command.
 *
 * @throws UsageError when the name is unknown
 */
export const specNamed = async (name: string): Promise<CommandSpec> =>
  specOf(await commandNamed(name).options());

/** Returns the specifications of all commands. */
export const allSpecs = (): Promise<CommandSpec[]> => Promise.all(COMMAND_NAMES.map(specNamed));
