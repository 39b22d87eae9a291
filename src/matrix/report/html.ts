/** Formats a matrix as one self-contained HTML page: a table per device, filters, and the details of each cell. */
import { DTYPES } from '../../keys/dtype.js';
import { escapeMarkup, jsonInHtml } from '../../util/markup.js';
import { commandParts } from './command.js';
import { PAGE_SCRIPT } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';
import { countsText, type MatrixReport, statusCounts } from './report.js';

const FILTERS = ['device', 'operation', 'algorithm', 'dtype'];

export function htmlReport({ devices }: MatrixReport): string {
  const all = devices.flatMap(({ cells }) => cells);
  const data = {
    dtypes: DTYPES,
    devices: devices.map((device) => ({ ...device, command: commandParts(device) })),
  };
  const selects = FILTERS.map(
    (name) => `<div><label for="filter-${name}">${name}</label><select id="filter-${name}"></select></div>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>clsort matrix: ${escapeMarkup(devices.map(({ name }) => name).join(', '))}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>Test matrix of clsort</h1>
<p>${devices.length} ${devices.length === 1 ? 'device' : 'devices'} · ${all.length} cells · ${escapeMarkup(countsText(statusCounts(all)))}</p>
<p class="soft">A cell is an operation by an algorithm on keys of a type, at several sizes; its result is compared with a reference on the host.</p>
</header>
<noscript><p>The table is drawn by a script in this page; <code>clsort matrix --read FILE --markdown</code> prints it without.</p></noscript>
<form class="filters" onsubmit="return false" aria-label="Filters">
${selects.join('\n')}
<button type="button" class="plain" id="reset">Reset</button>
<fieldset class="statuses"><legend>status</legend><span id="statuses" class="statuses"></span><span class="soft" id="shown" role="status"></span></fieldset>
</form>
<main>
<section id="wrong" hidden><h2>Failures</h2><ul class="failures" id="failures"></ul></section>
<div id="devices"></div>
</main>
<dialog id="cell" aria-labelledby="cell-name">
<div class="head"><h2><span id="cell-name"></span> <span id="cell-status"></span></h2><button type="button" class="plain" id="close">Close</button></div>
<div id="cell-details"></div>
</dialog>
<script type="application/json" id="data">${jsonInHtml(data)}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}
