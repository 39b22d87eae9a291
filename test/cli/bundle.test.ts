/** The command as npm installs it, bundled by scripts/bundle.mjs. The other tests of the command run it too. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ava from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { referenceSort } from '../reference.js';
import { COMPILED, clsort, type RunOptions, scratchFolder } from './cli.js';
import { loadedBy } from './loaded.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

const { bin } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
const BUNDLE = join(packageRoot, bin.clsort);
const bundled = (args: readonly string[], options: RunOptions = {}) =>
  clsort(args, { ...options, main: BUNDLE });

const keys = Uint32Array.from({ length: 1000 }, (_, i) => (i * 2654435761) >>> 0);
const sorted = Buffer.from(referenceSort(new Uint8Array(keys.buffer), 'u32'));
writeFileSync(path('in.u32'), keys);

test('a small sort loads few files, all of them from the bundle', async (t) => {
  const args = ['sort', path('in.u32'), '-o', path('out.u32'), '-q'];
  const { ran, modules } = await loadedBy(args, path, { main: BUNDLE });
  t.is(ran.code, 0, ran.err);
  t.deepEqual(readFileSync(path('out.u32')), sorted);
  const own = modules.filter((name) => !name.startsWith('node:') && name !== 'yargs-parser');
  t.true(
    own.every((name) => ['clsort', 'sort'].includes(name) || name.startsWith('part-')),
    own.join(' '),
  );
  t.true(own.length < 50, own.join(' '));
});

test('the bundle prints the same output as the compiled command', async (t) => {
  for (const args of [['--help'], ['sort', path('none.u32'), '-o', path('no')], ['devices', '--json']]) {
    const [one, other] = [await bundled(args), await clsort(args, { main: COMPILED })];
    t.is(one.code, other.code, `${args.join(' ')}: ${one.err}`);
    t.is(one.out, other.out);
    t.is(one.err, other.err);
  }
});

test('the bundle is a Node script with a shebang', (t) => {
  t.true(existsSync(COMPILED));
  t.regex(readFileSync(BUNDLE, 'utf8'), /^#!\/usr\/bin\/env node\n/);
});
