import { ALGORITHMS } from '../algorithms/registry.js';
import { DTYPES, type Dtype } from '../keys/dtype.js';

export type Form = 'keys' | 'argsort' | 'pairs';

/** One cell of the matrix on one device. */
export interface MatrixCase {
  readonly algorithm: string;
  readonly dtype: Dtype;
  readonly n: number;
  readonly form: Form;
  readonly descending: boolean;
  /** Of the generated keys. */
  readonly seed: number;
}

export interface MatrixScope {
  /** One size and keys alone. */
  readonly quick: boolean;
  /** Leave larger cases out: for simulators. */
  readonly maxKeys: number;
  /** Only these algorithms and dtypes; all where left out. */
  readonly algorithms?: readonly string[] | undefined;
  readonly dtypes?: readonly Dtype[] | undefined;
}

const SIZES = [0, 1, 2, 257, 4097, 65_537];
const QUICK_SIZES = [33, 16_385];
const FORMS: readonly Form[] = ['keys', 'argsort', 'pairs'];

/** Every algorithm × dtype × size (× form × direction unless quick), in a fixed order. */
export function matrixCases({ quick, maxKeys, algorithms, dtypes }: MatrixScope): MatrixCase[] {
  const names = ALGORITHMS.map(({ name }) => name).filter((name) => algorithms?.includes(name) ?? true);
  const sizes = [...new Set((quick ? QUICK_SIZES : SIZES).map((n) => Math.min(n, maxKeys)))];
  const forms = quick ? FORMS.slice(0, 1) : FORMS;
  let seed = 0;
  return names.flatMap((algorithm) =>
    (dtypes ?? DTYPES).flatMap((dtype) =>
      sizes.flatMap((n) =>
        forms.flatMap((form) =>
          (quick ? [false] : [false, true]).map((descending) => {
            seed++;
            return { algorithm, dtype, n, form, descending, seed };
          }),
        ),
      ),
    ),
  );
}
