/** Errors of options that contradict each other or depend on each other. */
import { UsageError } from '../util/errors.js';
import { withAdvice } from '../util/invalid-argument.js';

/** Reason why options for different output formats exclude each other. */
export const ONE_FORMAT = 'the output has one format';

/** Creates the error of two options that exclude each other. */
export const cannotCombine = (first: string, second: string, reason: string, advice?: string): UsageError =>
  new UsageError(withAdvice(`cannot combine ${first} and ${second}: ${reason}`, advice));

/**
 * Asserts that at most one of several options is given.
 *
 * @param options the options by name, without dashes; undefined or false when not given
 * @throws UsageError naming the first two that are given
 */
export function assertAtMostOne(options: Readonly<Record<string, unknown>>, reason: string): void {
  const [first, second] = Object.keys(options).filter(
    (name) => options[name] !== undefined && options[name] !== false,
  );
  if (first !== undefined && second !== undefined) throw cannotCombine(`--${first}`, `--${second}`, reason);
}

/** Creates the error of an option that has no effect without another one. */
export const cannotUseWithout = (
  option: string,
  other: string,
  reason: string,
  advice?: string,
): UsageError => new UsageError(withAdvice(`cannot use ${option} without ${other}: ${reason}`, advice));

/**
 * Creates the error of a missing option.
 *
 * @param purpose the verb, and what the option is needed for: `sort pairs`
 */
export const missingOption = (purpose: string, option: string, advice: string): UsageError =>
  new UsageError(`cannot ${purpose}: ${option} is missing. ${advice}`);

/** Creates the error of an option for many machines that is used without `--engine`. */
export const missingEngine = (option: string, engine: string): UsageError =>
  cannotUseWithout(option, '--engine', 'it applies to work on many machines', `Pass --engine ${engine}`);

/** Creates the error of an option that workers behind a queue have themselves. */
export const optionOfWorkers = (option: string): UsageError =>
  cannotCombine(
    option,
    '--engine bullmq',
    'each worker has its own',
    `Pass ${option} to 'clsort worker' instead`,
  );
