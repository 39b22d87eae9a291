#!/usr/bin/env node
// What npm runs when the package is installed: nothing where a prebuilt addon loads or in a clone, whose
// set-up builds it; else an attempt to build it, whose failure is no error, since the host engine sorts
// without it and the addon's absence is explained when it is first needed.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { platform, arch, versions, env } = process;
const prebuilt = join(
  root,
  'prebuilds',
  `${platform}-${arch}`,
  `node-abi-${versions.modules}`,
  'clsort.node',
);

if (!existsSync(prebuilt) && !existsSync(join(root, '.git'))) {
  const gyp = env.npm_config_node_gyp;
  const built =
    gyp && spawnSync(process.execPath, [gyp, 'rebuild'], { cwd: root, stdio: 'inherit' }).status === 0;
  if (!built) {
    process.stderr.write(
      `clsort: no prebuilt addon for Node ${versions.node} on ${platform}-${arch}, and none could be built: ` +
        'only the host engine will sort. With a C++ compiler, Python 3 and the OpenCL headers, ' +
        "'npm rebuild clsort' builds it.\n",
    );
  }
}
