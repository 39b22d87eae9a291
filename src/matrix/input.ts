/** Inputs of a case, all derived from the case's seed. */
import { dtypeInfo } from '../keys/dtype.js';
import { bytesOf, type CaseInput, caseInput } from '../sort/cases/input.js';
import { Reference } from '../sort/cases/reference.js';
import { Random } from '../util/random.js';
import type { MatrixCase } from './matrix-case.js';

/** Number of distinct keys in the distribution `few`. */
const FEW = 17;

/** Returns random bit patterns, so that floats include NaNs, infinities and zeros. */
function keyBytes({ dtype, n, keys, seed }: MatrixCase): Uint8Array {
  const random = new Random(seed);
  const width = dtypeInfo(dtype).bytes;
  if (keys === 'uniform') return random.bytes(n * width);
  const pattern = new Reference(
    dtype,
    random.bytes((keys === 'sorted' ? n : keys === 'few' ? FEW : 1) * width),
  );
  if (keys === 'sorted') return pattern.pick(pattern.order());
  return pattern.pick(Array.from({ length: n }, () => random.below(pattern.n)));
}

function summandBytes({ dtype, n, seed }: MatrixCase): Uint8Array | undefined {
  if (dtype !== 'f32' && dtype !== 'f64') return undefined;
  const random = new Random(seed);
  const numbers = Float64Array.from({ length: n }, () => random.u32() / 2 ** 31 - 1);
  return bytesOf(dtype === 'f64' ? numbers : Float32Array.from(numbers));
}

/** Creates the inputs of cases. The last references are cached, since consecutive cases share keys. */
export class Inputs {
  #name = '';
  #keys: Reference | undefined;
  #summands: Reference | undefined;

  of(one: MatrixCase): CaseInput {
    const { dtype, n, keys, seed } = one;
    const name = [dtype, n, keys, seed].join(' ');
    if (name !== this.#name || !this.#keys || !this.#summands) {
      this.#name = name;
      this.#keys = new Reference(dtype, keyBytes(one));
      const other = summandBytes(one);
      this.#summands = other ? new Reference(dtype, other) : this.#keys;
    }
    return caseInput(this.#keys, this.#summands, seed + 1);
  }
}
