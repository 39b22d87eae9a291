/** Every test asserts something: a test that cannot run is a skip with its reason, and no test passes unconditionally. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../src/util/paths.js';

const folder = join(packageRoot, 'test');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);

const PASSES = new RegExp(['t', 'pass\\('].join('\\.'));
/** Functions that declare skips and put the reason into the title. */
const DECLARES = new Set(['where.ts', 'each-device.ts', 'numpy.ts', 'browser.ts']);

function places(pattern: RegExp, except: ReadonlySet<string> = new Set()): string[] {
  return files
    .filter((file) => !except.has(file))
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .flatMap((line, i) => (pattern.test(line) ? [`test/${file}:${i + 1}: ${line.trim()}`] : [])),
    );
}

test('no test calls t.pass', (t) => {
  t.true(files.length > 50);
  t.deepEqual(places(PASSES), []);
});

test('every skip gives its reason, and no test is marked only, todo or failing', (t) => {
  t.deepEqual(places(/\btest(?:\.serial)?\.skip\b|\bava\.skip\b/, DECLARES), []);
  t.deepEqual(places(/\btest(?:\.\w+)*\.(?:only|todo|failing)\b/), []);
});
