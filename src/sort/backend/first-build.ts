/** The first build of a driver that the tests do not run on. It takes place in a child process, which it may end. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { Device, type DeviceOptions } from '../../device/device.js';
import { findDevices } from '../../device/platform/platform.js';
import { quirksOf } from '../../device/platform/quirks.js';
import { selectDevice } from '../../device/platform/select-device.js';
import { cacheFolder } from '../../util/cache.js';
import { UnsupportedError } from '../../util/errors.js';
import { programFile } from '../../util/package.js';
import { readSelfTestRecord, type SelfTestKey, storeSelfTestRecord } from '../../util/self-test-records.js';
import { FIRST_BUILD_SECONDS } from './policy.js';

const PROGRAM = 'sort/backend/first-build-child.js';

/** Messages of the child: before it opens the device, and after the build. */
export type FirstBuildMessage = 'started' | 'built';

/**
 * Builds kernels in a child process, and runs two of them, if the driver of a device is neither one of the tests nor recorded. The verdict is
 * recorded. Without the right to start a child process, nothing happens.
 *
 * @param spec device spec
 * @param seconds deadline; 0: nothing happens
 * @throws UnsupportedError when the driver ended the child process, or exceeded the deadline
 * @throws the errors of `selectDevice`
 */
export async function tryFirstBuild(spec: string, seconds = FIRST_BUILD_SECONDS): Promise<void> {
  if (seconds === 0) return;
  const { info } = selectDevice(spec, findDevices());
  if (quirksOf(info).isTested) return;
  const { platform, name, driver } = info;
  const key: SelfTestKey = [platform, name, driver, 'first build'];
  let record = readSelfTestRecord(key);
  if (!record) {
    const child = await startChild(`${platform}\n${name}\n${driver}`);
    if (!child) return;
    record = storeSelfTestRecord(key, await problemOf(child, seconds));
  }
  if (record.ok) return;
  throw new UnsupportedError(
    `cannot use ${name}: ${record.reason}. Update the driver, or use device 'host'. To try again, delete ` +
      `the folder self-tests in ${cacheFolder()}`,
    { details: { selfTestRecord: record } },
  );
}

/**
 * Opens a device after the first build of its driver.
 *
 * @throws UnsupportedError when the first build failed
 * @throws the errors of `Device.open`
 */
export async function openDevice(spec: string, options?: DeviceOptions): Promise<Device> {
  await tryFirstBuild(spec);
  return Device.open(spec, options);
}

/** Starts the child; returns undefined where that is impossible, or would start another program than Node. */
async function startChild(name: string): Promise<ChildProcess | undefined> {
  const program = programFile(PROGRAM);
  if (!/^node\b/.test(basename(process.execPath)) || process.versions.electron || !existsSync(program))
    return;
  const { spawn } = await import('node:child_process'); // most drivers need none
  try {
    return spawn(process.execPath, [program, name], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true, // terminal signals go to this process only, which ends the child
      windowsHide: true,
    });
  } catch {
    return undefined; // the permission model of Node denies it
  }
}

/** Waits for the child. @returns how the driver failed; undefined if it did not */
async function problemOf(child: ChildProcess, seconds: number): Promise<string | undefined> {
  let [hasStarted, isLate] = [false, false];
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL'); // it may hang in the driver
  }, seconds * 1000);
  const end = await new Promise<string | undefined>((resolve) => {
    child.on('message', (message: FirstBuildMessage) => {
      if (message === 'built') resolve(undefined);
      hasStarted = true;
    });
    child.once('error', () => resolve(undefined));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  clearTimeout(timer);
  child.kill('SIGKILL'); // its end may wait for the driver
  if (end === undefined || !hasStarted) return undefined; // no fault of the driver
  return isLate
    ? `its driver did not build its first kernels within ${seconds} s`
    : `its driver ended a process that built and ran kernels (${end})`;
}
