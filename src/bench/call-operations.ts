/** Inputs of the calls of `clsort bench calls`, and their selection by name. */
import { generate } from '../io/operations/gen.js';
import type { CallInputs, CallOperation } from '../sort/operations/case.js';
import { TIMED_OPERATIONS } from '../sort/operations/cases.js';
import { Random } from '../util/random.js';
import { invalidName } from '../util/suggest.js';
import { SEED } from './sorts.js';

/** Number of distinct values in `few`. */
const DISTINCT = 1000;

/**
 * Returns operations by name, by `all`, or by a prefix before the parameter, such as `topK`.
 *
 * @returns the operations, in the order of `TIMED_OPERATIONS`
 * @throws UsageError when a name is unknown
 */
export function callOperations(names: readonly string[]): CallOperation[] {
  const found = names.flatMap((word) => {
    const named = TIMED_OPERATIONS.filter(
      ({ name }) => word === 'all' || name === word || name.startsWith(`${word}-`),
    );
    if (named.length > 0) return named;
    const known = ['all', ...TIMED_OPERATIONS.map(({ name }) => name)];
    throw invalidName('operation', word, known);
  });
  return TIMED_OPERATIONS.filter((operation) => found.includes(operation));
}

/** Returns the inputs, the same for every run and peer. */
export function callInputs(n: number): CallInputs<Uint32Array> {
  const bytes = generate({ dtype: 'u32', count: n, distribution: 'uniform', seed: SEED });
  const keys = new Uint32Array(bytes.buffer, bytes.byteOffset, n);
  const random = new Random(SEED + 1);
  const [values, few, indices] = [new Uint32Array(n), new Uint32Array(n), new Uint32Array(n)];
  for (let i = 0; i < n; i++) {
    values[i] = i;
    few[i] = (keys[i] as number) % DISTINCT;
    indices[i] = random.below(n);
  }
  return { keys, values, few, indices };
}
