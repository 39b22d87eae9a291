import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readMemory, readSize } from '../../src/cli/memory-options.js';
import { bytesOf } from '../../src/keys/array.js';
import { UsageError } from '../../src/util/errors.js';
import { Random } from '../../src/util/random.js';
import { keysOf } from '../distributions.js';
import { referenceSort } from '../reference.js';
import { clsort, scratchFolder } from './cli.js';

const { folder, path, remove } = scratchFolder();
test.after.always(remove);

test.serial('memory sizes use the syntax of sort(1)', (t) => {
  t.is(readSize('2G'), 2 * 2 ** 30);
  t.is(readSize('1.5M'), 1.5 * 2 ** 20);
  t.is(readSize('64K'), 65_536);
  t.is(readSize('64'), 65_536);
  t.is(readSize('123b'), 123);
  t.is(readSize('3T'), 3 * 2 ** 40);
  t.is(readSize('25%'), Math.floor(totalmem() / 4));
  for (const text of ['', 'G', '-1M', '1 M', '2GB', '1e9', '0x10', 'NaN', '9999999T']) {
    t.throws(() => readSize(text), { instanceOf: UsageError }, text);
  }
});

test.serial('the default memory limit is below the total memory, and an empty --tmp is refused', (t) => {
  const { memory, tmp, resume } = readMemory({ memory: undefined, tmp: undefined, resume: false });
  t.true(memory > 0 && memory < totalmem());
  t.deepEqual([tmp, resume], [undefined, false]);
  t.throws(() => readMemory({ memory: '1G', tmp: '', resume: false }), { instanceOf: UsageError });
});

test.serial(
  'input above the memory limit is sorted externally with a message, from a file and from stdin',
  async (t) => {
    const keys = bytesOf(keysOf('u32', 'uniform', 5_000_000));
    const sorted = Buffer.from(bytesOf(new Uint32Array(keys.buffer).toSorted()));
    writeFileSync(path('in.u32'), keys);
    const options = ['--dtype', 'u32', '--device', 'host', '--memory', '17M', '--verify', '--report'];
    const ran = await clsort(['sort', path('in.u32'), '-o', path('out'), ...options]);
    t.is(ran.code, 0, ran.err);
    t.true(readFileSync(path('out')).equals(sorted));
    t.regex(ran.err, /20 MiB are sorted in 17 MiB of memory, with up to 20 MiB of temporary files in /);
    t.regex(ran.out, /partitions +\d+, 19 MiB of temporary files\nseconds +.* sample, .* partition, .* sort/);
    t.regex(ran.out, /verified: order right, permutation right$/m);
    t.deepEqual(readdirSync(folder).sort(), ['in.u32', 'out']);
    const piped = await clsort(['sort', '-', '-o', '-', ...options, '--tmp', folder, '--json'], {
      input: keys,
    });
    t.is(piped.code, 0, piped.err);
    t.true(piped.stdout.equals(sorted));
    const report = JSON.parse(piped.err.slice(piped.err.indexOf('{')));
    t.is(report.n, 5_000_000);
    t.true(report.external.spilledBytes >= keys.length);
    t.deepEqual(readdirSync(folder).sort(), ['in.u32', 'out']);
  },
);

test.serial(
  'an interrupted external sort ends quickly, keeps its state and continues with --resume',
  async (t) => {
    const keys = bytesOf(keysOf('u32', 'uniform', 6_000_000));
    const own = path('interrupted');
    mkdirSync(own);
    writeFileSync(join(own, 'in'), keys);
    const sort = ['sort', join(own, 'in'), '-o', join(own, 'out'), '--dtype', 'u32', '--device', 'host'];
    const small = [...sort, '--memory', '16M'];
    let killedAt = 0;
    const ran = await clsort(small, {
      onStart: (child) => {
        const watch = setInterval(() => {
          // Some of it is sorted by now.
          if (!readdirSync(own).some((name) => name.endsWith('.part'))) return;
          clearInterval(watch);
          killedAt = performance.now();
          child.kill('SIGINT');
        }, 5);
      },
    });
    t.is(ran.code, 130, ran.err);
    t.true(performance.now() - killedAt < 1500);
    t.regex(ran.err, /kept in .*state\. The same command with --resume continues it/);
    const again = await clsort(small);
    t.is(again.code, 2);
    t.regex(again.err, /interrupted sort of .*\. Use --resume to continue it, or --restart to discard it/);
    const both = await clsort([...sort, '--memory', '16M', '--resume', '--restart']);
    t.is(both.code, 2);
    t.regex(both.err, /cannot combine --resume and --restart/);
    const copy = path('restarted');
    cpSync(own, copy, { recursive: true });
    const anew = ['sort', join(own, 'in'), '-o', join(copy, 'out'), '--dtype', 'u32', '--device', 'host'];
    const restarted = await clsort([...anew, '--memory', '16M', '--restart', '--json']);
    t.is(restarted.code, 0, restarted.err);
    t.is(JSON.parse(restarted.out).external.resumedBytes, 0);
    t.deepEqual(readdirSync(copy).sort(), ['in', 'out'], 'nothing is left of the interrupted sort');
    const resumed = await clsort([...sort, '--memory', '16M', '--resume', '--json']);
    t.is(resumed.code, 0, resumed.err);
    t.is(JSON.parse(resumed.out).external.bytes, keys.length);
    t.true(readFileSync(join(own, 'out')).equals(bytesOf(new Uint32Array(keys.buffer).toSorted())));
    t.deepEqual(readdirSync(own).sort(), ['in', 'out']);
    rmSync(own, { recursive: true });
  },
);

test.serial('an external sort reads one format and writes another', async (t) => {
  const keys = keysOf('f64', 'special', 3_000_000) as Float64Array;
  writeFileSync(path('large.f64be'), Buffer.from(bytesOf(keys)).swap64());
  const sorted = Buffer.from(referenceSort(bytesOf(keys), 'f64', { descending: true }));
  const sort = ['--device', 'host', '--memory', '20M', '--descending', '--json'];
  const ran = await clsort(['sort', path('large.f64be'), '-o', path('large.npy'), ...sort]);
  t.is(ran.code, 0, ran.err);
  t.true(JSON.parse(ran.out).external.spilledBytes > 0);
  t.true(readFileSync(path('large.npy')).subarray(-sorted.length).equals(sorted));
  const again = await clsort(['sort', path('large.npy'), '-o', path('large.f64'), ...sort]);
  t.is(again.code, 0, again.err);
  t.deepEqual(JSON.parse(again.out).formats, { from: 'npy', to: 'raw' });
  t.true(readFileSync(path('large.f64')).equals(sorted));
  for (const name of ['large.f64be', 'large.npy', 'large.f64']) rmSync(path(name));
});

test.serial('records above the memory limit are sorted externally', async (t) => {
  const record = 50;
  const bytes = new Random(3).bytes(record * 600_000).map((byte, i) => (i % record < 2 ? byte & 3 : byte));
  writeFileSync(path('large.dat'), bytes);
  const layout = ['--record', String(record), '--key', '0:2', '--key', '8:i32:desc'];
  const sort = ['sort', path('large.dat'), ...layout, '--device', 'host', '--verify', '--json'];
  const whole = await clsort([...sort, '-o', path('whole.dat')]);
  t.is(whole.code, 0, whole.err);
  const ran = await clsort([...sort, '-o', path('parts.dat'), '--memory', '20M']);
  t.is(ran.code, 0, ran.err);
  const { external, verified, n } = JSON.parse(ran.out);
  t.true(external.spilledBytes > 0);
  t.deepEqual(verified, { order: true, permutation: true });
  t.is(n, 600_000);
  t.true(readFileSync(path('parts.dat')).equals(readFileSync(path('whole.dat'))), 'stable, too');
  const piped = await clsort(['sort', '-', '-o', path('parts.dat'), ...sort.slice(2), '--memory', '20M'], {
    input: bytes,
  });
  t.is(piped.code, 0, piped.err);
  t.true(readFileSync(path('parts.dat')).equals(readFileSync(path('whole.dat'))));
  for (const name of ['large.dat', 'whole.dat', 'parts.dat']) rmSync(path(name));
});

test.serial(
  'too little memory is an error with the minimum, and a missing folder is an error with its name',
  async (t) => {
    writeFileSync(path('some.f64'), new Uint8Array(8e6));
    const sort = ['sort', path('some.f64'), '-o', path('some.out'), '--dtype', 'f64', '--device', 'host'];
    const little = await clsort([...sort, '--memory', '1M']);
    t.is(little.code, 2);
    t.regex(little.err, /at least 16777216\. Use --memory 16M/);
    writeFileSync(path('some.f64'), new Uint8Array(24e6));
    const folder = await clsort([...sort, '--memory', '16M', '--tmp', path('nowhere')]);
    t.is(folder.code, 5);
    t.regex(folder.err, /cannot write temporary files to .*: there is no such folder/);
    const away = [sort[0], sort[1], '-o', path('nowhere/some.out'), ...sort.slice(4)] as string[];
    for (const memory of [[], ['--memory', '16M'], ['--memory', '16M', '--tmp', path('.')]]) {
      const ran = await clsort([...away, ...memory]);
      t.is(ran.code, 5, memory.join(' '));
      t.regex(ran.err, /nowhere.*its folder does not exist/);
    }
    t.false(existsSync(path('nowhere')), 'a mistyped folder is not created');
  },
);
