import { deviceSpecs } from '../device/platform/select-device.js';
import { maxKeyCount } from '../io/formats/keys.js';
import { dtypeInfo } from '../keys/dtype.js';
import { namedDtype } from '../keys/dtype-name.js';
import { hostSorter, smallHostSorter } from '../sort/api/host-sorter.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';
import type { OpenOptions } from '../sort/model/options.js';
import { type Console, ThreadNeeded } from './console.js';
import type { SortArguments } from './options/sort.js';

/** Options that select the sorter. */
type SorterArguments = Pick<SortArguments, 'in' | 'device'> & {
  readonly dtype?: string | undefined;
} & Partial<Pick<SortArguments, 'record' | 'algorithm' | 'scan' | 'radix-bits'>>;

/**
 * Opens the sorter for a file. When the host sorts, the device modules are not loaded: for small files, loading takes
 * longer than the sort.
 *
 * @throws ThreadNeeded when a device may be opened and this thread must not block
 * @throws the errors of `Sorter.open`
 */
export async function sorterFor(
  {
    in: inputs,
    dtype,
    record,
    device,
    algorithm = 'auto',
    scan = 'auto',
    'radix-bits': radixBits,
  }: SorterArguments,
  onWarning: NonNullable<OpenOptions['onWarning']>,
  { mayBlock }: Pick<Console, 'mayBlock'>,
): Promise<SorterOperations> {
  const specs = deviceSpecs(device ?? ['auto']);
  const [only] = specs.length === 1 ? specs : [];
  if (only === 'host') return hostSorter(onWarning);
  const ofDevice =
    algorithm !== 'host' && (algorithm !== 'auto' || scan !== 'auto' || radixBits !== undefined);
  if (only === 'auto' && !ofDevice) {
    const keyBytes = record ?? (dtype === undefined ? undefined : dtypeInfo(namedDtype(dtype).dtype).bytes);
    const maxKeys = await maxKeyCount(inputs, keyBytes);
    const sorter = maxKeys === undefined ? undefined : smallHostSorter(maxKeys, onWarning);
    if (sorter) return sorter;
  }
  if (!mayBlock) throw new ThreadNeeded();
  const { Sorter } = await import('../sort/api/sorter.js');
  // An algorithm of devices opens the best device, even if the host engine is faster.
  return Sorter.open({
    ...(only === 'auto' && ofDevice ? { device: 'all' } : { devices: specs }),
    onWarning,
  });
}
