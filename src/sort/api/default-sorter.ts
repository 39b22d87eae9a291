import { renamedError } from '../../util/renamed.js';
import { setOpenSorter, sorterFor, withSorter } from '../operations/default-sorters.js';
import { Sorter } from './sorter.js';

setOpenSorter((options) => Sorter.open(options));

export { sorterFor, withSorter };

/**
 * Throws: the name of this function is now `closeAll`.
 *
 * @deprecated Use `closeAll`.
 * @throws UsageError always
 */
export function close(): never {
  throw renamedError('function', 'close');
}
