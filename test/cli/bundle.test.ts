/** The command as npm installs it, bundled by scripts/bundle.mjs. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ava from 'ava';
import { COMMAND_NAMES } from '../../src/cli/commands.js';
import { packageRoot } from '../../src/util/paths.js';
import { referenceSort } from '../reference.js';
import { clsort, MAIN, type RunOptions, scratchFolder } from './cli.js';
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
    own.every((name) => name === 'clsort' || name.startsWith('part-')),
    own.join(' '),
  );
  t.true(own.length < 80, own.join(' '));
});

test('the bundle prints the same output as the unbundled command', async (t) => {
  for (const args of [
    ...COMMAND_NAMES.map((name) => [name, '--help']),
    ['--help'],
    ['--version'],
    ['man'],
    ['completion', 'bash'],
    ['sort', path('none.u32'), '-o', path('no')],
    ['sort', path('in.u32'), '-o', path('no'), '--dtpye', 'u32'],
    ['srot'],
    ['devices', '--json'],
  ]) {
    const [one, other] = [await bundled(args), await clsort(args)];
    t.is(one.code, other.code, `${args.join(' ')}: ${one.err}`);
    t.is(one.out, other.out);
    t.is(one.err, other.err);
  }
});

test('the bundle finds the code of its worker threads and child processes', async (t) => {
  for (const [args, options] of [
    [['sort', path('in.u32'), '-o', path('device.u32'), '--device', 'cpu', '--verify'], {}],
    [['sort', '-', '-o', path('device.u32'), '--dtype', 'u32'], { input: new Uint8Array(keys.buffer) }],
    [['convert', path('in.u32'), '-o', path('keys.parquet')], {}],
    [['sort', path('keys.parquet'), '-o', path('device.u32')], {}],
    [['convert', path('keys.parquet'), '-o', path('keys.csv')], {}],
    [['sort', path('keys.csv'), '-o', path('keys.arrow'), '--by', '0'], {}],
    [['convert', path('keys.arrow'), '-o', path('device.u32'), '--to', 'raw'], {}],
  ] as const) {
    const ran = await bundled(args, options);
    t.is(ran.code, 0, `${args.join(' ')}: ${ran.err}`);
  }
  writeFileSync(path('jobs.jsonl'), `${JSON.stringify({ in: 'in.u32', out: 'batch.u32' })}\n`);
  const batch = await bundled(['batch', path('jobs.jsonl'), '-q']);
  t.is(batch.code, 0, batch.err);
  t.deepEqual(readFileSync(path('batch.u32')), sorted);
  const matrix = await bundled([
    'matrix',
    '--device',
    'cpu',
    '--algorithm',
    'serial',
    '--dtype',
    'u8',
    '--quick',
  ]);
  t.is(matrix.code, 0, matrix.err);
  const plan = await bundled(['plan', '--size', '1G', '--measure', '--json']);
  t.is(plan.code, 0, plan.err);
  const engine = ['--engine', 'slurm', '--print', '--record', '4', '--key', '0:u32'];
  const slurm = await bundled(['sort', path('in.u32'), '-o', path('slurm.u32'), ...engine]);
  t.is(slurm.code, 0, slurm.err);
  t.true(slurm.out.includes(BUNDLE), slurm.out);
});

test('the bundle is a Node script with a shebang', (t) => {
  t.true(existsSync(MAIN));
  t.regex(readFileSync(BUNDLE, 'utf8'), /^#!\/usr\/bin\/env node\n/);
});
