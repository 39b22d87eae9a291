import { formatValue } from '../../util/format-value.js';
import {
  assertOneOfDevices,
  needsDevice,
  type OpenOptions,
  requireOptionsObject,
  type SortOptions,
} from '../model/options.js';

type Open = (options: OpenOptions) => Promise<{ close(): Promise<void> }>;

let openSorter: Open | undefined;

/**
 * Sets the function that opens the Sorters of the default functions. Operations cannot import it: a program that only
 * uses the host engine loads the operations without the code that controls devices.
 */
export function setOpenSorter(open: Open): void {
  openSorter = open;
}

/** One lazily opened Sorter for each device, or list of devices, that was requested. */
const sorters = new Map<string, ReturnType<Open>>();

/** Returns the Sorter of a device, and opens it on first use. A failure is not cached. */
export function sorterFor<S>({ device = 'auto', devices, onWarning }: OpenOptions = {}): Promise<S> {
  const name = formatValue(devices ?? device);
  let sorter = sorters.get(name);
  if (!sorter) {
    sorter = (openSorter as Open)({
      ...(devices ? { devices } : { device }),
      ...(onWarning && { onWarning }),
    });
    sorter.catch(() => sorters.delete(name));
    sorters.set(name, sorter);
  }
  return sorter as Promise<unknown> as Promise<S>;
}

/**
 * Runs `use` with the Sorter that the options select. The Sorter validates all other options. An algorithm of devices
 * opens the best device if none is named, even if the host engine is faster.
 */
export async function withSorter<S, T, O extends OpenOptions>(
  options: O | undefined,
  use: (sorter: S, options: O) => Promise<T>,
): Promise<T> {
  const all = requireOptionsObject(options);
  const { device = 'auto', devices, ...rest } = all;
  assertOneOfDevices(all);
  const { algorithm = 'auto', advanced } = all as SortOptions;
  const best =
    device === 'auto' && !devices && needsDevice({ algorithm, ...advanced }) ? { device: 'all' } : {};
  return use(await sorterFor<S>({ ...options, ...best }), rest as O);
}

/**
 * Closes the Sorters that the functions of this module opened. A program need not call it before it ends.
 *
 * @example
 * ```ts
 * await closeAll();
 * ```
 */
export async function closeAll(): Promise<void> {
  const open = [...sorters.values()];
  sorters.clear();
  for (const sorter of await Promise.allSettled(open)) {
    if (sorter.status === 'fulfilled') await sorter.value.close();
  }
}
