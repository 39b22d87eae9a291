import test, { type Implementation } from 'ava';
import { Device } from '../src/device/device.js';
import { CHECKS_READS } from './checks-reads.js';
import { PLATFORMS, SMALL } from './platforms.js';
import { where } from './where.js';

export { PLATFORMS, SMALL };

const retained: unknown[] = [];

async function openDevice(spec: string): Promise<Device> {
  const device = await Device.open(spec);
  if (!CHECKS_READS) return device;
  const make = device.buffer.bind(device);
  Object.assign(device.pool, { give: () => undefined });
  return Object.assign(device, {
    buffer: (...args: Parameters<Device['buffer']>) => {
      const buffer = make(...args);
      retained.push(buffer);
      return Object.assign(buffer, { release: () => undefined });
    },
  });
}

/** The names in CLSORT_TEST_DEVICES. */
export const deviceNames = (): string[] =>
  (process.env.CLSORT_TEST_DEVICES ?? 'pocl').split(',').map((name) => name.trim());

interface Tested {
  readonly title: (claim: string) => string;
  /** Opens the device, once for all tests of the file. */
  readonly open: () => Promise<Device>;
  /** Declares that the device is closed after the tests of the file. */
  readonly closeAfter: () => void;
  readonly small: boolean;
  readonly name: string;
}

/** The devices of `CLSORT_TEST_DEVICES`. */
function tested(): Tested[] {
  const names = deviceNames();
  return names.map((name) => {
    let opened: Promise<Device> | undefined;
    const open = () => {
      opened ??= openDevice(PLATFORMS[name] ?? name);
      return opened;
    };
    const closeAfter = () =>
      test.after.always(`${name} closes`, async () => {
        await (await opened)?.close();
      });
    const title = (claim: string) => (names.length > 1 ? `${name}: ${claim}` : claim);
    return { title, open, closeAfter, small: SMALL.has(name), name };
  });
}

/**
 * Declares the same tests for each device of `CLSORT_TEST_DEVICES` (names of drivers or device specs, separated by
 * commas; default: pocl). A missing device fails its tests.
 *
 * @param declare receives a function that adds the device to titles, a function that opens it (once for all tests of
 * the file), whether only small sizes are wanted, and the device's name
 */
export function forEachDevice(
  declare: (
    title: (claim: string) => string,
    device: () => Promise<Device>,
    small: boolean,
    name: string,
  ) => void,
): void {
  for (const { title, open, closeAfter, small, name } of tested()) {
    closeAfter();
    declare(title, open, small, name);
  }
}

/**
 * Like `forEachDevice`, but the device is open before tests are declared, so that unsupported tests can be declared as
 * skips. Await it at the top of a file.
 */
export async function forEachOpened(
  declare: (title: (claim: string) => string, device: Device, small: boolean, name: string) => void,
): Promise<void> {
  // AVA starts soon after the first declaration, so that all devices are opened before it.
  const opened = await Promise.all(tested().map(async (one) => ({ ...one, device: await one.open() })));
  for (const { title, device, closeAfter, small, name } of opened) {
    closeAfter();
    declare(title, device, small, name);
  }
}

/**
 * Declares a test that runs where `able` is true. Otherwise `able` is the reason, which the title of the skip contains.
 */
export function testIf(able: true | string, title: string, body: Implementation<[]>): void {
  where(able === true, String(able), test.serial)(title, body);
}
