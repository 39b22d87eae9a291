import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { Random } from '../util/random.js';

/** Default upper limit of random keys (exclusive), unless the dtype holds less. */
const DEFAULT_MAX = 1000;

/**
 * Returns n random whole numbers from 0 to `max` - 1, as words.
 *
 * @param max default 1000, or one more than the largest value of a narrower dtype
 * @throws UsageError when the dtype cannot hold them
 */
export function randomWords(
  n: number,
  { max, seed, dtype = 'u32' }: { max?: number | undefined; seed: bigint; dtype?: Dtype | undefined },
): string[] {
  const { kind, width } = dtypeInfo(dtype);
  const maxValue =
    kind === 'float' ? 2 ** 32 : Math.min(2 ** 32, 2 ** (kind === 'signed' ? width - 1 : width));
  const limit = max ?? Math.min(DEFAULT_MAX, maxValue);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxValue) {
    throw invalidArgument('--max', `a whole number from 1 to ${maxValue} (${dtype} keys)`, limit);
  }
  const random = new Random(seed);
  return Array.from({ length: n }, () => String(random.below(limit)));
}
