/** Script of the page, inlined so that the page works from a file without a network. */
export const PAGE_SCRIPT = `
const data = JSON.parse(document.getElementById('data').textContent);
const GLYPHS = { ok: '\\u2713', skipped: '\\u2013', wrong: '\\u2260', error: '!', crash: '\\u2715', timeout: '\\u2026' };
const STATUSES = Object.keys(GLYPHS);
const isBad = (status) => status !== 'ok' && status !== 'skipped';
const byId = (id) => document.getElementById(id);
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const filters = ['device', 'operation', 'algorithm', 'dtype'];
const chosen = { device: '', operation: '', algorithm: '', dtype: '', hidden: new Set() };
const nameOf = (device) => device.name + ' (' + device.platform + ')';
const labelOf = ({ operation, algorithm }) => algorithm === 'none' ? [operation] : [operation, ' ', algorithm];
const all = data.devices.flatMap((device, d) => device.cells.map((cell, c) => ({ device, cell, id: d + '.' + c, d })));

function isShown({ d, cell }) {
  return (chosen.device === '' || chosen.device === String(d)) && (chosen.operation === '' || chosen.operation === cell.operation) &&
    (chosen.algorithm === '' || chosen.algorithm === cell.algorithm) && (chosen.dtype === '' || chosen.dtype === cell.dtype) &&
    !chosen.hidden.has(cell.status);
}
function cellButton({ device, cell, id }) {
  const about = [...labelOf(cell), ' ', cell.dtype, ': ', cell.status].join('');
  return make('button', { type: 'button', class: 'mark cell ' + cell.status, 'data-cell': id, tabindex: '-1', title: about,
    'aria-label': about + ' on ' + device.name }, GLYPHS[cell.status]);
}
function section(device, d) {
  const shown = all.filter((one) => one.d === d && isShown(one));
  const counts = STATUSES.map((status) => [device.cells.filter((cell) => cell.status === status).length, status]).filter(([count]) => count > 0);
  const facts = ['driver ' + device.driver, 'OpenCL ' + device.opencl, 'clsort ' + device.clsort, device.date, device.level + ' matrix', 'seed ' + device.seed];
  const body = make('section', { 'data-device': d }, make('h2', {}, nameOf(device)),
    make('p', { class: 'soft' }, counts.map(([count, status]) => count + ' ' + status).join(' \\u00b7 ') + ' \\u00b7 ' + facts.join(' \\u00b7 ')));
  if (shown.length === 0) return body;
  const dtypes = [...new Set(shown.map(({ cell }) => cell.dtype))];
  dtypes.sort((a, b) => data.dtypes.indexOf(a) - data.dtypes.indexOf(b));
  const grid = make('div', { role: 'grid', class: 'grid', 'aria-label': nameOf(device), style: '--columns: ' + dtypes.length });
  grid.append(make('div', { role: 'row', class: 'row titles' }, make('div', { role: 'rowheader' }),
    ...dtypes.map((dtype) => make('div', { role: 'columnheader' }, dtype))));
  const rows = new Map();
  for (const one of shown) {
    const name = one.cell.operation + ' ' + one.cell.algorithm;
    if (!rows.has(name)) rows.set(name, []);
    rows.get(name).push(one);
  }
  for (const own of rows.values()) {
    const { operation, algorithm } = own[0].cell;
    const head = make('div', { role: 'rowheader' }, operation);
    if (algorithm !== 'none') head.append(' ', make('span', { class: 'algorithm' }, algorithm));
    grid.append(make('div', { role: 'row', class: 'row' }, head, ...dtypes.map((dtype) => {
      const one = own.find(({ cell }) => cell.dtype === dtype);
      return make('div', { role: 'gridcell' }, ...(one ? [cellButton(one)] : []));
    })));
  }
  body.append(grid);
  const first = grid.querySelector('.cell');
  if (first) first.tabIndex = 0;
  return body;
}
function draw() {
  byId('devices').replaceChildren(...data.devices.map((device, d) => [device, d])
    .filter(([, d]) => chosen.device === '' || chosen.device === String(d)).map(([device, d]) => section(device, d)));
  const bad = all.filter((one) => isBad(one.cell.status) && isShown(one));
  byId('wrong').hidden = bad.length === 0;
  byId('failures').replaceChildren(...bad.slice(0, 100).map((one) => {
    const reason = one.cell.bad && one.cell.bad[0] ? one.cell.bad[0].reason : '';
    return make('li', {}, make('button', { type: 'button', 'data-cell': one.id }, make('span', { class: 'mark ' + one.cell.status }, one.cell.status),
      make('span', {}, [...labelOf(one.cell), ' ', one.cell.dtype].join('') + ' on ' + nameOf(one.device) + ': ' + reason.split('\\n')[0])));
  }));
  const shown = all.filter(isShown).length;
  byId('shown').textContent = shown + ' of ' + all.length + ' cells';
}
const seconds = (time) => time < 1 ? Number((time * 1000).toPrecision(3)) + ' ms' : Number(time.toPrecision(3)) + ' s';
const quantity = (rate) => rate >= 1e9 ? (rate / 1e9).toPrecision(3) + ' G' : rate >= 1e6 ? (rate / 1e6).toPrecision(3) + ' M' : (rate / 1e3).toPrecision(3) + ' k';
function commandLine(device, { operation, algorithm, dtype }, tried) {
  const [before, after, level] = device.command;
  const terms = Object.entries({ operation, algorithm, dtype, ...tried }).map(([axis, words]) => axis + '=' + [words].flat().join('|'));
  const text = before + "'" + terms.join(',') + "'" + after + (tried ? '' : level);
  const copy = make('button', { type: 'button', class: 'plain' }, 'Copy');
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(copy.previousSibling);
      copy.textContent = 'Selected';
    }
  });
  return make('div', { class: 'command' }, make('code', {}, text), copy);
}
function list(entries) {
  return make('dl', {}, ...entries.filter(([, value]) => value !== undefined && value !== '').flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
}
function details({ device, cell }) {
  const { time } = cell;
  const timing = time && 'n ' + time.n.toLocaleString('en-US') + ': first call ' + seconds(time.first) + ' (with compilation)' +
    (time.again ? ', then ' + seconds(time.again) + ', ' + quantity(time.n / time.again) + ' keys/s' : '');
  const counts = Object.entries(cell.counts).map(([status, count]) => count + ' ' + status).join(', ');
  const parts = [
    make('p', { class: 'soft' }, nameOf(device) + ', driver ' + device.driver),
    list([['cases', counts], ['plan', cell.plan], ['seed', device.seed], ['time', timing], ['all calls', seconds(cell.seconds)], ['skipped', cell.skipped]]),
  ];
  for (const one of cell.bad || []) {
    parts.push(make('div', { class: 'case' }, make('span', { class: 'mark ' + one.outcome }, one.outcome),
      list([['case', one.n.toLocaleString('en-US') + ' ' + one.keys + ' keys, ' + one.order], ['seed of keys', String(one.seed)], ['message', one.reason], ['plan', one.plan], ['time', seconds(one.seconds)]]),
      commandLine(device, cell, { n: one.n, order: one.order, keys: one.keys })));
  }
  const bad = STATUSES.filter(isBad).reduce((sum, status) => sum + (cell.counts[status] || 0), 0);
  if (cell.bad && bad > cell.bad.length) parts.push(make('p', { class: 'soft' }, 'and ' + (bad - cell.bad.length) + ' more cases'));
  parts.push(make('h3', {}, 'Repeat this cell'), commandLine(device, cell, cell.tried));
  return parts;
}
const dialog = byId('cell');
function link(hash) {
  try {
    history.replaceState(null, '', hash);
  } catch {
    /* A page that has no address of its own cannot be linked to. */
  }
}
function open(id) {
  const one = all.find((other) => other.id === id);
  if (!one) return;
  byId('cell-name').textContent = [...labelOf(one.cell), ' ', one.cell.dtype].join('');
  byId('cell-status').textContent = one.cell.status;
  byId('cell-status').className = 'mark ' + one.cell.status;
  byId('cell-details').replaceChildren(...details(one));
  link('#cell=' + id);
  if (!dialog.open) dialog.showModal();
}
dialog.addEventListener('close', () => link('#'));
byId('close').addEventListener('click', () => dialog.close());
dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-cell]');
  if (button) open(button.dataset.cell);
});
/* Arrows move among the cells of a device, which are one stop of the tab key. */
const MOVES = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
document.addEventListener('keydown', (event) => {
  const from = event.target instanceof Element ? event.target.closest('.cell') : null;
  if (!from || !(event.key in MOVES || event.key === 'Home' || event.key === 'End')) return;
  const rows = [...from.closest('.grid').querySelectorAll('.row:not(.titles)')].map((row) => [...row.querySelectorAll('[role=gridcell]')]);
  const r = rows.findIndex((row) => row.some((cell) => cell.contains(from)));
  const c = rows[r].findIndex((cell) => cell.contains(from));
  const [down, right] = MOVES[event.key] || [0, event.key === 'Home' ? -c : rows[r].length - 1 - c];
  let [y, x] = [r + down, c + right];
  while (rows[y] && rows[y][x] && !rows[y][x].firstChild) [y, x] = [y + down, x + Math.sign(right)];
  const to = rows[y] && rows[y][x] && rows[y][x].firstChild;
  event.preventDefault();
  if (!to) return;
  from.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
});
function options(name) {
  if (name === 'device') return data.devices.map((device, d) => [String(d), nameOf(device)]);
  const values = [...new Set(all.map(({ cell }) => cell[name]))];
  if (name === 'dtype') values.sort((a, b) => data.dtypes.indexOf(a) - data.dtypes.indexOf(b));
  return values.map((value) => [value, value]);
}
for (const name of filters) {
  const select = byId('filter-' + name);
  select.append(make('option', { value: '' }, 'all'), ...options(name).map(([value, text]) => make('option', { value }, text)));
  select.addEventListener('change', () => { chosen[name] = select.value; draw(); });
}
for (const status of STATUSES.filter((one) => all.some(({ cell }) => cell.status === one))) {
  const box = make('input', { type: 'checkbox', checked: '', 'data-status': status });
  box.addEventListener('change', () => { box.checked ? chosen.hidden.delete(status) : chosen.hidden.add(status); draw(); });
  byId('statuses').append(make('label', {}, box, make('span', { class: 'mark ' + status }, GLYPHS[status]), status));
}
byId('reset').addEventListener('click', () => {
  for (const name of filters) byId('filter-' + name).value = chosen[name] = '';
  for (const box of document.querySelectorAll('[data-status]')) box.checked = true;
  chosen.hidden.clear();
  draw();
});
draw();
const linked = /^#cell=([\\d.]+)$/.exec(location.hash);
if (linked) open(linked[1]);
`;
