/** clsort doctor: what it finds on broken installations, and what it advises. */
import { mkdirSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);
mkdirSync(path('no-drivers'));
mkdirSync(path('broken'));
writeFileSync(path('broken/ghost.icd'), 'libghost.so.1\n');
writeFileSync(path('broken/empty.icd'), '');

interface Finding {
  readonly area: string;
  readonly state: string;
  readonly text: string;
  readonly fix?: string;
}

/** Returns the exit code, and what is wrong. */
async function doctor(env: NodeJS.ProcessEnv = {}) {
  const { code, out, err } = await clsort(['doctor', '--json'], { env });
  const { schema, findings } = JSON.parse(out) as { schema: string; findings: Finding[] };
  const problems = findings.filter(({ state }) => state === 'problem');
  return { code, err, schema, findings, problems };
}

test('a working installation has nothing wrong, and each device passes a self-test', async (t) => {
  const { code, err, schema, findings, problems } = await doctor();
  t.is(code, 0, err);
  t.is(schema, 'clsort.doctor/1');
  t.deepEqual(problems, []);
  const areas = new Set(findings.map(({ area }) => area));
  for (const area of ['Node', 'addon', 'host engine', 'loader', 'drivers', 'platforms', 'cache', 'self-test'])
    t.true(areas.has(area), area);
  t.true(findings.some(({ area, text }) => area === 'self-test' && /million keys\/s/.test(text)));
  const { out } = await clsort(['doctor']);
  t.regex(out, /^ok +Node +Node \d/);
  t.true(out.split('\n').length < 50, 'one screen');
});

test('without drivers there is no device, and one is to be installed', async (t) => {
  const { code, problems } = await doctor({ OCL_ICD_VENDORS: path('no-drivers') });
  t.is(code, 3);
  t.is(problems[0]?.area, 'drivers');
  t.regex(problems[0]?.fix ?? '', /apt install pocl-opencl-icd/);
});

test('drivers that do not load are named', async (t) => {
  const { code, problems } = await doctor({ OCL_ICD_VENDORS: path('broken') });
  t.is(code, 3);
  const texts = problems.map(({ text }) => text).toSorted();
  t.is(texts.length, 2);
  t.regex(texts[0] ?? '', /empty\.icd is empty or cannot be read/);
  t.regex(texts[1] ?? '', /ghost\.icd: libghost\.so\.1 does not load: .*cannot open shared object/);
});

test('an addon that does not load is a failure, with the command that builds one', async (t) => {
  const { code, problems } = await doctor({ CLSORT_ADDON: path('no-addon.node') });
  t.is(code, 4);
  t.is(problems[0]?.area, 'addon');
  t.regex(problems[0]?.fix ?? '', /^(?:npm install @clsort|npx clsort build-addon)/);
});

test('a cache that cannot be written is named', async (t) => {
  const { problems } = await doctor({ CLSORT_CACHE_DIR: path('broken/empty.icd/cache') });
  t.deepEqual(
    problems.map(({ area, fix }) => [area, fix]),
    [['cache', 'export CLSORT_CACHE_DIR=/var/tmp/clsort']],
  );
});

test('errors without a device end with the advice to run clsort doctor', async (t) => {
  const noPlatform = await clsort(['devices'], { env: { OCL_ICD_VENDORS: path('no-drivers') } });
  t.is(noPlatform.code, 3);
  t.regex(noPlatform.err, /run clsort doctor\n$/i);
  const noDevice = await clsort(['devices', '--device', 'no such device']);
  t.is(noDevice.code, 3);
  t.regex(noDevice.err, /run clsort doctor\n$/i);
});
