import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

test('the stored plots match the stored results', (t) => {
  const script = join(packageRoot, 'dist', 'scripts', 'plot-results.js');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  t.is(status, 0, stderr);
});
