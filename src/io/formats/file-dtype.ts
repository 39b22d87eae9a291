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
    `${name} holds ${found.dtype} keys, and ${wanted} was asked for: leave the dtype out, or read the file as it ` +
      'stands, header and all, with the format raw',
    { details: { path: name, found: found.dtype, expected: wanted } },
  );
}
