import { readFileSync } from 'node:fs';
import test from 'ava';
import { claimsOf } from '../../../src/bench/ladder/claims.js';
import { ladderHtml, ladderSvg } from '../../../src/bench/ladder/format.js';
import type { LadderRow } from '../../../src/bench/ladder/ladder-row.js';
import { clsort, scratchFolder } from '../../cli/cli.js';

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

test('a claim holds if its step is faster beyond noise, and its reason states both times', (t) => {
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
    'a claim of no cost does not need a faster step',
  );
  t.like(verdicts(0.002, null, { reason: 'has none' }), { holds: null, reason: 'compacted: has none' });
});

test('the device beats the host if its best step including transfers does', (t) => {
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

test('the plot has a line for each step, and the page lists the claims', (t) => {
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
