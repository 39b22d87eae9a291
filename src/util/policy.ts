import { invalidArgument } from './invalid-argument.js';

const VARIABLE = 'CLSORT_POLICY';

let off: ReadonlySet<string> | undefined;

/** Returns the names of a list `NAME=off,NAME=off`. @throws UsageError when an entry has another form */
function switchedOff(list: string): ReadonlySet<string> {
  const entries = list.split(',').filter((entry) => entry !== '');
  const names = entries.map((entry) => /^(\w+)=off$/.exec(entry)?.[1]);
  if (names.includes(undefined))
    throw invalidArgument(VARIABLE, 'entries NAME=off, separated by commas', list);
  return new Set(names as string[]);
}

/**
 * Returns a constant of a heuristic, or its value without that heuristic if CLSORT_POLICY contains `NAME=off`. The
 * variable is read once.
 *
 * @throws UsageError when CLSORT_POLICY is invalid
 */
export function policy<T>(name: string, on: T, without: T): T {
  off ??= switchedOff(process.env[VARIABLE] ?? '');
  return off.has(name) ? without : on;
}
