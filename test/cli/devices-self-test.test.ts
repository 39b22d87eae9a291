import { writeFileSync } from 'node:fs';
import test from 'ava';
import type { SelfTestRow } from '../../src/matrix/self-tests.js';
import { LayerControl, layerEnvironment } from '../layer/layer.js';
import { selfTestsIn } from '../self-tests.js';
import { clsort, scratchFolder } from './cli.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const POCL = ['devices', '--self-test', '--device', 'portable computing'];

const rowsOf = (out: string): SelfTestRow[] => {
  const { schema, rows } = JSON.parse(out) as { schema: string; rows: SelfTestRow[] };
  if (schema !== 'clsort.self-tests/1') throw new Error(schema);
  return rows;
};

test('devices --self-test tests each algorithm on each device and stores the results', async (t) => {
  const env = { CLSORT_CACHE_DIR: path('cache') };
  const ran = await clsort([...POCL, '--algorithm', 'tiled', 'row'], { env });
  t.is(ran.code, 0, ran.err);
  const [device = '', heading = '', tiled = '', row = ''] = ran.out.split('\n');
  t.regex(device, /\(Portable Computing Language, driver /);
  t.regex(heading, /^algorithm +u32 +u64 +u32 \+ 4 bytes$/);
  t.regex(tiled, /^tiled( +passed, [\d.]+ m?s){3}$/);
  t.regex(row, /^row( +passed, [\d.]+ m?s){3}$/);
  const variants = Object.keys(selfTestsIn(path('cache')));
  for (const name of ['tiled', 'row']) {
    t.true(variants.filter((variant) => variant.includes(` | ${name} | `)).length >= 3, name);
  }
});

test('devices --self-test names the algorithm that fails its self-test, with the reason, and ends with 1', async (t) => {
  writeFileSync(path('control'), '');
  const control = new LayerControl(path('control'));
  control.corrupt(5, 0x10000);
  const env = { CLSORT_CACHE_DIR: path('spoiled'), ...layerEnvironment(path('control')) };
  const ran = await clsort([...POCL, '--algorithm', 'row', '--json'], { env });
  control.close();
  t.is(ran.code, 1, ran.err);
  const rows = rowsOf(ran.out);
  t.deepEqual(
    rows.map(({ variant, outcome }) => [variant, outcome]),
    [
      ['u32', 'failed'],
      ['u64', 'passed'],
      ['u32 + 4 bytes', 'passed'],
    ],
  );
  t.regex(rows[0]?.reason ?? '', /keys are wrong/);
  t.true(rows.every(({ seconds, device }) => seconds > 0 && device !== ''));
});

test('devices --self-test continues after a device is lost in a self-test', async (t) => {
  writeFileSync(path('lost'), '');
  const control = new LayerControl(path('lost'));
  const env = { CLSORT_CACHE_DIR: path('after loss'), ...layerEnvironment(path('lost')) };
  await clsort(['devices'], { env }); // the layer records the names of its functions
  control.fail({ at: 3, function: 'clEnqueueNDRangeKernel' }, -36);
  const ran = await clsort([...POCL, '--algorithm', 'row', '--json'], { env });
  control.close();
  t.is(ran.code, 1, ran.err);
  const outcomes = rowsOf(ran.out).map(({ outcome }) => outcome);
  t.is(outcomes.filter((outcome) => outcome === 'failed').length, 1);
  t.is(outcomes.filter((outcome) => outcome === 'passed').length, 2);
});

test('--certify is an alias of --self-test that the help does not show', async (t) => {
  const ran = await clsort(['devices', '--certify', '--device', 'no such device']);
  t.is(ran.code, 3);
  const unknown = await clsort([
    'devices',
    '--certify',
    '--algorithm',
    'quicksort',
    '--device',
    'portable computing',
  ]);
  t.is(unknown.code, 2, 'the option is read');
  t.false((await clsort(['devices', '--help=all'])).out.includes('certify'));
});

test('devices --self-test ends with 3 for an unknown device and with 2 for an unknown algorithm', async (t) => {
  t.is((await clsort(['devices', '--self-test', '--device', 'no such device'])).code, 3);
  const unknown = await clsort([...POCL, '--algorithm', 'quicksort']);
  t.is(unknown.code, 2);
  t.regex(unknown.err, /for --algorithm but got "quicksort"/);
});
