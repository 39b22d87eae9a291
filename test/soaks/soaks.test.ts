/** Short soaks, which end without failures. */
import { spawnSync } from 'node:child_process';
import ava from 'ava';
import { SHORT, soak } from './short.js';

const test = ava.serial; // each uses the whole processor

test('a Sorter serves several clients with correct results, flat memory and reported latencies', (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [soak('soak.mjs'), ...SHORT], {
    encoding: 'utf8',
  });
  t.is(status, 0, stdout + stderr);
  t.regex(
    stdout,
    /server: [1-9]\d* calls in \d+\.\d s, p50 \d+\.\d ms, p99 \d+\.\d ms, \d+\.\d MiB resident/,
  );
  t.regex(stdout, /server: 0 failures; .*: flat/);
});

test('with dedicated device memory, a Sorter gathers small transfers of several calls and memory stays flat', (t) => {
  const args = [soak('soak.mjs'), ...SHORT, '--own-memory'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  t.is(status, 0, stdout + stderr);
  t.regex(stdout, /server: 0 failures; .*: flat\nserver: [1-9]\d* staging slots were made/);
});

test('killed batches resume without failures while another batch streams jobs', (t) => {
  const args = [soak('soak.mjs'), 'batches', '--minutes', '0.15', '--seed', '5'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  t.is(status, 0, stdout + stderr);
  t.regex(stdout, /^batches: seed 5$/m);
  t.regex(stdout, /^batches: memory is judged from \d+ minutes on$/m);
  t.regex(stdout, /[1-9]\d* rounds of [1-9]\d* jobs, .*; [1-9]\d* jobs in a stream, .*; 0 failures/);
});
