import test from 'ava';
import { Device } from '../src/device/device.js';

/** Part of the platform's name by which the tests know a driver. */
export const PLATFORMS: Readonly<Record<string, string>> = {
  pocl: 'Portable Computing Language',
  rusticl: 'rusticl',
  clover: 'Clover',
  oclgrind: 'Oclgrind',
};

/** Simulators and slow drivers, which run the small sizes only. */
export const SMALL = new Set(['rusticl', 'clover', 'oclgrind']);

/** The names in CLSORT_TEST_DEVICES. */
export const deviceNames = (): string[] =>
  (process.env.CLSORT_TEST_DEVICES ?? 'pocl').split(',').map((name) => name.trim());

/**
 * Declares the same tests for each device of `CLSORT_TEST_DEVICES` (names of drivers or device specs,
 * separated by commas; default: pocl). A device that is not there fails its tests.
 *
 * @param declare gets a function that puts the device into titles, one that opens it (once for all
 *   tests of the file), whether only small sizes are wanted, and its name
 */
export function forEachDevice(
  declare: (
    title: (claim: string) => string,
    device: () => Promise<Device>,
    small: boolean,
    name: string,
  ) => void,
): void {
  const names = deviceNames();
  for (const name of names) {
    let opened: Promise<Device> | undefined;
    const open = () => {
      opened ??= Device.open(PLATFORMS[name] ?? name);
      return opened;
    };
    test.after.always(`${name} closes`, async () => {
      await (await opened)?.close();
    });
    declare((claim) => (names.length > 1 ? `${name}: ${claim}` : claim), open, SMALL.has(name), name);
  }
}
