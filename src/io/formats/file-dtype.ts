import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { DtypeError } from '../../util/errors.js';
import type { ReadRequest } from './key-file.js';

/**
 * Checks the dtype of a self-describing file against the requested one.
 *
 * @throws DtypeError when the requested dtype or byte order differs from the file's
 */
export function assertDtype(
  name: string,
  found: { readonly dtype: Dtype; readonly bigEndian: boolean },
  { dtype, bigEndian }: ReadRequest,
): void {
  const inOrder =
    bigEndian === undefined || dtypeInfo(found.dtype).bytes === 1 || bigEndian === found.bigEndian;
  if (dtype === undefined || (dtype === found.dtype && inOrder)) return;
  const wanted = `${dtype}${bigEndian === undefined ? '' : bigEndian ? 'be' : 'le'}`;
  throw new DtypeError(
    `cannot read ${name} as ${wanted} keys: it holds ${found.dtype} keys. Omit the dtype, or use the format raw to ` +
      'read all its bytes as keys',
    { details: { path: name, found: found.dtype, expected: wanted } },
  );
}
