/** First results of new processes: `clsort bench first`. */
import ava from 'ava';
import type { FirstBench } from '../../src/bench/first.js';
import { TIMED_OPERATIONS } from '../../src/sort/operations/cases.js';
import { clsort } from '../cli/cli.js';

const test = ava.serial; // each starts processes

test('bench first measures processes with empty and with filled caches', async (t) => {
  const args = ['--device', 'cpu', '--count', '1000', '--operation', 'argsort', '--json'];
  const { code, out, err } = await clsort(['bench', 'first', ...args]);
  t.is(code, 0, err + out);
  const { schema, calls, rows }: FirstBench = JSON.parse(out);
  t.is(schema, 'clsort.bench.first/1');
  t.true(calls > 1);
  const ours = rows.filter(({ by }) => by === 'clsort');
  t.deepEqual(
    ours.map(({ caches }) => caches),
    ['cold', 'warm'],
  );
  for (const row of ours) {
    t.is(row.result, 'ok', row.reason);
    for (const name of ['import', 'open', 'first', 'second', 'last', 'command'] as const)
      t.true((row[name] ?? 0) > 0, name);
    t.true((row.build ?? 0) > 0);
    t.is((row.selfTest ?? 0) > 0, row.caches === 'cold');
    t.true((row.build ?? 0) + (row.selfTest ?? 0) < (row.first ?? 0) + 0.01);
  }
  for (const { by, result, reason } of rows) t.true(['ok', 'missing'].includes(result), `${by}: ${reason}`);
});

test('bench first measures every operation', async (t) => {
  const { code, out, err } = await clsort([
    ...['bench', 'first', '--device', 'cpu', '--count', '1000', '--operation', 'join,mergeMany', '--json'],
  ]);
  t.is(code, 0, err + out);
  const { rows }: FirstBench = JSON.parse(out);
  t.deepEqual(
    rows.map(({ operation, by, caches, result }) => `${operation} ${by} ${caches} ${result}`),
    ['mergeMany', 'join']
      .flatMap((name) => ['cold', 'warm'].map((caches) => `${name} clsort ${caches} ok`))
      .sort(),
  );
  const unknown = await clsort(['bench', 'first', '--device', 'cpu', '--operation', 'none']);
  for (const { name } of TIMED_OPERATIONS) t.true(unknown.err.includes(name.replace(/-.*/, '')), name);
});

test('bench first rejects what it does not measure', async (t) => {
  for (const [words, message] of [
    [['--count', '1500'], /multiple of 1000/],
    [['--csv'], /cannot combine --csv and first: .*Pass --json/],
    [['--operation', 'scann'], /Did you mean "scan"/],
  ] as const) {
    const { code, err } = await clsort(['bench', 'first', '--device', 'cpu', ...words]);
    t.is(code, 2, err);
    t.regex(err, message);
  }
});
