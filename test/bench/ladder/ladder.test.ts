import { readFileSync } from 'node:fs';
import test from 'ava';
import { claimsOf } from '../../../src/bench/ladder/claims.js';
import { ladderHtml, ladderSvg } from '../../../src/bench/ladder/format.js';
import { type LadderRow, ladder } from '../../../src/bench/ladder/ladder.js';
import { clsort, scratchFolder } from '../../cli/cli.js';
import { forEachDevice } from '../../each-device.js';

const STEPS: Readonly<Record<string, readonly string[]>> = {
  'reduce sum': ['interleaved', 'compacted', 'halving', 'two_loads', 'unrolled', 'grid', 'subgroups'],
  'scan prefix sums': ['sweep', 'padded', 'tile', 'hillis_steele', 'single_pass'],
  'histogram 64 bins': ['global', 'private_items', 'private_bins', 'permuted', 'tagged', 'waves'],
  'histogram 256 bins': ['global', 'tagged', 'waves'],
  'histogram image of bytes': ['bytes_scalar', 'bytes_vector'],
  'histogram merge of groups': ['merge_serial', 'merge_parallel'],
  'sorts network': ['bitonic_global', 'bitonic_alternating', 'bitonic_local', 'odd_even'],
  'sorts merge of runs of 512': ['merge_short', 'merge_middle', 'merge_long'],
  'sorts rows of 32': ['votes_masks', 'votes_khr', 'votes_ptx'],
  'sorts scan of blocks': ['amd_scan_one_bin', 'amd_scan_16_bins'],
  'sorts move of a pass': ['amd_permute_64_blocks', 'amd_permute_one_block'],
};

forEachDevice((title, device) => {
  test.serial(title('the ladder measures each step and the host, and every result is right'), async (t) => {
    const { capabilities, info } = await device();
    const seen: LadderRow[] = [];
    const counts = [2048, 5003];
    const { rows, claims } = await ladder({
      devices: [info.id],
      counts,
      rounds: 1,
      onRow: (row) => seen.push(row),
    });
    t.deepEqual(rows, seen);
    for (const n of counts) {
      const here = rows.filter((row) => row.n === n);
      for (const [task, steps] of Object.entries(STEPS)) {
        const own = here.filter((row) => `${row.primitive} ${row.task}` === task);
        t.deepEqual(
          own.map(({ step }) => step),
          [...steps, 'host'],
          task,
        );
        t.is(own[0]?.speedup, 1, task);
      }
    }
    const needs: Readonly<Record<string, boolean>> = {
      subgroups: capabilities.extensions.has('cl_khr_subgroups') || capabilities.quirks.inlinePtx,
      votes_khr: capabilities.subGroupBallot,
      votes_ptx: capabilities.quirks.inlinePtx,
    };
    for (const row of rows) {
      const { step, n, reason = '' } = row;
      if (needs[step] === false || (step === 'bitonic_alternating' && n === 5003)) {
        t.is(row.result, 'unsupported', step);
        t.not(reason, '', step);
        continue;
      }
      t.is(row.result, 'right', `${row.task} ${step} ${n} ${reason}`);
      const { seconds, endToEndSeconds, bytesPerSecond } = row;
      t.true(seconds !== null && endToEndSeconds !== null && seconds > 0 && endToEndSeconds >= seconds);
      t.true(bytesPerSecond !== null && bytesPerSecond > 0);
    }
    t.true(claims.length > 2 * 20);
    for (const { claim, holds, reason } of claims)
      t.true(holds === null || /\d ms/.test(reason), `${claim}: ${reason}`);
    t.is(claims.filter(({ claim }) => /beats the host/.test(claim)).length, 2 * Object.keys(STEPS).length);
  });
});

const row = (step: string, seconds: number | null, more: Partial<LadderRow> = {}): LadderRow => ({
  ...{
    primitive: 'reduce',
    task: 'sum',
    step,
    device: 'd',
    n: 64,
    result: seconds === null ? 'unsupported' : 'right',
  },
  ...{ kernelSeconds: seconds, seconds, endToEndSeconds: seconds, madSeconds: 0 },
  ...{ bytesPerSecond: seconds && 256 / seconds, copyShare: null, speedup: null },
  ...more,
});

test('a claim holds where its step is faster beyond noise, and tells both times and why', (t) => {
  const verdicts = (interleaved: number | null, compacted: number | null, more: Partial<LadderRow> = {}) =>
    claimsOf(
      [row('interleaved', interleaved), row('compacted', compacted, more)],
      new Map([['d', 'gpu']]),
    ).filter(({ claim }) => claim === 'compacting beats interleaving')[0];
  t.like(verdicts(0.002, 0.001), { holds: true, device: 'd', n: 64 });
  t.regex(
    verdicts(0.002, 0.001)?.reason ?? '',
    /compacted 1\.00 ms, interleaved 2\.00 ms: 2\.00 times as fast; .*16 turns/,
  );
  t.false(verdicts(0.001, 0.002)?.holds);
  t.regex(verdicts(0.002, 0.0019, { madSeconds: 0.001 })?.reason ?? '', /no difference beyond noise/);
  const network = { primitive: 'sorts', task: 'network' } as const;
  const flip = (seconds: number) =>
    claimsOf(
      [row('bitonic_global', seconds, network), row('bitonic_alternating', 0.001, network)],
      new Map(),
    ).find(({ claim }) => claim === 'the flip form costs nothing')?.holds;
  t.deepEqual(
    [flip(0.0009), flip(0.00104), flip(0.0015)],
    [true, true, false],
    'what costs nothing need not be faster',
  );
  t.like(verdicts(0.002, null, { reason: 'has none' }), { holds: null, reason: 'compacted: has none' });
});

test('the device beats the host where its best step does so with transfers', (t) => {
  const host = row('host', 0.005, { device: 'host', kernelSeconds: null });
  const rows = [
    row('interleaved', 0.001, { endToEndSeconds: 0.007 }),
    row('grid', 0.002, { endToEndSeconds: 0.004 }),
    host,
  ];
  const [verdict] = claimsOf(rows, new Map()).filter(({ claim }) => /beats the host/.test(claim));
  t.true(verdict?.holds);
  t.regex(verdict?.reason ?? '', /^grid 4\.00 ms with its transfers, 2\.00 ms without/);
});

test('plots have a line for each step, and the page the claims', (t) => {
  const rows = [row('interleaved', 0.002), row('compacted', 0.001), row('host', 0.003, { device: 'host' })];
  const measured = { devices: [], rows, claims: claimsOf(rows, new Map()) };
  t.is(ladderSvg(measured).match(/data-line=/g)?.length, 3);
  const page = ladderHtml(measured, 'clsort bench ladder --count 64');
  t.true(page.includes('holds: compacting beats interleaving'));
  t.true(page.includes('clsort bench ladder --count 64'));
  t.false(/NaN|Infinity|undefined/.test(page));
});

test.serial('clsort bench ladder prints a table and verdicts, JSON, a plot and a page', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const few = ['--count', '1000', '--repeats', '1', '--device', 'cpu,host'];
  const text = await clsort(['bench', 'ladder', 'scan', ...few]);
  t.is(text.code, 0, text.err);
  t.regex(text.out, /^primitive +step +result/m);
  t.regex(text.out, /^scan +padded +right/m);
  t.notRegex(text.out, /^reduce/m);
  t.regex(text.out, /^(holds|fails here): padding removes conflicts/m);
  const files = ['--svg', path('ladder.svg'), '--html', path('ladder.html')];
  const json = await clsort(['bench', 'ladder', 'reduce', ...few, ...files, '--json']);
  t.is(json.code, 0, json.err);
  const { rows, claims, schema, device } = JSON.parse(json.out);
  t.is(schema, 'clsort.bench.ladder/2');
  t.is(device.type, 'cpu');
  t.is(rows.length, 8);
  t.true(
    claims.every(({ claim, reason }: { claim: string; reason: string }) => claim !== '' && reason !== ''),
  );
  t.regex(readFileSync(path('ladder.svg'), 'utf8'), /^<svg /);
  t.regex(
    readFileSync(path('ladder.html'), 'utf8'),
    /Repeat it: <code>clsort bench ladder reduce --count 1000/,
  );
  for (const wrong of [
    ['stairs'],
    ['ladder', 'snakes'],
    ['sorts', 'reduce'],
    ['ladder', '--device', 'host'],
    ['ladder', '--csv'],
    ['ladder', '--count', '0'],
  ]) {
    t.is((await clsort(['bench', ...wrong])).code, 2, wrong.join(' '));
  }
});
