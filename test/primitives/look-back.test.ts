import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Device } from '../../src/device/device.js';
import { passesSelfTest } from '../../src/primitives/look-back.js';
import { selfTestsIn } from '../self-tests.js';

const folder = mkdtempSync(join(tmpdir(), 'clsort-look-back-'));
process.env.CLSORT_CACHE_DIR = folder;
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

/** The device properties that identify a cached result. A new object stands for a new process. */
const opened = (driver = '1'): Device =>
  ({ info: { platform: 'p', name: 'd', driver } }) as unknown as Device;

test('the result of a look-back self-test is cached for the device and its driver', async (t) => {
  let tests = 0;
  const finds = (ok: boolean) => async () => {
    tests++;
    return ok;
  };
  t.true(await passesSelfTest(opened(), 'sound', finds(true)));
  t.true(await passesSelfTest(opened(), 'sound', finds(false)), 'not tested again');
  t.false(await passesSelfTest(opened(), 'unsound', finds(false)));
  t.false(await passesSelfTest(opened(), 'unsound', finds(true)));
  t.is(tests, 2);
  t.false(await passesSelfTest(opened('2'), 'sound', finds(false)), 'another driver');
  t.is(tests, 3);
  t.regex(Object.keys(selfTestsIn(folder)).join(), /look-back/);
});

test('a self-test in which the device fails rejects, and no result is cached', async (t) => {
  const device = opened();
  const fail = async () => {
    throw new Error('lost');
  };
  await t.throwsAsync(passesSelfTest(device, 'failing', fail), { message: 'lost' });
  t.true(await passesSelfTest(device, 'failing', async () => true));
});
