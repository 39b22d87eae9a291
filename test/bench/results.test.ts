import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

test('the plots of the kept results are what their data make', (t) => {
  const script = join(packageRoot, 'dist', 'scripts', 'plot-results.js');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  t.is(status, 0, stderr);
});
