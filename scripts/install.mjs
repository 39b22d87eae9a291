#!/usr/bin/env node
// The install script of the package. It does nothing when there is a prebuilt addon, or in a source tree, where setup
// builds the addon. Otherwise it tries to build the addon. A failed build is no error: the host engine works without
// the addon, and its absence is reported at first use.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/**
 * Builds the addon with npm's node-gyp.
 *
 * @returns whether the build succeeded
 */
function build() {
  const gyp = process.env.npm_config_node_gyp;
  if (!gyp) return false;
  return spawnSync(process.execPath, [gyp, 'rebuild'], { cwd: path('.'), stdio: 'inherit' }).status === 0;
}

if (!existsSync(path('.git')) && existsSync(path('dist/lib'))) {
  const { isMusl, platformName, prebuiltAddon } = await import('../dist/lib/opencl/prebuilt.js');
  if (!existsSync(prebuiltAddon()) && !build()) {
    process.stderr.write(
      `clsort: no prebuilt addon for Node ${process.versions.node} on ${platformName()}, and none could be built: ` +
        `only the host engine will sort.${isMusl() ? ' Prebuilt addons are for glibc; musl is not supported.' : ''} ` +
        "With a C++ compiler, Python 3 and the OpenCL headers, 'npm rebuild clsort' builds it.\n",
    );
  }
}
