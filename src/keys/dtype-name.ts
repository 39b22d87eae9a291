/** User-facing names of dtypes: those of NumPy and of file name extensions, with the byte order. */
import { DtypeError } from '../util/errors.js';
import { invalidName } from '../util/suggest.js';
import { DTYPES, type Dtype } from './dtype.js';

/** A dtype with the byte order of its name. */
export interface NamedDtype {
  readonly dtype: Dtype;
  /** Whether the most significant byte of a key comes first; undefined if the name does not say. */
  readonly bigEndian: boolean | undefined;
}

const NAME = /^(u|uint|i|int|f|float|bf|bfloat)(8|16|32|64)(le|be)?$/;

/** Returns the dtype of a name, in any case: `u32`, `uint32`, `U32`, `f64be`, `bfloat16`; undefined for other names. */
export function dtypeOfName(name: string): NamedDtype | undefined {
  const [, kind = '', width = '', order] = NAME.exec(name.toLowerCase()) ?? [];
  const dtype = DTYPES.find((known) => known === `${kind.replace(/(?<=[uif])[a-z]*$/, '')}${width}`);
  return dtype && { dtype, bigEndian: order === undefined ? undefined : order === 'be' };
}

/**
 * Returns the dtype of a name.
 *
 * @throws DtypeError when the name is not a dtype
 */
export function namedDtype(name: string): NamedDtype {
  const found = dtypeOfName(name);
  if (!found) throw invalidName('dtype', name, DTYPES, DtypeError);
  return found;
}
