/** Names that people give dtypes: those of NumPy and of file name extensions, with the order of the bytes. */
import { DtypeError } from '../util/errors.js';
import { unknownName } from '../util/suggest.js';
import { DTYPES, type Dtype } from './dtype.js';

/** A dtype as a name has it. */
export interface NamedDtype {
  readonly dtype: Dtype;
  /** Whether the most significant byte of a key comes first; undefined where the name says nothing of it. */
  readonly bigEndian: boolean | undefined;
}

const NAME = /^(u|uint|i|int|f|float)(8|16|32|64)(le|be)?$/;

/** The dtype of such a name, in any case: `u32`, `uint32`, `U32`, `f64be`; undefined for others. */
export function dtypeOfName(name: string): NamedDtype | undefined {
  const [, kind = '', width = '', order] = NAME.exec(name.toLowerCase()) ?? [];
  const dtype = DTYPES.find((known) => known === `${kind[0]}${width}`);
  return dtype && { dtype, bigEndian: order === undefined ? undefined : order === 'be' };
}

/** @throws DtypeError for a name of no dtype */
export function namedDtype(name: string): NamedDtype {
  const found = dtypeOfName(name);
  if (!found) throw new DtypeError(unknownName('dtype', name, DTYPES));
  return found;
}
