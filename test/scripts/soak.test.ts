import { spawn, spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import ava from 'ava';
import { LayerControl, underLayer } from '../layer/layer.js';
import { SHORT, soak } from '../soaks/short.js';

const test = ava.serial; // each uses the whole processor

interface Sample {
  readonly seconds: number;
  readonly rss: number;
}

test('memory growth is measured from the first minute to the last quarter', async (t) => {
  const module = await import(pathToFileURL(soak('soak-server.mjs')).href);
  const growthOf: (samples: readonly Sample[]) => number = module.growthOf;
  const during = (seconds: number, rss: (at: number) => number): Sample[] =>
    Array.from({ length: seconds }, (_, i) => ({ seconds: i + 1, rss: rss(i + 1) }));
  t.is(growthOf(during(600, (at) => 100 + (at % 7))), -3, 'a fluctuation does not exceed the earlier peak');
  t.is(growthOf(during(600, (at) => Math.min(at, 60))), 0, 'memory of the first minute is not growth');
  t.is(growthOf(during(600, (at) => at)), 525 - 60);
  t.is(growthOf(during(30, (at) => at)), 27 - 10, 'the first third of a short run');
});

test('a single step in memory is not a trend, but a steady leak is', async (t) => {
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

test('a corrupted word in a readback is detected and ends with exit code 1', async (t) => {
  let stdout = '';
  const { control } = await underLayer(async (layer) => {
    const env = { ...process.env, ...layer };
    const child = spawn(process.execPath, [soak('soak.mjs'), ...SHORT], { env });
    const faults = new LayerControl(layer.CLSORT_LAYER_CONTROL ?? '');
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      // Only once it serves calls: the failure of a self-test would be stored.
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

test('invalid arguments are a usage error', (t) => {
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
