/** The page of clsort explain in a real browser. */
import test from 'ava';
import type { Explanation, Step } from '../../src/explain/explanation.js';
import { explanationHtml } from '../../src/explain/html.js';
import { explanationText } from '../../src/explain/text.js';
import { testInBrowser } from '../browser.js';

const COST = {
  ...{ items: 256, active: 4, idle: 252, divergent: 1, sectors: 2, kernelSeconds: 2.5e-6 },
  banks: [
    { banks: 16, plain: 4, padded: 1 },
    { banks: 32, plain: 2, padded: 1 },
  ],
} as const;

const step = (
  title: string,
  before: string,
  after: string,
  newIndex: number[],
  more: Partial<Step> = {},
): Step => ({
  ...{ title, note: `what ${title} is for`, kernels: ['split_move'], cost: COST },
  lines: [
    { name: 'keys', values: before.split(' ') },
    { name: 'bit', values: ['1', '0', '0', '1'], group: 2 },
    { name: 'moved', values: after.split(' ') },
  ],
  ...{ before: before.split(' '), after: after.split(' '), newIndex },
  source: { file: 'split_radix.cl', name: 'split_move', marks: [12] },
  ...more,
});

const EXPLANATION: Explanation = {
  schema: 'clsort.explain/2',
  ...{ algorithm: 'split', step: null, n: 4, dtype: 'u32', descending: false, bits: [0, 2] },
  device: 'a </script><b id="escaped"> device',
  keys: ['7', '14', '4', '1'],
  sorted: ['4', '1', '14', '7'],
  result: ['4', '1', '14', '7'],
  steps: [
    step('pass 0: bit 0', '7 14 4 1', '14 4 7 1', [2, 0, 1, 3]),
    step('pass 1: bit 1', '14 4 7 1', '4 1 14 7', [2, 0, 3, 1], {
      wires: [
        [0, 2],
        [3, 1],
      ],
      grids: [
        { name: 'counters', columns: ['bin 0', 'bin 1'], rows: [{ name: 'block 0', values: ['3', '0'] }] },
      ],
    }),
    step('sums', '7 14 4 1', '21 5', [], {
      flow: [
        [0, 0],
        [1, 0],
        [2, 1],
      ],
    }),
  ],
  sources: {
    split_move: { file: 'split_radix.cl', first: 11, lines: ['void split_move(...)', '    int place;', '}'] },
  },
};

const position = (page: string): string | undefined => /<span id="position"[^>]*>([^<]*)</.exec(page)?.[1];

test('the text has each array on one line, without colour, and the cost of each step', (t) => {
  const text = explanationText(EXPLANATION);
  t.regex(text, /^ {2}keys +7 +14 +4 +1$/m);
  t.regex(
    text,
    /^ {2}work-items 4 of 256, 252 idle, 1 rows divergent; 16 banks: 4 turns, padded 1; .*; kernel 2\.50 us$/m,
  );
  t.regex(text, /^ {2}counters +bin 0 +bin 1\n {2}block 0 +3 +0$/m);
  t.false(text.includes('\u001b'));
});

test('the page loads no resources and escapes its data', (t) => {
  const html = explanationHtml(EXPLANATION);
  t.notRegex(html, /https?:\/\/(?!www\.w3\.org)/);
  t.notRegex(html, /(?:src|href)=|@import|url\(/);
  t.false(html.includes('<b id="escaped">'));
  t.regex(html, /prefers-reduced-motion: reduce\) \{ \.key \{ transition: none/);
});

testInBrowser(
  'the page draws the movement of each key, and the keyboard moves through the steps',
  async (t, visit) => {
    const pageAfter = (...keys: string[]) => visit(explanationHtml(EXPLANATION), keys);
    const first = await pageAfter();
    t.is(position(first), 'step 1 of 3');
    t.is(first.match(/<span class="before key"/g)?.length, 4);
    t.is(first.match(/<span class="after key"/g)?.length, 4);
    t.is(first.match(/class="moves"/g)?.length, 3); // 7, 14 and 4 move, 1 stays
    t.is(first.match(/class="stays"/g)?.length, 1);
    t.false(first.includes('<b id="escaped">'));
    t.regex(first, /<dt>32 banks: turns<\/dt><dd class="bad">2 \(padded 1\)/);
    t.regex(first, /<span data-line="12" class="marked"> {4}int place;/);
    t.regex(first, /<td class="digit"[^>]*background[^>]*>1</, 'digits have colours');
    t.regex(first, /<div id="network" hidden/);

    const second = await pageAfter('ArrowRight');
    t.is(position(second), 'step 2 of 3');
    t.regex(second, /<h2 id="title">pass 1: bit 1</);
    t.is(second.match(/class="comparator now"/g)?.length, 2);
    t.is(second.match(/class="wire"/g)?.length, 4);
    t.regex(second, /<h3>counters<\/h3>/);
    const third = await pageAfter('End', 'ArrowRight');
    t.is(position(third), 'step 3 of 3');
    t.is(third.match(/<span class="after key plain"/g)?.length, 2);
    t.is(third.match(/class="moves"/g)?.length, 2, 'two sums come from another place');
    t.is(position(await pageAfter('End', 'ArrowLeft')), 'step 2 of 3');
    t.is(position(await pageAfter(' ', 'Home')), 'step 1 of 3');
  },
);

testInBrowser('the page opens on the first step that moves something, and plays', async (t, visit) => {
  const still = step('loads', '7 14 4 1', '7 14 4 1', [0, 1, 2, 3]);
  const page = explanationHtml({ ...EXPLANATION, steps: [still, ...EXPLANATION.steps] });
  t.is(position(await visit(page)), 'step 2 of 4');
  const playing = await visit(`${page}<script>document.getElementById('play').click();</script>`);
  t.is(position(playing), 'step 3 of 4');
  t.regex(playing, /id="play">pause</);
  t.is(position(await visit(page, ['Home'])), 'step 1 of 4');
});

testInBrowser(
  'buttons and the slider move through the steps, and the page fits a narrow screen',
  async (t, visit) => {
    const press = `<script>
    document.getElementById('forth').click();
    const slider = document.getElementById('slider');
    slider.value = 2;
    slider.dispatchEvent(new Event('input'));
    document.getElementById('back').click();
    document.body.style.width = '360px';
    const wide = [...document.querySelectorAll('body > *, section > *')].filter((one) => one.getBoundingClientRect().right > document.body.getBoundingClientRect().right + 1);
    document.title = wide.length === 0 ? 'fits' : wide.map((one) => one.tagName + '#' + one.id).join(' ');
  </script>`;
    const page = await visit(`${explanationHtml(EXPLANATION)}${press}`);
    t.is(position(page), 'step 2 of 3');
    t.regex(page, /<title>fits<\/title>/);
  },
);
