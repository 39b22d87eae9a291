/** Compilers that end or block the process: the first build of a driver takes place in a child process. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { dtypeInfo } from '../../src/keys/dtype.js';
import { KINDS } from '../../src/primitives/possible.js';
import { packageRoot } from '../../src/util/paths.js';
import { MAIN } from '../cli/cli.js';
import { profileNamed } from '../device/profiles.js';
import { tellingFixture } from '../layer/fixture.js';
import { layerEnvironment } from '../layer/layer.js';
import { profileFile } from '../layer/profile-file.js';
import { selfTestsIn } from '../self-tests.js';

const fixture = fileURLToPath(new URL('./fixtures/first-build.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'clsort-first-build-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

interface Outcome {
  readonly result: string;
  readonly warnings: readonly string[];
}

interface Options {
  readonly device?: string;
  readonly seconds?: number;
  readonly variables?: NodeJS.ProcessEnv;
  readonly nodeArgs?: string[];
}

let caches = 0;
/** An empty cache, since programs of other tests would not be compiled. */
const newCache = (): string => join(folder, `cache ${caches++}`);

/** Variables with which PoCL plays an Adreno. */
function environment(cache: string, variables?: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const [control, profile] = [join(folder, 'control'), join(folder, 'profile')];
  writeFileSync(control, '');
  writeFileSync(profile, profileFile(profileNamed('adreno-630')));
  const { CLSORT_POLICY: _, ...inherited } = process.env;
  return {
    ...inherited,
    ...layerEnvironment(control),
    CLSORT_LAYER_PROFILE: profile,
    CLSORT_CACHE_DIR: cache,
    ...variables,
  };
}

async function sortOn(cache: string, { device = 'gpu', seconds, variables, nodeArgs = [] }: Options = {}) {
  const task = { device, ...(seconds !== undefined && { seconds }) };
  const { outcomes, ended } = await tellingFixture<Outcome>(fixture, task, {
    env: environment(cache, variables),
    silenceSeconds: 300,
    nodeArgs,
  });
  return { ...(outcomes[0] ?? { result: '', warnings: [] }), ended };
}

/** The verdict on the first build in a cache. */
const verdictIn = (cache: string) =>
  Object.entries(selfTestsIn(cache)).find(([variant]) => variant.endsWith('| first build'))?.[1];

const ABORTS = { CLSORT_LAYER_ABORT_BUILD: 'driver_probe.cl' };

test.serial(
  'a driver that was never seen builds in a child process once, and its verdict is kept',
  async (t) => {
    const cache = newCache();
    t.is((await sortOn(cache)).result, 'right');
    t.like(verdictIn(cache), { ok: true });
    // A second child process would end at once.
    t.is((await sortOn(cache, { variables: { CLSORT_LAYER_ABORT_BUILD: 'no such text' } })).result, 'right');
  },
);

test.serial('a compiler that ends the process ends the child only, once', async (t) => {
  const cache = newCache();
  for (const variables of [ABORTS, {}]) {
    const { result, ended } = await sortOn(cache, { variables });
    t.is(ended, undefined);
    t.regex(
      result,
      /^UnsupportedError: cannot use QUALCOMM Adreno\(TM\): its driver ended a process .*SIGABRT/,
    );
  }
  t.like(verdictIn(cache), { ok: false });
});

test.serial('a compiler of a real sort that ends the process ends the child only', async (t) => {
  const variables = { CLSORT_LAYER_ABORT_BUILD: 'key_codec.clh' };
  t.regex((await sortOn(newCache(), { variables })).result, /^UnsupportedError: .*SIGABRT/);
});

for (const kernel of ['reduce_once', 'scan_once', 'compact_once']) {
  test.serial(
    `a compiler of the primitive ${kernel} that ends the process ends the child only`,
    async (t) => {
      const variables = { CLSORT_LAYER_ABORT_BUILD: kernel };
      t.regex((await sortOn(newCache(), { variables })).result, /^UnsupportedError: .*SIGABRT/);
    },
  );
}

for (const dtype of ['u32', 'f32'] as const) {
  test.serial(
    `a driver that ends the process in the sum of one ${dtype} key ends the child only`,
    async (t) => {
      const cache = newCache();
      const kind = KINDS[dtypeInfo(dtype).kind];
      const variables = { CLSORT_LAYER_ABORT: `reduce_once -DKIND=${kind}` };
      t.regex(
        (await sortOn(cache, { variables })).result,
        /^UnsupportedError: cannot use QUALCOMM Adreno\(TM\): its driver ended a process that built and ran kernels \(SIGABRT\)/,
      );
      t.like(verdictIn(cache), { ok: false });
    },
  );
}

for (const [command, ...args] of [
  ['explain', '3', '1', '2'],
  ['tune', '--algorithm', 'serial'],
  ['bench', 'sorts', '--count', '1000'],
  ['bench', 'ladder', '--count', '1000'],
] as const) {
  const line = `clsort ${[command, ...args].join(' ')}`;
  test.serial(`a compiler that ends the process does not end '${line}'`, async (t) => {
    const { status, signal, stderr } = spawnSync(
      process.execPath,
      [MAIN, command, ...args, '--device', 'gpu'],
      { env: environment(newCache(), ABORTS), encoding: 'utf8' },
    );
    t.is(signal, null);
    t.is(status, 4, stderr);
    t.regex(stderr, /cannot use QUALCOMM Adreno\(TM\): its driver ended a process .*SIGABRT/);
  });
}

test.serial('a compiler that hangs is ended at the deadline', async (t) => {
  const started = performance.now();
  const variables = { CLSORT_LAYER_HANG_BUILD: 'driver_probe.cl' };
  const { result } = await sortOn(newCache(), { variables, seconds: 5 });
  t.regex(result, /^UnsupportedError: .* did not build its first kernels within 5 s/);
  t.true(performance.now() - started < 60_000);
});

test.serial('where the device is chosen automatically, the host sorts with a warning', async (t) => {
  const { result, warnings } = await sortOn(newCache(), { device: 'auto', variables: ABORTS });
  t.is(result, 'right');
  t.regex(warnings.join('\n'), /falling back to the host engine: cannot use QUALCOMM Adreno/);
});

const MODEL = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';

test.serial('without the permission for child processes the build runs in this process', async (t) => {
  const cache = newCache();
  const allowed = ['--allow-fs-read=*', '--allow-fs-write=*', '--allow-addons'];
  const known = allowed.filter((option) =>
    process.allowedNodeEnvironmentFlags.has(option.split('=')[0] ?? ''),
  );
  t.is((await sortOn(cache, { nodeArgs: ['--no-warnings', MODEL, ...known] })).result, 'right');
  t.is(verdictIn(cache), undefined);
});

test.serial('CLSORT_POLICY=firstBuild=off builds in this process', async (t) => {
  const cache = newCache();
  const off = { CLSORT_POLICY: 'firstBuild=off' };
  t.is((await sortOn(cache, { variables: off })).result, 'right');
  t.is(verdictIn(cache), undefined);
  t.regex((await sortOn(newCache(), { variables: { ...off, ...ABORTS } })).ended ?? '', /SIGABRT/);
});

test.serial('the drivers that the tests run on build in this process at once', async (t) => {
  const cache = newCache();
  const { result } = await sortOn(cache, { device: 'cpu', variables: { CLSORT_LAYER_PROFILE: '' } });
  t.is(result, 'right');
  t.is(verdictIn(cache), undefined);
});

test('the package contains the program of the child process', (t) => {
  t.true(existsSync(join(packageRoot, 'dist/lib/sort/backend/first-build-child.js')));
});
