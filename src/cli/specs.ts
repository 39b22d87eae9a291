import { invalidArgument } from '../util/invalid-argument.js';
import { didYouMean } from '../util/suggest.js';
import { COMMANDS } from './command-list.js';
import { type CommandSpec, type Described, specOf } from './spec.js';

export type CommandName = keyof typeof COMMANDS;

/** The options of each command. */
const OPTIONS: Readonly<Record<CommandName, () => Promise<Pick<Described, 'builder'>>>> = {
  devices: () => import('./options/devices.js'),
  sort: () => import('./options/sort.js'),
  batch: () => import('./options/batch.js'),
  bench: () => import('./options/bench.js'),
  check: () => import('./options/check.js'),
  info: () => import('./options/info.js'),
  convert: () => import('./options/convert.js'),
  concat: () => import('./options/concat.js'),
  merge: () => import('./options/merge.js'),
  topk: () => import('./options/topk.js'),
  unique: () => import('./options/unique.js'),
  reduce: () => import('./options/reduce.js'),
  scan: () => import('./options/scan.js'),
  histogram: () => import('./options/histogram.js'),
  gen: () => import('./options/gen.js'),
  demo: () => import('./options/demo.js'),
  explain: () => import('./options/explain.js'),
  matrix: () => import('./options/matrix.js'),
  worker: () => import('./options/worker.js'),
  status: () => import('./options/status.js'),
  cancel: () => import('./options/cancel.js'),
  plan: () => import('./options/plan.js'),
  warm: () => import('./options/warm.js'),
  tune: () => import('./options/tune.js'),
  doctor: () => import('./options/doctor.js'),
  'build-addon': () => import('./options/build-addon.js'),
  completion: () => import('./options/completion.js'),
  man: () => import('./options/man.js'),
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

const isCommand = (name: string): name is CommandName => Object.hasOwn(COMMANDS, name);

/** @throws UsageError when no command has the name */
export function assertCommand(name: string): asserts name is CommandName {
  if (isCommand(name)) return;
  throw invalidArgument('clsort', 'a command', name, { advice: didYouMean(name, COMMAND_NAMES) });
}

/**
 * Returns the specification of one command.
 *
 * @throws UsageError when the name is unknown
 */
export async function specNamed(name: string): Promise<CommandSpec> {
  assertCommand(name);
  return specOf({ ...COMMANDS[name], ...(await OPTIONS[name]()) });
}

/** Returns the specifications of all commands. */
export const allSpecs = (): Promise<CommandSpec[]> => Promise.all(COMMAND_NAMES.map(specNamed));
