/** The page of clsort explain in a real browser; left out where there is none (CLSORT_BROWSER names one). */
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import type { Explanation } from '../../src/explain/explanation.js';
import { explanationHtml } from '../../src/explain/html.js';
import { scratchFolder } from '../cli/cli.js';

const browser = (): string | undefined => {
  if (process.env.CLSORT_BROWSER) return process.env.CLSORT_BROWSER;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
};

const step = (
  title: string,
  before: string,
  after: string,
  newIndex: number[],
): Explanation['steps'][number] => ({
  title,
  kernels: ['split_move'],
  lines: [
    { name: 'keys', values: before.split(' ') },
    { name: 'moved', values: after.split(' ') },
  ],
  before: before.split(' '),
  after: after.split(' '),
  newIndex,
});

const EXPLANATION: Explanation = {
  schema: 'clsort.explain/1',
  algorithm: 'split',
  device: 'a </script><b id="escaped"> device',
  dtype: 'u32',
  descending: false,
  bits: [0, 2],
  keys: ['7', '14', '4', '1'],
  sorted: ['4', '1', '14', '7'],
  steps: [
    step('pass 0: bit 0', '7 14 4 1', '14 4 7 1', [2, 0, 1, 3]),
    step('pass 1: bit 1', '14 4 7 1', '4 1 14 7', [2, 0, 3, 1]),
  ],
};

/** The page after its script ran and some keys were pressed. */
async function pageAfter(chromium: string, keys: readonly string[]): Promise<string> {
  const { path, remove } = scratchFolder();
  try {
    const presses = keys.map((key) => `dispatchEvent(new KeyboardEvent('keydown', { key: '${key}' }));`);
    const file = path('page.html');
    writeFileSync(file, `${explanationHtml(EXPLANATION)}<script>${presses.join('')}</script>`);
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
    const own = [`--user-data-dir=${path('profile')}`, '--virtual-time-budget=2000'];
    const args = [...flags, ...own, '--dump-dom', `file://${file}`];
    const { stdout } = await promisify(execFile)(chromium, args, { timeout: 60_000, maxBuffer: 2 ** 24 });
    return stdout;
  } finally {
    remove();
  }
}

const position = (page: string): string | undefined => /<span id="position"[^>]*>([^<]*)</.exec(page)?.[1];

test('the page draws each key on its way, and the keyboard walks through the steps', async (t) => {
  const chromium = browser();
  if (!chromium) {
    t.log('no Chromium on this machine: left out');
    t.pass();
    return;
  }
  const first = await pageAfter(chromium, []);
  t.is(position(first), 'step 1 of 2');
  t.is(first.match(/<g class="before">/g)?.length, 4);
  t.is(first.match(/<g class="after">/g)?.length, 4);
  t.is(first.match(/class="moves"/g)?.length, 3); // 7, 14 and 4 move, 1 stays
  t.is(first.match(/class="stays"/g)?.length, 1);
  t.false(first.includes('<b id="escaped">'));

  const second = await pageAfter(chromium, ['ArrowRight']);
  t.is(position(second), 'step 2 of 2');
  t.regex(second, /<h2 id="title">pass 1: bit 1 /);
  t.is(position(await pageAfter(chromium, ['End', 'ArrowRight'])), 'step 2 of 2');
  t.is(position(await pageAfter(chromium, ['End', 'ArrowLeft'])), 'step 1 of 2');
  t.is(position(await pageAfter(chromium, [' ', 'Home'])), 'step 1 of 2');
});
