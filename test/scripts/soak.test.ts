import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ava from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { LayerControl, underLayer } from '../layer/layer.js';

const test = ava.serial; // each takes all of the processor
const soak = (name: string) => join(packageRoot, 'scripts', name);
const SHORT = ['server', '--minutes', '0.5', '--scale', '0.1', '--clients', '8', '--dtypes', 'i16,f32']; // 3 seconds

interface Sample {
  readonly seconds: number;
  readonly rss: number;
}

test('memory grows by what the last quarter has beyond the first minute', async (t) => {
  const module = await import(pathToFileURL(soak('soak-server.mjs')).href);
  const growthOf: (samples: readonly Sample[]) => number = module.growthOf;
  const during = (seconds: number, rss: (at: number) => number): Sample[] =>
    Array.from({ length: seconds }, (_, i) => ({ seconds: i + 1, rss: rss(i + 1) }));
  t.is(
    growthOf(during(600, (at) => 100 + (at % 7))),
    -3,
    'what goes up and down is not more than the most there was',
  );
  t.is(growthOf(during(600, (at) => Math.min(at, 60))), 0, 'what the first minute takes is no growth');
  t.is(growthOf(during(600, (at) => at)), 525 - 60);
  t.is(growthOf(during(30, (at) => at)), 27 - 10, 'the first third of a short run');
});

test('what a driver takes once is no tendency, and what leaks is one', async (t) => {
  const module = await import(pathToFileURL(soak('soak-server.mjs')).href);
  const tendencyOf: (samples: readonly Sample[], warmUp: number) => number = module.tendencyOf;
  const during = (rss: (at: number) => number): Sample[] =>
    Array.from({ length: 800 }, (_, i) => ({ seconds: i + 1, rss: rss(i + 1) }));
  t.is(
    tendencyOf(
      during((at) => (at < 500 ? 100 : 220)),
      100,
    ),
    0,
  );
  t.is(
    tendencyOf(
      during((at) => at),
      100,
    ),
    600,
  );
});

test('a Sorter serves several clients: calls are right, memory is flat, and latencies are told', (t) => {
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

test('so does one of a device with memory of its own, which small arrays of several calls cross to together', (t) => {
  const args = [soak('soak.mjs'), ...SHORT, '--own-memory'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  t.is(status, 0, stdout + stderr);
  t.regex(stdout, /server: 0 failures; .*: flat\nserver: [1-9]\d* berths were made/);
});

test('a word that comes back wrong is found, and ends in exit code 1', async (t) => {
  let stdout = '';
  const { control } = await underLayer(async (layer) => {
    const env = { ...process.env, ...layer };
    const child = spawn(process.execPath, [soak('soak.mjs'), ...SHORT], { env });
    const faults = new LayerControl(layer.CLSORT_LAYER_CONTROL ?? '');
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      // Once it serves, and so not in a self-test, whose finding would be kept.
      if (/calls in/.test(text)) faults.corrupt(1, 0x10000);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    faults.close();
    t.is(code, 1, stdout);
  });
  control.close();
  t.regex(stdout, /^FAILED: sort.* keys, \{"descending":(true|false),"dtype":"\w+"\}: wrong$/m);
  t.regex(stdout, /^server: [1-9]\d* failures/m);
});

test('batches are killed and gone on with beside one that gets jobs all the time, and nothing is wrong', (t) => {
  const args = [soak('soak.mjs'), 'batches', '--minutes', '0.15', '--seed', '5'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  t.is(status, 0, stdout + stderr);
  t.regex(stdout, /^batches: seed 5$/m);
  t.regex(stdout, /^batches: memory is judged from \d+ minutes on$/m);
  t.regex(stdout, /[1-9]\d* rounds of [1-9]\d* jobs, .*; [1-9]\d* jobs in a stream, .*; 0 failures/);
});

test('what cannot be run is a usage error', (t) => {
  for (const args of [
    [],
    ['nope'],
    ['server', '--clients', '0'],
    ['server', '--minutes', 'soon'],
    ['batches', '--seed', 'x'],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [soak('soak.mjs'), ...args], { encoding: 'utf8' });
    t.is(status, 2);
    t.regex(stderr, /usage: .*binding \| server \| batches/);
  }
});
