/** The files that are derived from the list of operations. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

test('the derived lists of operations are up to date', (t) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(packageRoot, 'scripts/operations.mjs'), '--check'],
    { encoding: 'utf8' },
  );
  t.is(status, 0, stdout + stderr);
});
