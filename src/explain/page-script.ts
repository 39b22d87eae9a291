/** Script of the page, inlined so that the page works from a file without a network. */
export const PAGE_SCRIPT = `
const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const SVG = 'http://www.w3.org/2000/svg';
const CELL_HEIGHT = 32;
const GAP = 110;
const STEP_MILLISECONDS = 1800;

/* The page opens on the first step whose drawing shows something: values that move or combine, comparators or counters. */
const showsSomething = ({ newIndex, flow, wires, grids }) =>
  newIndex.some((to, from) => to !== from) || (flow || []).some(([from, to]) => from !== to) || !!wires || !!grids;
let at = Math.max(0, data.steps.findIndex(showsSomething));
let timer;

function make(tag, attributes, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...content);
  return element;
}
function draw(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/* Digits as colours: as many hues as there are digits, evenly apart, all light enough for dark ink. */
const hue = (digit, digits) => 'hsl(' + Math.round((digit * 300) / Math.max(1, digits - 1 || 1)) + ' 70% 78%)';
function coloursOf(step) {
  const line = step.lines.find(({ name }) => name === 'bit' || name === 'digit' || name === 'bin' || name === 'zero bit');
  if (!line || line.values.length !== step.before.length) return undefined;
  const kinds = [...new Set(line.values)].sort((a, b) => a - b);
  return line.values.map((value) => hue(kinds.indexOf(value), kinds.length));
}
/* Without digits, keys are coloured by where they will stand in the end. */
function ranksOf(step) {
  if (!data.sorted || step.newIndex.length === 0) return undefined;
  const left = new Map();
  data.sorted.forEach((text, i) => { if (!left.has(text)) left.set(text, i); });
  return step.before.map((text) => hue(left.get(text) ?? 0, data.sorted.length));
}

function showFlow(step) {
  const box = byId('flow');
  const count = Math.max(step.before.length, step.after.length);
  byId('drawing').hidden = count === 0;
  if (count === 0) { box.replaceChildren(); return; }
  const widest = step.before.concat(step.after).reduce((most, text) => Math.max(most, text.length), 1);
  const cell = Math.max(34, widest * 8.6 + 14);
  const height = 2 * CELL_HEIGHT + GAP;
  box.style.width = cell * count + 'px';
  box.style.height = height + 'px';
  const svg = draw('svg', { width: cell * count, height, 'aria-hidden': 'true' });
  const curve = (from, to, kind) => {
    const [x, y] = [from * cell + cell / 2, to * cell + cell / 2];
    const [top, bottom] = [CELL_HEIGHT + 2, CELL_HEIGHT + GAP - 2];
    svg.append(draw('path', { class: kind,
      d: 'M' + x + ' ' + top + ' C' + x + ' ' + (top + 60) + ' ' + y + ' ' + (bottom - 60) + ' ' + y + ' ' + bottom }));
  };
  const moves = step.newIndex.length > 0;
  if (moves) step.newIndex.forEach((to, from) => curve(from, to, to === from ? 'stays' : 'moves'));
  else for (const [from, to] of step.flow || []) curve(from, to, from === to ? 'stays' : 'moves');
  const colours = coloursOf(step) || ranksOf(step);
  const place = (kind, text, i, y, colour) => {
    const key = make('span', { class: kind + ' key' + (colour ? '' : ' plain') }, text);
    key.style.cssText = 'left:' + (i * cell + 2) + 'px;top:' + y + 'px;width:' + (cell - 4) + 'px';
    if (colour) key.style.background = colour;
    return key;
  };
  const before = step.before.map((text, i) => place('before', text, i, 0, colours && colours[i]));
  const bottom = CELL_HEIGHT + GAP;
  let after;
  if (moves) {
    /* Keys start where they were and go to their places; where motion is unwelcome they are there at once. */
    after = step.before.map((text, i) => {
      const to = step.newIndex[i];
      const key = place('after', step.after[to], to, bottom, colours && colours[i]);
      key.style.transform = 'translate(' + (i - to) * cell + 'px,' + -bottom + 'px)';
      return key;
    });
  } else after = step.after.map((text, i) => place('after', text, i, bottom));
  box.replaceChildren(svg, ...before, ...after);
  void box.offsetWidth;
  for (const key of after) key.style.transform = '';
}

function showWires(step) {
  const steps = data.steps;
  byId('network').hidden = !step.wires;
  const svg = byId('wires');
  if (!step.wires) { svg.replaceChildren(); return; }
  const n = step.before.length;
  const [row, lane] = [n > 64 ? 6 : 14, 9];
  let x = 20, here = 20;
  const parts = [];
  steps.forEach((one, number) => {
    /* Comparators of a step that cross stand side by side. */
    const lanes = [];
    if (number === at) here = x;
    for (const [low, high] of one.wires || []) {
      const [top, end] = [Math.min(low, high), Math.max(low, high)];
      let into = lanes.findIndex((last) => last < top);
      if (into < 0) into = lanes.push(end) - 1;
      else lanes[into] = end;
      const [left, y1, y2] = [x + into * lane, 10 + low * row, 10 + high * row];
      const tip = high > low ? -5 : 5;
      parts.push(draw('path', { class: 'comparator' + (number === at ? ' now' : ''),
        d: 'M' + left + ' ' + y1 + ' V' + y2 + ' m-3 ' + tip + ' l3 ' + -tip + ' l3 ' + tip }));
    }
    x += Math.max(1, lanes.length) * lane + 16;
  });
  const wires = step.before.map((_, i) => draw('path', { class: 'wire', d: 'M4 ' + (10 + i * row) + ' H' + (x + 10) }));
  svg.setAttribute('width', x + 14);
  svg.setAttribute('height', n * row + 20);
  svg.replaceChildren(...wires, ...parts);
  svg.parentElement.scrollLeft = here - svg.parentElement.clientWidth / 3;
}

const COLOURED = ['bit', 'digit', 'bin', 'zero bit'];
function rowOf({ name, values, group, of }, colour) {
  const kinds = colour ? [...new Set(values)].sort((a, b) => a - b) : [];
  const cells = values.map((value, i) => {
    const cell = make('td', {}, value);
    if (group && i > 0 && i % group === 0) cell.className = 'first';
    if (value === 'x') cell.classList.add('on');
    if (value === '-') cell.classList.add('off');
    if (colour) { cell.classList.add('digit'); cell.style.background = hue(kinds.indexOf(value), kinds.length); }
    return cell;
  });
  return make('tr', {}, make('th', { scope: 'row' }, of === undefined ? name : name + ' (' + of + ')'), ...cells);
}
function gridOf({ name, columns, rows }) {
  const numbers = rows.flatMap((row) => row.values.map(Number));
  const most = numbers.reduce((a, b) => Math.max(a, b), 1);
  const head = make('tr', {}, make('th', {}, ''), ...columns.map((text) => make('td', {}, text)));
  const body = rows.map((row) => {
    const line = rowOf(row);
    [...line.querySelectorAll('td')].forEach((cell, i) => {
      const share = Number(row.values[i]) / most;
      if (share > 0) cell.style.background = 'color-mix(in srgb, var(--accent) ' + Math.round(10 + 40 * share) + '%, transparent)';
      else cell.className = 'zero';
    });
    return line;
  });
  return make('div', {}, make('h3', {}, name), make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name },
    make('table', { class: 'grid' }, head, ...body)));
}

const number = (value) => value.toLocaleString('en-US');
function timeText(seconds) {
  if (seconds < 1e-3) return (seconds * 1e6).toPrecision(3) + ' \\u00b5s';
  return seconds < 1 ? (seconds * 1e3).toPrecision(3) + ' ms' : seconds.toPrecision(3) + ' s';
}
function showCost({ items, active, idle, divergent, banks, sectors, kernelSeconds }) {
  const facts = [['work-items at work', number(active) + ' of ' + number(items)], ['idle', number(idle), idle > active],
    ['divergent rows of 32', number(divergent), divergent > 0]];
  for (const { banks: count, plain, padded } of banks) {
    facts.push([count + ' banks: turns', plain + ' (padded ' + padded + ')', plain > 1]);
  }
  if (sectors > 0) facts.push(['sectors of 32 bytes', number(sectors)]);
  facts.push(['kernel time', kernelSeconds === null ? '\\u2013' : timeText(kernelSeconds)]);
  byId('cost').replaceChildren(...facts.map(([name, value, bad]) =>
    make('div', {}, make('dt', {}, name), make('dd', bad ? { class: 'bad' } : {}, value))));
}

function showSource({ name, marks }) {
  const source = data.sources[name];
  byId('source-title').textContent = name + ' in cl/' + source.file;
  const all = marks.length === source.lines.length;
  const lines = source.lines.map((text, i) => make('span', { 'data-line': source.first + i,
    ...(!all && marks.includes(source.first + i) && { class: 'marked' }) }, text || ' '));
  byId('source').replaceChildren(...lines);
  const first = byId('source').querySelector('.marked');
  if (first) byId('source').parentElement.scrollTop = Math.max(0, first.offsetTop - byId('source').offsetTop - 80);
}

function show() {
  const step = data.steps[at];
  byId('title').textContent = step.title;
  byId('note').textContent = step.note || '';
  byId('kernels').textContent = step.kernels.join(', ');
  byId('position').textContent = 'step ' + (at + 1) + ' of ' + data.steps.length;
  byId('slider').value = at;
  byId('slider').setAttribute('aria-valuetext', 'step ' + (at + 1) + ': ' + step.title);
  showFlow(step);
  showWires(step);
  byId('lines').replaceChildren(...step.lines.filter(({ name }) => !(step.grids || []).some((grid) => name.startsWith(grid.name + '[')))
    .map((line) => rowOf(line, COLOURED.includes(line.name))));
  byId('grids').replaceChildren(...(step.grids || []).map(gridOf));
  showCost(step.cost);
  showSource(step.source);
  byId('back').disabled = at === 0;
  byId('forth').disabled = at === data.steps.length - 1;
}
function pause() {
  clearInterval(timer);
  timer = undefined;
  byId('play').textContent = '\u25b6 play';
}
function play() {
  const last = data.steps.length - 1;
  if (at === last) { at = 0; show(); }
  byId('play').textContent = 'pause';
  timer = setInterval(() => {
    at++;
    show();
    if (at === last) pause();
  }, STEP_MILLISECONDS);
}
function go(to) {
  pause();
  at = Math.min(Math.max(to, 0), data.steps.length - 1);
  show();
}
const KEYS = {
  ArrowRight: () => at + 1, ArrowLeft: () => at - 1, ' ': () => at + 1,
  Home: () => 0, End: () => data.steps.length - 1,
};
addEventListener('keydown', (event) => {
  const move = KEYS[event.key];
  const on = event.target.tagName;
  if (!move || event.altKey || event.ctrlKey || event.metaKey || on === 'INPUT' || (event.key === ' ' && on === 'BUTTON')) return;
  event.preventDefault();
  go(move());
});
byId('play').addEventListener('click', () => (timer === undefined ? play() : pause()));
byId('back').addEventListener('click', () => go(at - 1));
byId('forth').addEventListener('click', () => go(at + 1));
byId('slider').addEventListener('input', () => go(Number(byId('slider').value)));
byId('play').disabled = data.steps.length < 2;
if (data.steps.length > 0) show();
`;
