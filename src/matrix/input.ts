/** What a case is called with. All of it comes from the case's seed. */
import { type ArrayOf, newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { Random } from '../util/random.js';
import type { MatrixCase } from './case.js';
import { Reference } from './reference.js';

/** Distinct keys of `few`. */
const FEW = 17;

export interface CaseInput {
  readonly dtype: Dtype;
  readonly n: number;
  /** The keys, in memory of their own. */
  readonly keys: ArrayOf<Dtype>;
  readonly reference: Reference;
  /** Numbers whose sums stay finite: the keys where they are integers, else some from -1 to 1. */
  readonly summands: ArrayOf<Dtype>;
  readonly summandsReference: Reference;
  /** Begins anew for each case. */
  readonly random: Random;
}

const arrayOf = (dtype: Dtype, bytes: Uint8Array): ArrayOf<Dtype> => {
  const array = newArray(dtype, bytes.length / dtypeInfo(dtype).bytes);
  new Uint8Array(array.buffer).set(bytes);
  return array;
};

export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);

/** Bit patterns, so that floats come with NaNs, infinities and zeros. */
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

/** Inputs of cases, of which the last is kept: what is worked out for its keys serves all cases that have them. */
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

/** Are the arrays, which an operation only reads, what they were? */
export const isUntouched = ({ keys, reference, summands, summandsReference }: CaseInput): boolean =>
  Buffer.compare(bytesOf(keys), reference.bytes) === 0 &&
  Buffer.compare(bytesOf(summands), summandsReference.bytes) === 0;
