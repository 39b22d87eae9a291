/** Which tests CI runs, skips and keeps: lanes, the rotation, the kernel cache and records of green lanes. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { globSync } from 'tinyglobby';
import { packageRoot } from '../../src/util/paths.js';

interface Step {
  readonly name: string;
  readonly tests?: readonly string[];
}
interface Lane {
  readonly name: string;
  readonly when: 'always' | 'rotation' | 'full';
  readonly reads?: readonly string[];
  readonly steps: readonly (Step | readonly Step[])[];
}

const script = (name: string) => import(pathToFileURL(join(packageRoot, 'scripts/ci', name)).href);
const { lanes, TEST_LANES } = await script('lanes.mjs');
const LANES: readonly Lane[] = lanes();

const scratch = mkdtempSync(join(tmpdir(), 'clsort-ci-test-'));
test.after.always(() => rmSync(scratch, { recursive: true, force: true }));

const testsIn = (steps: readonly (Step | readonly Step[])[]): string[] =>
  steps.flat().flatMap(({ tests = [] }) => tests.filter((name) => !name.startsWith('--')));

const filesOfPatterns = (patterns: readonly string[]): Set<string> => {
  const sources = patterns.map((name) => name.replace('dist/', '').replace(/\.js$/, '.ts'));
  return new Set(globSync(sources, { cwd: packageRoot }));
};

test('every test file is in a lane that always runs or is in the rotation', (t) => {
  const steps = LANES.filter(({ when }) => when !== 'full').flatMap(({ steps }) => steps);
  const covered = filesOfPatterns([...testsIn(steps), ...testsIn(TEST_LANES)]);
  const all = globSync(['test/**/*.test.ts'], { cwd: packageRoot });
  t.true(all.length > 200);
  t.deepEqual(
    all.filter((file) => !covered.has(file)),
    [],
  );
});

test('no test file is in both lanes of npm test', (t) => {
  const [a, b] = (TEST_LANES as Step[]).map((lane) => filesOfPatterns(testsIn([lane])));
  t.true(a !== undefined && a.size > 50 && b !== undefined && b.size > 50);
  t.deepEqual(
    [...(a ?? [])].filter((file) => b?.has(file)),
    [],
  );
});

test('each pattern of a lane names a test file', (t) => {
  for (const pattern of testsIn(LANES.flatMap(({ steps }) => steps))) {
    t.true(filesOfPatterns([pattern]).size > 0, pattern);
  }
});

test('ten successive commits run each slice of the rotation once, in an order that varies', async (t) => {
  const { sliceOf } = await script('rotation.mjs');
  const slices = LANES.filter(({ when }) => when === 'rotation').length;
  t.is(slices, 10);
  const orders = new Set<string>();
  for (let round = 0; round < 20; round++) {
    const run = Array.from({ length: slices }, (_, i) => sliceOf(round * slices + i + 1, slices));
    t.deepEqual(
      run.toSorted((x, y) => x - y),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    orders.add(run.join());
  }
  t.true(orders.size > 15);
  const everyFifth = new Set(Array.from({ length: 40 }, (_, i) => sliceOf(5 * i + 1, slices)));
  t.is(everyFifth.size, slices, 'a habit of submitting each fifth commit leaves no slice out');
});

test('the lanes of a commit are the same in each run', (t) => {
  const list = () =>
    execFileSync(process.execPath, ['scripts/ci.mjs', '--list'], { cwd: packageRoot, encoding: 'utf8' });
  const [first, second] = [list(), list()];
  t.is(first, second);
  t.regex(first, /^always +npm test$/m);
  t.is(first.match(/^rotation /gm)?.length, 1);
});

test('a change in any file that a lane reads runs the lane', async (t) => {
  const { filesOf, laneHash, withImports } = await script('unchanged.mjs');
  const all = globSync(['{src,test,cl,scripts}/**/*', '*.json', 'binding.gyp'], { cwd: packageRoot });
  for (const lane of LANES.filter(({ reads }) => reads)) {
    const files: string[] = filesOf(lane, all);
    const own = [...filesOfPatterns(testsIn(lane.steps))];
    for (const file of withImports(own)) t.true(files.includes(file), `${lane.name}: ${file}`);
    const contents = (changed?: string) => (file: string) => `${file}${file === changed ? ' changed' : ''}`;
    const hash = (changed?: string): string => laneHash(lane, { files, read: contents(changed), facts: [] });
    const unchanged = hash();
    t.is(hash(), unchanged);
    for (const file of files) t.not(hash(file), unchanged, `${lane.name}: ${file}`);
    t.not(laneHash(lane, { files, read: contents(), facts: ['another driver'] }), unchanged);
    t.not(
      laneHash(lane, { files: files.slice(1), read: contents(), facts: [] }),
      unchanged,
      'a file is removed',
    );
  }
});

test('imports and fixtures are followed to the files that a test depends on', async (t) => {
  const { withImports } = await script('unchanged.mjs');
  const files: string[] = withImports(['test/device/profiles.test.ts']);
  for (const file of [
    'test/device/profiled.ts',
    'test/device/fixtures/profiled.ts',
    'src/algorithms/registry.ts',
  ]) {
    t.true(files.includes(file), file);
  }
  t.false(files.includes('src/cli/main.ts'));
});

test('a green lane is skipped for other commits with the same hash, not for its own', async (t) => {
  const { GreenLanes } = await script('unchanged.mjs');
  const file = join(scratch, 'green/lanes.json');
  new GreenLanes(file).add(['one'], 'commit 1');
  const green = new GreenLanes(file);
  t.is(green.commitOf('one', 'commit 2'), 'commit 1');
  t.is(green.commitOf('one', 'commit 1'), undefined);
  t.is(green.commitOf('two', 'commit 2'), undefined);
  green.add(['one', 'two'], 'commit 2');
  const later = new GreenLanes(file);
  t.is(
    later.commitOf('one', 'commit 2'),
    'commit 1',
    'a second run of commit 2 skips what the first one skipped',
  );
  t.is(later.commitOf('two', 'commit 2'), undefined, 'and runs what the first one ran');
});

test('the cache key changes with kernels, build options, drivers and processors', async (t) => {
  const { buildOptionSources, cacheKey } = await script('kernel-cache.mjs');
  const kernel = join(scratch, 'kernel.cl');
  writeFileSync(kernel, 'kernel void a() {}');
  const key = (facts: unknown = []) => cacheKey({ files: [kernel], facts });
  const first = key();
  t.is(key(), first);
  t.not(key(['another driver']), first);
  writeFileSync(kernel, 'kernel void b() {}');
  t.not(key(), first);
  const sources: string[] = buildOptionSources();
  for (const name of [
    'algorithms/onesweep.ts',
    'device/programs/program.ts',
    'primitives/prefix-scan.ts',
    'sort/verification/verify.ts',
  ]) {
    t.true(sources.includes(join(packageRoot, 'src', name)), name);
  }
  t.false(sources.includes(join(packageRoot, 'src/cli/main.ts')));
});

test('a run starts with the cached files of its key, works on a copy, and never sees another key', async (t) => {
  const { openKernelCache } = await script('kernel-cache.mjs');
  const places = { home: join(scratch, 'home'), work: join(scratch, 'work') };
  const first = openKernelCache({ ...places, key: 'k1' });
  t.false(first.isWarm);
  const kernel = join(first.env.POCL_CACHE_DIR, 'kernel.so');
  writeFileSync(kernel, 'compiled');
  first.publish();
  writeFileSync(kernel, 'changed after the run');
  const second = openKernelCache({ ...places, key: 'k1' });
  t.true(second.isWarm);
  t.is(readFileSync(kernel, 'utf8'), 'compiled');
  t.is(readFileSync(join(second.env.CLSORT_TEST_CACHE, 'key')).length, 32);
  const other = openKernelCache({ ...places, key: 'k2' });
  t.false(other.isWarm);
  t.false(existsSync(kernel));
});

test('the folders of keys that were used longest ago are removed', async (t) => {
  const { openKernelCache } = await script('kernel-cache.mjs');
  const places = { home: join(scratch, 'many'), work: join(scratch, 'work of many') };
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) openKernelCache({ ...places, key }).publish();
  const cached = readdirSync(places.home);
  t.is(cached.length, 4);
  t.true(cached.includes('f'));
});

test('a test process begins with shared records, and adds its own when it ends', (t) => {
  const shared = join(scratch, 'shared');
  const [one, two] = ['one', 'two'].map(
    (name) => `import { seededCache, shareCache } from ${JSON.stringify(
      pathToFileURL(join(packageRoot, 'dist/test/test-cache.js')).href,
    )};
import { storeSelfTestRecord, readSelfTestRecord } from ${JSON.stringify(
      pathToFileURL(join(packageRoot, 'dist/src/util/self-test-records.js')).href,
    )};
process.env.CLSORT_CACHE_DIR = seededCache(${JSON.stringify(join(scratch, name))});
const of = (variant) => ['platform', 'device', 'driver', variant];
console.log(readSelfTestRecord(of('one'))?.ok ?? 'none', readSelfTestRecord(of('two'))?.ok ?? 'none');
storeSelfTestRecord(of('${name}'), undefined);
shareCache(process.env.CLSORT_CACHE_DIR);`,
  );
  mkdirSync(shared);
  writeFileSync(join(shared, 'key'), new Uint8Array(32), { mode: 0o600 });
  const run = (program = '') => {
    const env = { ...process.env, CLSORT_TEST_CACHE: shared };
    const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      env,
      encoding: 'utf8',
    });
    t.is(ran.status, 0, ran.stderr);
    return ran.stdout.trim();
  };
  t.is(run(one), 'none none');
  t.is(run(two), 'true none');
  t.is(run(one), 'true true');
});

test('counts and crashed files are read from the output of ava', async (t) => {
  const { countsOf, crashedFiles } = await script('results.mjs');
  const output = `  ✔ io › keys › reads
  - [skip] io › keys › reads a pipe (no pipes here)
  ✘ dist/test/io/keys.test.js exited due to SIGSEGV
  ✘ dist/test/io/raw.test.js exited with a non-zero exit code: 1
  ─

  12 tests passed
  2 tests failed
  1 test skipped
  1 unhandled rejection
`;
  t.deepEqual(countsOf(output), { passed: 12, failed: 3, skipped: 1 });
  const withoutPassed = output.replace('  12 tests passed\n', '');
  t.deepEqual(countsOf(withoutPassed), { passed: 1, failed: 3, skipped: 1 }, 'as ava ends after failures');
  t.deepEqual(crashedFiles(output), ['dist/test/io/keys.test.js', 'dist/test/io/raw.test.js']);
});

test('times, failures and skips of a run are printed and stored, and one failure fails it', (t) => {
  const out = join(scratch, 'out');
  const program = `import { Results } from './scripts/ci/results.mjs';
const results = new Results();
await results.check('works', ['true']);
await results.check('fails', ['sh', '-c', 'echo why; exit 3']);
await results.check('hangs', ['sleep', '60'], { minutes: 0.005 });
results.skip('unchanged since 1234: a lane');
process.exitCode = results.print();`;
  const env = { ...process.env, CLSORT_CI_OUT: out };
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: packageRoot,
    env,
    encoding: 'utf8',
  });
  t.is(status, 1);
  t.is(stdout.trimEnd().split('\n').at(-1), '1 passed, 2 failed, 1 skipped');
  t.regex(stdout, /--- fails: FAILED \(exit code 3\)/);
  t.regex(stdout, /--- hangs: FAILED \(killed after 0\.005 minutes\)/);
  t.regex(stdout, / 1 {2}unchanged since 1234: a lane/);
  const { stages, counts } = JSON.parse(readFileSync(join(out, 'ci-times.json'), 'utf8'));
  t.deepEqual(counts, { passed: 1, failed: 2, skipped: 1 });
  t.deepEqual(
    stages.map(({ name }: { name: string }) => name),
    ['works', 'fails', 'hangs'],
  );
});

test('npm test is the command of the README, and CI calls it', (t) => {
  t.regex(readFileSync(join(packageRoot, 'README.md'), 'utf8'), /npm test/);
  t.regex(readFileSync(join(packageRoot, 'scripts/ci.mjs'), 'utf8'), /\['npm', 'test'\]/);
});
