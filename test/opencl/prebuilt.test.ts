import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { installInto } from '../installed.js';
import { where } from '../where.js';

const onLinux = where(process.platform === 'linux', 'only on Linux', test);

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

/** Runs Node in a folder where the package is installed, as if it were linked to musl. */
function onMusl(args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-musl-'));
  try {
    // The package's addon is built for glibc.
    installInto(folder);
    writeFileSync(join(folder, 'musl.cjs'), AS_MUSL);
    const { CLSORT_ADDON: _, npm_config_node_gyp: __, ...env } = process.env;
    return spawnSync(process.execPath, ['--require', './musl.cjs', ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

onLinux('on musl the error says that prebuilt addons are for glibc, and how to build one', (t) => {
  const program =
    "import('clsort/opencl').then((cl) => cl.getPlatformIDs()).catch((error) => console.log(error.code, error.message))";
  const { stdout, stderr } = onMusl(['-e', program]);
  t.regex(
    stdout,
    /^ERR_CLSORT_UNSUPPORTED cannot load clsort's native addon for Node .* on linux-\w+-musl/,
    stderr,
  );
  t.regex(
    stdout,
    /This Node is linked to musl, as on Alpine\. The prebuilt addons are for glibc; musl is not supported\./,
  );
  t.regex(stdout, /Prebuilt for: linux-\w+\.\n/);
  t.regex(
    stdout,
    /npx node-gyp rebuild, in .*node_modules\/clsort\n.*apk add g\+\+ make python3 opencl-headers/,
  );
});

onLinux('on musl the installation prints the same message and succeeds', (t) => {
  const { status, stderr } = onMusl(['node_modules/clsort/scripts/install.mjs']);
  t.is(status, 0);
  t.regex(stderr, /linux-\w+-musl/);
  t.regex(stderr, /musl is not supported/);
});
