/** Device specs that select the same device in another process, and the environment of its driver. */
import type { DeviceInfo } from './platform.js';

/** Characters that separate device names. */
const SEPARATORS = /[,\n]/;

const searchText = ({ platform, name }: NamedDevice): string => `${platform}\n${name}`.toLowerCase();

type NamedDevice = Pick<DeviceInfo, 'id' | 'platform' | 'name'>;

/**
 * Returns a value of `--device` that selects this device and no other of `all`.
 *
 * @returns the platform, the name or a part of the name, whichever is unique first; else the number `P:D`
 */
export function deviceSpecOf(device: NamedDevice, all: readonly NamedDevice[]): string {
  const { id, platform, name } = device;
  const candidates = [platform, name, ...name.split(SEPARATORS)].map((part) => part.trim());
  const isUnique = (part: string): boolean =>
    part !== '' &&
    !SEPARATORS.test(part) &&
    all.filter((one) => searchText(one).includes(part.toLowerCase())).length === 1;
  return candidates.find(isUnique) ?? id;
}

/** Variables that select drivers and devices or change how they work. Cache folders of compiled kernels do neither. */
const DRIVER_VARIABLES =
  /^(OCL_ICD_(VENDORS|FILENAMES)|(RUSTICL|LP|CLOVER|POCL|OCLGRIND|GALLIUM|CUDA|ROCR|HIP|ZE|SYCL)_(?!CACHE_)\w+|UV_THREADPOOL_SIZE)$/;

/** Returns the environment variables that affect OpenCL drivers, sorted by name. */
export const driverEnvironment = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env)
      .flatMap(([name, value]) =>
        value !== undefined && DRIVER_VARIABLES.test(name) ? [[name, value] as const] : [],
      )
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
