import { mostKeysOf } from '../io/keys.js';
import { hostSorter, sorterOfFew } from '../sort/api/host-sorter.js';
import type { OpenOptions } from '../sort/api/options.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';
import type { SortArguments } from './options/sort.js';

/**
 * Opens what sorts a file. Where the host does, nothing of what drives devices is loaded: for small files that takes
 * longer than the sort.
 *
 * @param keyBytes of a key
 * @throws as `Sorter.open`
 */
export async function sorterFor(
  { in: from, device, algorithm, scan, 'radix-bits': radixBits }: SortArguments,
  keyBytes: number,
  onWarning: NonNullable<OpenOptions['onWarning']>,
): Promise<SorterOperations> {
  if (device === 'host') return hostSorter(onWarning);
  if (device === 'auto' && algorithm === 'auto' && scan === 'auto' && radixBits === undefined) {
    const mostKeys = await mostKeysOf(from, keyBytes);
    const sorter = mostKeys === undefined ? undefined : sorterOfFew(mostKeys, onWarning);
    if (sorter) return sorter;
  }
  const { Sorter } = await import('../sort/api/sorter.js');
  return Sorter.open({ device, onWarning });
}
