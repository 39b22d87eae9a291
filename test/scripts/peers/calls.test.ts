import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import ava, { type ExecutionContext } from 'ava';
import {
  benchPeerCalls,
  type PeerCall,
  type PeerCalls,
  type PeerCallsRequest,
  ratioTable,
} from '../../../scripts/peers/calls.js';
import { CALL_SCHEMA } from '../../../src/bench/calls.js';
import { UsageError } from '../../../src/index.js';
import { packageRoot } from '../../../src/util/paths.js';
import { scratchFolder } from '../../cli/cli.js';

const test = ava.serial; // they set the environment of the peers
const withNumPy = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import numpy']).status === 0,
);
const testOfPeers = where(withNumPy !== undefined, 'no NumPy here', test);

/** Operations that no peer offers in a few calls. */
const ALONE = new Set(['partition', 'merge', 'reduceByKey']);
/** Operations that use CuPy's lexsort. */
const BY_LEXSORT = ['lexsort', 'segmentedSort-zipf'];

/** CuPy's names on NumPy, for machines without its device; its sort is wrong and its lexsort is missing. */
const CUPY = `
from numpy import *
import numpy, types
__version__ = "0"
nothing = types.SimpleNamespace(synchronize=lambda: None)
cuda = types.SimpleNamespace(
    runtime=types.SimpleNamespace(getDeviceCount=lambda: 1), get_current_stream=lambda: nothing)
asnumpy = numpy.asarray
def sort(keys, axis=-1): return keys if keys.shape == (4096,) else numpy.sort(keys, axis)
def argsort(keys): return numpy.argsort(keys, kind="stable")
def lexsort(keys): raise NotImplementedError("not here")
`;

import { where } from '../../where.js';

async function run(t: ExecutionContext, request: Partial<PeerCallsRequest>) {
  const benches: PeerCalls[] = [];
  const missing: string[] = [];
  const bench = await benchPeerCalls({
    ...{ device: 'host', counts: [4096], operations: ['all'], places: ['device', 'host'] },
    ...{ repeats: 1, chain: 4, warmUpSeconds: 0, python: withNumPy ?? '', skipped: [], command: 'again' },
    onBench: (made) => benches.push(structuredClone(made)),
    onMissing: (words) => missing.push(words),
    ...request,
  });
  for (const { operation, result, reason } of bench.rows) t.is(result, 'ok', `${operation}: ${reason}`);
  return { bench, benches, missing };
}

const timesOf = (call?: PeerCall) => (typeof call === 'object' ? call : undefined);

testOfPeers(
  'peers are timed on the inputs of clsort, checked against its results, and listed in one table',
  async (t) => {
    const { path, folder, remove } = scratchFolder();
    t.teardown(remove);
    writeFileSync(path('cupy.py'), CUPY);
    const before = process.env.PYTHONPATH;
    t.teardown(() => {
      if (before === undefined) delete process.env.PYTHONPATH;
      else process.env.PYTHONPATH = before;
    });
    process.env.PYTHONPATH = [folder, ...(before ? [before] : [])].join(delimiter);
    const skipped = ['pytorch on the cpu', 'pytorch on cuda'];
    const { bench, missing } = await run(t, { skipped });
    t.is(bench.schema, CALL_SCHEMA);
    t.is(bench.command, 'again');
    t.deepEqual(
      missing,
      BY_LEXSORT.flatMap((name) =>
        ['device', 'host'].map(
          (place) => `CuPy, ${name} on ${place} arrays, is left out: NotImplementedError: not here`,
        ),
      ),
    );
    for (const row of bench.rows) {
      const { operation, place, peers } = row;
      const what = `${operation} on ${place}`;
      const name = (start: string) => Object.keys(peers).find((peer) => peer.startsWith(start)) ?? '';
      const [numpy, cupy] = [peers[name('NumPy')], peers[name('CuPy')]];
      if (ALONE.has(operation)) {
        t.deepEqual(peers, {}, what);
        continue;
      }
      t.is(numpy === undefined, place === 'device', `NumPy has host arrays only: ${what}`);
      if (place === 'host') {
        const ours = row.awaited?.median ?? 0;
        t.is(timesOf(numpy)?.timesOurs, (timesOf(numpy)?.awaited.median ?? 0) / ours, what);
        t.false('chained' in (timesOf(numpy) ?? {}), what);
      }
      if (BY_LEXSORT.includes(operation) || operation === 'join') t.is(cupy, undefined, what);
      else if (operation === 'sort') t.is(cupy, 'wrong', what);
      else {
        t.true((timesOf(cupy)?.awaited.median ?? 0) > 0, what);
        t.is(timesOf(cupy)?.chained !== undefined, place === 'device', what);
      }
    }
    const [heading = '', , ...lines] = ratioTable(bench).split('\n');
    t.regex(heading, /\| CuPy 0 \| NumPy [\d.]+ \| best \| best in a chain \|$/);
    t.is(lines.length, bench.rows.length);
    t.regex(lines[0] ?? '', /^\| sort \| device \| 4096 \| ok \|.*\| wrong \|\s*\|\s*\|\s*\|$/);
    t.regex(lines.find((line) => /reduce \| device/.test(line)) ?? '', /× \d+\.\d\d, × \d+\.\d\d \|/);
  },
);

test('missing peers are reported, and clsort is measured without them', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const nowhere = await run(t, { python: path('nowhere'), operations: ['reduce'], counts: [10, 20] });
  t.is(nowhere.missing.length, 1, 'reported once, not for each size');
  t.regex(nowhere.missing[0] ?? '', /nowhere: .*ENOENT/);
  t.deepEqual(
    nowhere.benches.map(({ rows }) => rows.length),
    [2, 4],
  );
  t.deepEqual(
    nowhere.bench.rows.map(({ peers }) => peers),
    [{}, {}, {}, {}],
  );

  const python = path('python');
  const answers = ['{"peer":"CuPy","missing":"no module"}', '{"peer":"NumPy","version":"9","calls":[]}'];
  writeFileSync(
    python,
    `#!/bin/sh\nprintf '%s\\n' '${answers.join("' '")}'\necho a module broke >&2\nexit 3\n`,
  );
  chmodSync(python, 0o755);
  const broken = await run(t, { python, operations: ['reduce'] });
  t.deepEqual(broken.missing, [`${python}: a module broke`, 'CuPy is left out: no module']);
});

test('the script selects operations by name and writes its results to a file', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const script = join(packageRoot, 'dist/scripts/bench-peers.js');
  const args = ['--calls', '--device', 'cpu', '--sizes', '8,9', '--repeats', '1', '--chain', '2'];
  const more = [
    '--operations',
    'gather,topK',
    '--place',
    'host',
    '--python',
    path('none'),
    '--json',
    path('calls.json'),
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args, ...more], {
    encoding: 'utf8',
  });
  t.is(status, 0, stderr);
  t.is(stdout.trimEnd().split('\n').length, 2 + 6);
  const stored = JSON.parse(readFileSync(path('calls.json'), 'utf8')) as PeerCalls;
  t.deepEqual(
    stored.rows.map(({ operation, place, n }) => `${operation} ${place} ${n}`),
    [256, 512].flatMap((n) => ['topK-100', 'topK-65536', 'gather'].map((name) => `${name} host ${n}`)),
  );
  t.true(stored.command.startsWith('npm run bench:peers -- --calls --device cpu --sizes 8,9'));
  t.false(stored.command.includes('calls.json'));
});

test('an unknown operation is a usage error', async (t) => {
  await t.throwsAsync(run(t, { operations: ['srt'] }), {
    instanceOf: UsageError,
    message: /Did you mean "sort"/,
  });
});
