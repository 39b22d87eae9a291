/** The HTML report of a matrix, as text and in a real browser. */
import test from 'ava';
import { htmlReport } from '../../../src/matrix/report/html.js';
import type { MatrixReport } from '../../../src/matrix/report/report.js';
import { testInBrowser } from '../../browser.js';
import { EVIL, info, mixed, reportOf } from './reports.js';

const REPORT: MatrixReport = {
  ...mixed(EVIL),
  devices: [
    ...mixed(EVIL).devices,
    ...reportOf('gather|scan,u32|f32', undefined, info({ name: EVIL })).devices,
  ],
};

test('the page loads no external resource and escapes device names', (t) => {
  const page = htmlReport(REPORT);
  t.false(/(?:src|href)=|@import|url\(/.test(page), 'loads nothing');
  t.is(page.match(/<\/script>/g)?.length, 2);
  t.false(/NaN|undefined/.test(page.replace(/<script>[\s\S]*/, '')));
});

/** The page with an additional script at its end. */
const with_ = (script: string): string => `${htmlReport(REPORT)}<script>{${script}}</script>`;
const titleOf = (dom: string): string => /<title>([^<]*)<\/title>/.exec(dom)?.[1] ?? '';
const PAGE_HELPERS = `const count = (what) => document.querySelectorAll(what).length;`;

testInBrowser(
  'the page shows every cell and lists the failures, and device names run no script',
  async (t, visit) => {
    const page = await visit(
      with_(`${PAGE_HELPERS} document.title = [count('.cell'), count('#failures li'), count('.grid'), count('.cell.crash'),
      document.querySelector('.cell.crash').getAttribute('aria-label')].join(' ');`),
    );
    t.is(titleOf(page), '10 3 2 1 sort tiled u32: crash on Device, one');
  },
);

testInBrowser(
  'cells are filtered by device, operation, algorithm, dtype and status, and a reset shows all',
  async (t, visit) => {
    const page = await visit(
      with_(`${PAGE_HELPERS} const seen = [];
    const choose = (id, value) => {
      const select = document.getElementById('filter-' + id);
      select.value = value;
      select.dispatchEvent(new Event('change'));
      seen.push(id + ' ' + count('.cell'));
    };
    choose('dtype', 'u32');
    choose('device', '0');
    choose('algorithm', 'amd');
    choose('dtype', '');
    document.getElementById('reset').click();
    seen.push('reset ' + count('.cell'));
    choose('operation', 'gather');
    document.getElementById('reset').click();
    document.querySelector('[data-status=ok]').click();
    seen.push('without ok ' + count('.cell') + ' ' + document.getElementById('shown').textContent);
    document.title = seen.join(', ');`),
    );
    t.is(
      titleOf(page),
      'dtype 4, device 2, algorithm 1, dtype 3, reset 10, operation 2, without ok 3 3 of 10 cells',
    );
  },
);

testInBrowser(
  'a cell opens a dialog with its plan, seed, times, message and the commands that repeat it',
  async (t, visit) => {
    const page = await visit(
      with_(`document.querySelector('.cell.wrong').click();
    const dialog = document.getElementById('cell');
    const lines = [...dialog.querySelectorAll('code')].map((code) => code.textContent);
    const text = dialog.textContent;
    document.title = JSON.stringify([dialog.open, location.hash, lines, text.includes('plan of tiled'), text.includes('250 ms'),
      text.includes('seed of keys'), text.includes(${JSON.stringify(EVIL).replaceAll('</', '<\\/')}.slice(0, 40))]);`),
    );
    const readTitle = JSON.parse(titleOf(page).replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
    const [open, hash, lines, ...facts] = readTitle as [boolean, string, string[], ...boolean[]];
    t.true(open);
    t.is(hash, '#cell=0.0');
    t.deepEqual(facts, [true, true, true, true]);
    t.is(lines.length, 2);
    t.regex(
      lines[0] ?? '',
      /^(\w+=\S+ )*clsort matrix --device Device --only 'operation=sort,algorithm=tiled,dtype=u8,n=33,order=ascending,keys=uniform' --seed 5$/,
    );
    t.regex(lines[1] ?? '', /dtype=u8,n=33\|16385,order=ascending,keys=uniform' --seed 5$/);
  },
);

testInBrowser('arrow keys move among cells, and each grid is one tab stop', async (t, visit) => {
  const page = await visit(
    with_(`${PAGE_HELPERS} const seen = [count('.cell[tabindex="0"]')];
    const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    document.querySelector('.cell').focus();
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowLeft', 'End', 'ArrowUp']) {
      press(key);
      seen.push(document.activeElement.title.split(':')[0]);
    }
    seen.push(count('.cell[tabindex="0"]'));
    document.title = seen.join(', ');`),
  );
  t.is(
    titleOf(page),
    '2, sort tiled u32, sort amd u32, sort amd u8, sort amd u8, sort amd f64, sort tiled f64, 2',
  );
});

for (const [width, max] of [
  [360, 360],
  [1440, 1440],
] as const) {
  testInBrowser(`the page and its dialog fit a width of ${width} pixels`, async (t, visit) => {
    const inner = htmlReport(REPORT).replace(
      '</body>',
      `<script>document.querySelector('.cell.crash').click();
      parent.postMessage([document.documentElement.scrollWidth, document.getElementById('cell').scrollWidth], '*');</script></body>`,
    );
    const frame = JSON.stringify(inner).replaceAll('</', '<\\/');
    const page =
      await visit(`<!doctype html><title>none</title><iframe id="frame" style="width:${width}px;height:800px;border:0"></iframe>
      <script>addEventListener('message', ({ data }) => { document.title = data.join(' '); });
      document.getElementById('frame').srcdoc = ${frame};</script>`);
    const [body = 0, dialog = 0] = titleOf(page).split(' ').map(Number);
    t.true(body > 0 && body <= max, titleOf(page));
    t.true(dialog > 0 && dialog < max, titleOf(page));
  });
}
