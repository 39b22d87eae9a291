/** Inputs of a case, all derived from the case's seed. */
import { type ArrayOf, newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { Random } from '../util/random.js';
import type { MatrixCase } from './matrix-case.js';
import { Reference } from './reference.js';

/** Number of distinct keys in the distribution `few`. */
const FEW = 17;

export interface CaseInput {
  readonly dtype: Dtype;
  readonly n: number;
  /** The keys, in a separate copy. */
  readonly keys: ArrayOf<Dtype>;
  readonly reference: Reference;
  /** Numbers whose sums stay finite: the keys for integer dtypes, random numbers from -1 to 1 for floats. */
  readonly summands: ArrayOf<Dtype>;
  readonly summandsReference: Reference;
  /** Restarted for each case. */
  readonly random: Random;
}

const arrayOf = (dtype: Dtype, bytes: Uint8Array): ArrayOf<Dtype> => {
  const array = newArray(dtype, bytes.length / dtypeInfo(dtype).bytes);
  new Uint8Array(array.buffer).set(bytes);
  return array;
};

export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);

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
    return {
      ...{ dtype, n, reference: this.#keys, summandsReference: this.#summands },
      keys: arrayOf(dtype, this.#keys.bytes),
      summands: arrayOf(dtype, this.#summands.bytes),
      random: new Random(seed + 1),
    };
  }
}

/** Returns whether the input arrays of an operation are unchanged. */
export const isUntouched = ({ keys, reference, summands, summandsReference }: CaseInput): boolean =>
  Buffer.compare(bytesOf(keys), reference.bytes) === 0 &&
  Buffer.compare(bytesOf(summands), summandsReference.bytes) === 0;
