import type { Explanation } from './explanation.js';

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** What the page does. Plain script, in the page itself: it must work from a file, without a network. */
const SCRIPT = `
const data = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';
let at = 0;
function draw(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
function show() {
  const step = data.steps[at];
  document.getElementById('title').textContent = step.title + ' (' + step.kernels.join(', ') + ')';
  document.getElementById('position').textContent = 'step ' + (at + 1) + ' of ' + data.steps.length;
  const widest = Math.max(...step.before.concat(step.after).map((text) => text.length));
  const cell = Math.max(44, widest * 9 + 16);
  const svg = document.getElementById('flow');
  svg.replaceChildren();
  svg.setAttribute('width', cell * step.before.length + 2);
  svg.setAttribute('height', 204);
  const box = (text, i, y, kind) => {
    const group = draw('g', { class: kind });
    group.append(draw('rect', { x: i * cell + 3, y, width: cell - 6, height: 32, rx: 4 }));
    group.append(draw('text', { x: i * cell + cell / 2, y: y + 21, 'text-anchor': 'middle' }, text));
    svg.append(group);
  };
  step.newIndex.forEach((to, from) => {
    const [x, y] = [from * cell + cell / 2, to * cell + cell / 2];
    const path = 'M' + x + ' 34 C' + x + ' 100 ' + y + ' 104 ' + y + ' 168';
    svg.append(draw('path', { d: path, class: to === from ? 'stays' : 'moves' }));
  });
  step.before.forEach((text, i) => box(text, i, 2, 'before'));
  step.after.forEach((text, i) => box(text, i, 170, 'after'));
  const rows = step.lines.map(({ name, values }) => {
    const row = document.createElement('tr');
    const head = document.createElement('th');
    head.textContent = name;
    row.append(head, ...values.map((value) => {
      const data = document.createElement('td');
      data.textContent = value;
      return data;
    }));
    return row;
  });
  document.getElementById('lines').replaceChildren(...rows);
  document.getElementById('back').disabled = at === 0;
  document.getElementById('forth').disabled = at === data.steps.length - 1;
}
function go(to) {
  at = Math.min(Math.max(to, 0), data.steps.length - 1);
  show();
}
const KEYS = {
  ArrowRight: () => at + 1, ArrowLeft: () => at - 1, ' ': () => at + 1,
  Home: () => 0, End: () => data.steps.length - 1,
};
addEventListener('keydown', (event) => {
  const move = KEYS[event.key];
  if (!move || (event.key === ' ' && event.target.tagName === 'BUTTON')) return;
  event.preventDefault();
  go(move());
});
document.getElementById('back').addEventListener('click', () => go(at - 1));
document.getElementById('forth').addEventListener('click', () => go(at + 1));
if (data.steps.length > 0) show();
`;

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
main { overflow-x: auto; }
svg text { font: 15px ui-monospace, monospace; fill: currentColor; }
rect { fill: none; stroke: currentColor; }
.after rect { stroke-width: 2; }
path { fill: none; stroke-width: 2; }
.moves { stroke: #d9480f; }
.stays { stroke: #868e96; stroke-dasharray: 4 4; }
th { text-align: left; padding-right: 1.5rem; font-weight: 600; white-space: nowrap; }
td { font-family: ui-monospace, monospace; text-align: right; padding: 0 .5rem; }
button { font: inherit; }
`;

/**
 * A page that draws where each key goes and is walked with the arrow keys, Home, End and Space.
 *
 * It loads nothing: style, script and data are inside.
 */
export function explanationHtml(explanation: Explanation): string {
  const { algorithm, dtype, device, keys, result: sorted } = explanation;
  const heading = escapeHtml(`${algorithm}: ${keys.length} ${dtype} keys on ${device}`);
  // Inside a script element only "<" could end the data early.
  const data = JSON.stringify(explanation).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>clsort explain ${escapeHtml(algorithm)}</title>
<style>${STYLE}</style>
<h1>${heading}</h1>
<p>Input: ${escapeHtml(keys.join(' '))}</p>
<p>Sorted: ${escapeHtml(sorted.join(' '))}</p>
<p><button id="back">Back</button> <button id="forth">Forth</button>
<span id="position" aria-live="polite"></span>, or with the arrow keys, Home and End</p>
<h2 id="title"></h2>
<main><svg id="flow" role="img" aria-labelledby="title"></svg><table id="lines"></table></main>
<script type="application/json" id="data">${data}</script>
<script>${SCRIPT}</script>
</html>
`;
}
