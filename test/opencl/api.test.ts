import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

const script = (name: string, ...args: string[]) =>
  execFileSync(process.execPath, [join(packageRoot, 'scripts', name), ...args], { encoding: 'utf8' });

test('every function of the OpenCL header is exported, typed and documented, or left out for a reason', (t) => {
  t.regex(script('check-opencl-api.mjs'), / 0 problems/);
});

test('the exported constants equal those of the OpenCL headers', (t) => {
  t.notThrows(() => script('generate-constants.mjs', '--check'));
});
