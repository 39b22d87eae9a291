/** Random keys, and what NumPy computes from them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import { Random } from '../../../src/util/random.js';
import { type Distribution, keysOf, SEED } from '../../distributions.js';
import type { RunPython } from '../../numpy.js';
import { FULL } from '../../pairwise.js';

export interface NumPyCase {
  readonly dtype: Dtype;
  readonly keys: KeyArray;
  /** Another array of the dtype, which shares some keys with `keys`. */
  readonly others: KeyArray;
  /** A random number. */
  readonly number: number;
}

/** Dtypes that NumPy has. */
const NUMPY_DTYPES = DTYPES.filter((dtype) => dtype !== 'bf16');

/** Returns cases with ties, zeros of either sign and NaNs of several patterns. */
export function numPyCases(small: boolean): NumPyCase[] {
  const random = new Random(SEED);
  const count = FULL ? 1000 : small ? 22 : 220;
  const distributions: readonly Distribution[] = ['special', 'uniform', 'and9'];
  return Array.from({ length: count }, (_, i) => {
    const dtype = NUMPY_DTYPES[i % NUMPY_DTYPES.length] as Dtype;
    const keysFrom = (most: number): KeyArray => {
      const distribution = distributions[random.below(3)] as Distribution;
      return keysOf(dtype, distribution, 1 + random.below(most), BigInt(random.u32()));
    };
    const keys = keysFrom(small ? 100 : 600);
    const others = keysFrom(small ? 50 : 300);
    for (let j = 0; j < others.length; j += 3) others[j] = keys[j % keys.length] as never;
    return { dtype, keys, others, number: random.u32() };
  });
}

/**
 * Runs a program of NumPy for each case.
 *
 * @param folder existing folder for its inputs and outputs
 * @param program returns a list of arrays from `a`, `b` (the others) and `number`, by `return`
 * @returns the bytes of these arrays
 */
export function numPyResults(
  python: RunPython,
  folder: string,
  cases: readonly NumPyCase[],
  program: string,
): Uint8Array[][] {
  const arrays = cases.flatMap(({ keys, others }) => [keys, others]);
  const bytes = arrays.map((one) => new Uint8Array(one.buffer, one.byteOffset, one.byteLength));
  writeFileSync(join(folder, 'in.bin'), Buffer.concat(bytes));
  const described = cases.map(({ dtype, keys, others, number }) => [
    `<${dtype[0]}${dtypeInfo(dtype).bytes}`,
    keys.length,
    others.length,
    number,
  ]);
  writeFileSync(join(folder, 'in.json'), JSON.stringify(described));
  python(
    `import json
np.seterr(all='ignore')
def run(a, b, number):
${program.replace(/^/gm, '    ')}
folder = sys.argv[1]
data = open(folder + '/in.bin', 'rb').read()
at, sizes = 0, []
with open(folder + '/out.bin', 'wb') as out:
    for name, n, m, number in json.load(open(folder + '/in.json')):
        d = np.dtype(name)
        a = np.frombuffer(data, d, n, at)
        b = np.frombuffer(data, d, m, at + n * d.itemsize)
        at += (n + m) * d.itemsize
        results = [np.ascontiguousarray(r).tobytes() for r in run(a, b, number)]
        sizes.append([len(r) for r in results])
        for r in results: out.write(r)
json.dump(sizes, open(folder + '/out.json', 'w'))`,
    folder,
  );
  const out = readFileSync(join(folder, 'out.bin'));
  let at = 0;
  const sizes: number[][] = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8'));
  return sizes.map((lengths) =>
    lengths.map((length) => {
      at += length;
      return out.subarray(at - length, at);
    }),
  );
}
