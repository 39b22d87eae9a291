import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

const src = join(packageRoot, 'src');

/** Runs a script with CLSORT_POLICY. */
function run(policies: string): string {
  const module = pathToFileURL(join(packageRoot, 'dist/src/util/policy.js')).href;
  const script = `const { policy } = await import('${module}'); console.log(policy('one', 1, 0), policy('two', 2, 0));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: { ...process.env, CLSORT_POLICY: policies },
  });
  return stdout.trim() || stderr;
}

test('CLSORT_POLICY switches heuristics off', (t) => {
  t.is(run(''), '1 2');
  t.is(run('two=off'), '1 0');
  t.is(run('two=off,one=off,'), '0 0');
  t.is(run('three=off'), '1 2');
});

test('an entry of CLSORT_POLICY with another form is an error', (t) => {
  for (const wrong of ['one', 'one=on', 'one=off;two=off']) {
    t.regex(run(wrong), /UsageError.*expected entries NAME=off.* for CLSORT_POLICY but got/s, wrong);
  }
});

test('the documentation lists every heuristic that can be switched off, with its file', (t) => {
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|h)$/.test(file) && file !== join('util', 'policy.ts'))
    .flatMap((file) =>
      [...readFileSync(join(src, file), 'utf8').matchAll(/\bpolicy\(\s*['"](\w+)['"]/gi)].map(
        ([, name]) => `${name} src/${file.replaceAll('\\', '/')}`,
      ),
    );
  const text = readFileSync(join(packageRoot, 'docs/contributing/POLICY.md'), 'utf8');
  const listed = [...text.matchAll(/^\| `(\w+)` \| `([^`]+)` \|/gm)].map(
    ([, name, file]) => `${name} ${file}`,
  );
  t.deepEqual(listed.toSorted(), found.toSorted());
  t.true(found.every((entry) => /\/policy\.(?:ts|h)$/.test(entry)));
});
