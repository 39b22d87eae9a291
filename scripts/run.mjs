#!/usr/bin/env node
// Runs a script under this Node in the environment that set-up made:
//
//   node scripts/run.mjs SCRIPT [ARGUMENT …]

import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { rootlessEnv } from './rootless.mjs';

const state = fileURLToPath(new URL('../.setup', import.meta.url));
const { status, signal } = spawnSync(process.execPath, process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, ...rootlessEnv(state) },
});
process.exitCode = status ?? 128 + (constants.signals[signal] ?? 0);
