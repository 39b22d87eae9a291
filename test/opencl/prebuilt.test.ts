import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { installInto } from '../installed.js';
import { where } from '../where.js';

const onLinux = where(process.platform === 'linux', 'only on Linux', test);

/** Runs Node in a folder where the package is installed without an addon, after a script that changes the system. */
function runWith(setUp: string, args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-addon-'));
  try {
    installInto(folder, { withAddon: false });
    writeFileSync(join(folder, 'set-up.cjs'), setUp);
    const { CLSORT_ADDON: _, ...env } = process.env;
    return spawnSync(process.execPath, ['--require', './set-up.cjs', ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Node's report when it is linked to musl: no mention of glibc. */
const AS_MUSL = `
const { getReport } = process.report;
process.report.getReport = () => {
  if (!process.report.excludeNetwork) throw new Error('a report that asks the network for names takes seconds');
  const report = getReport.call(process.report);
  delete report.header.glibcVersionRuntime;
  return report;
};
`;
const AS_NODE_21 = `Object.defineProperty(process.versions, 'node', { value: '21.0.0' });`;

const PROGRAM =
  "import('clsort/opencl').then((cl) => cl.getPlatformIDs()).catch((error) => console.log(error.code, error.message))";

onLinux(
  'without an addon the error names the package with the prebuilt one, and the command that builds one',
  (t) => {
    const major = process.versions.node.split('.')[0];
    const { stdout, stderr } = runWith(AS_MUSL, ['-e', PROGRAM]);
    t.regex(
      stdout,
      /^ERR_CLSORT_UNSUPPORTED cannot load clsort's native addon for Node .* on linux-\w+-musl/,
      stderr,
    );
    t.regex(stdout, new RegExp(`npm install @clsort/linux-\\w+-musl-node${major}@\\d`));
    t.regex(stdout, /npx clsort build-addon\n.*apk add g\+\+ make python3 opencl-headers/);
    const other = runWith(AS_NODE_21, ['-e', PROGRAM]).stdout;
    t.regex(other, /use a version of Node with a prebuilt addon: 20, 22, 24, 26\n/);
    t.regex(other, /Debian, Ubuntu: apt install/);
  },
);

onLinux('build-addon says what it needs, and reports a failed build', (t) => {
  const build = (env: NodeJS.ProcessEnv) => {
    const command = [join(packageRoot, 'dist/src/cli/main.js'), 'build-addon'];
    const { status, stderr } = spawnSync(process.execPath, command, {
      env: { ...process.env, CXX: 'c++', CPATH: tmpdir(), ...env },
      encoding: 'utf8',
    });
    t.is(status, 4, stderr);
    return stderr;
  };
  t.regex(
    build({ PATH: '' }),
    /cannot build the addon: make, python3.* missing\. Debian, Ubuntu: apt install make python3/,
  );
  t.regex(
    build({ npm_config_node_gyp: join(packageRoot, 'LICENSE') }),
    /cannot build the addon: node-gyp ended with 1, as shown above\. Sort without it/,
  );
});
