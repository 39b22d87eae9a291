/** The page of clsort explain in a real browser. */
import type { Explanation } from '../../src/explain/explanation.js';
import { explanationHtml } from '../../src/explain/html.js';
import { testInBrowser } from '../browser.js';

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

const position = (page: string): string | undefined => /<span id="position"[^>]*>([^<]*)</.exec(page)?.[1];

testInBrowser(
  'the page draws each key on its way, and the keyboard walks through the steps',
  async (t, visit) => {
    const pageAfter = (...keys: string[]) => visit(explanationHtml(EXPLANATION), keys);
    const first = await pageAfter();
    t.is(position(first), 'step 1 of 2');
    t.is(first.match(/<g class="before">/g)?.length, 4);
    t.is(first.match(/<g class="after">/g)?.length, 4);
    t.is(first.match(/class="moves"/g)?.length, 3); // 7, 14 and 4 move, 1 stays
    t.is(first.match(/class="stays"/g)?.length, 1);
    t.false(first.includes('<b id="escaped">'));

    const second = await pageAfter('ArrowRight');
    t.is(position(second), 'step 2 of 2');
    t.regex(second, /<h2 id="title">pass 1: bit 1 /);
    t.is(position(await pageAfter('End', 'ArrowRight')), 'step 2 of 2');
    t.is(position(await pageAfter('End', 'ArrowLeft')), 'step 1 of 2');
    t.is(position(await pageAfter(' ', 'Home')), 'step 1 of 2');
  },
);
