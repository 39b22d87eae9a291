#!/usr/bin/env node
// Runs a script with this Node in the environment that setup created:
//
//   node scripts/run.mjs SCRIPT [ARGUMENT …]

import { fileURLToPath } from 'node:url';
import { runNode } from './child.mjs';
import { rootlessEnv } from './rootless.mjs';

const state = fileURLToPath(new URL('../.setup', import.meta.url));
process.exitCode = await runNode(process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, ...rootlessEnv(state) },
});
