import { type ArrayOf, newArray } from '../../keys/array.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { Random } from '../../util/random.js';
import type { Reference } from './reference.js';

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

/** Creates the input of a case. `random` restarts from `seed`. */
export const caseInput = (reference: Reference, summandsReference: Reference, seed: number): CaseInput => ({
  ...{ dtype: reference.dtype, n: reference.n, reference, summandsReference },
  keys: arrayOf(reference.dtype, reference.bytes),
  summands: arrayOf(reference.dtype, summandsReference.bytes),
  random: new Random(seed),
});

/** Returns whether the input arrays of an operation are unchanged. */
export const isUntouched = ({ keys, reference, summands, summandsReference }: CaseInput): boolean =>
  Buffer.compare(bytesOf(keys), reference.bytes) === 0 &&
  Buffer.compare(bytesOf(summands), summandsReference.bytes) === 0;
