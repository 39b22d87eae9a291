import { contests, contestText } from './crossover.js';
import { cells, crossoverPlot, headings, sharePlot, speedPlot, titleOf } from './format.js';
import { escapeXml, type Plot, plotSvg } from './plot.js';
import type { SortBench } from './sorts.js';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.45 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
figure { margin: 1.5rem 0; }
svg { width: 100%; height: auto; }
fieldset { border: 1px solid #8888; border-radius: 4px; }
fieldset label { display: inline-block; margin-right: 1rem; white-space: nowrap; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .15rem .6rem; text-align: left; border-bottom: 1px solid #8884; white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.bad td { font-weight: 600; color: #d9480f; }
code { overflow-wrap: anywhere; }
:focus-visible { outline: 3px solid #56b4e9; outline-offset: 2px; }
@media print { fieldset { display: none; } tr { break-inside: avoid; } }
`;

/** Takes a line out of all plots, or puts it back. */
const SCRIPT = `
for (const box of document.querySelectorAll('input[data-shows]')) {
  box.addEventListener('change', () => {
    for (const line of document.querySelectorAll('g[data-line]')) {
      if (line.dataset.line === box.dataset.shows) line.style.display = box.checked ? '' : 'none';
    }
  });
}
`;

const isNumber = (text: string): boolean => /^\d[\d.,]*$/.test(text);

function tableOf(benches: readonly SortBench[]): string {
  const head = headings(benches.length > 1).map((name) => `<th scope="col">${escapeXml(name)}</th>`);
  const rows = benches.flatMap((bench) =>
    bench.rows.map((row) => {
      const data = cells(row).map(
        (cell) => `<td${isNumber(cell) ? ' class="number"' : ''}>${escapeXml(cell)}</td>`,
      );
      return `<tr${row.result === 'ok' ? '' : ' class="bad"'}>${data.join('')}</tr>`;
    }),
  );
  return `<div class="table" tabindex="0" role="region" aria-label="All rows"><table>
<thead><tr>${head.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table></div>`;
}

const figure = (plot: Plot, id: string, caption: string): string =>
  plot.lines.length === 0
    ? ''
    : `<figure>\n${plotSvg(plot, id)}\n<figcaption>${caption}</figcaption>\n</figure>`;

/**
 * A page with the plots and the table of a measurement. It loads nothing: style and script are inside.
 *
 * @param command the line that repeats it
 */
export function benchHtml(benches: readonly SortBench[], command: string): string {
  const speed = speedPlot(benches);
  const boxes = speed.lines.map(
    ({ name }) =>
      `<label><input type="checkbox" checked data-shows="${escapeXml(name)}"> ${escapeXml(name)}</label>`,
  );
  const copies = benches.map(({ device, copyBytesPerSecond }) =>
    copyBytesPerSecond === null
      ? `${device} does not measure its copies.`
      : `A copy on ${device} moves ${(copyBytesPerSecond / 1e9).toFixed(1)} GB/s, read and written.`,
  );
  const found = contests(benches.flatMap(({ rows }) => rows)).map(
    (contest) => `<li>${escapeXml(contestText(contest))}</li>`,
  );
  const crossover =
    found.length > 0
      ? `${figure(crossoverPlot(benches), 'crossover', 'Where lines cross, the fastest way changes.')}\n<ul>${found.join('')}</ul>`
      : '';
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>clsort bench sorts</title>
<style>${STYLE}</style>
<h1>clsort bench sorts</h1>
${benches.map((bench) => `<p>${escapeXml(`${titleOf(bench)}, ${bench.platform}`)}</p>`).join('\n')}
<p>Repeat it: <code>${escapeXml(command)}</code></p>
<fieldset><legend>Lines</legend>${boxes.join(' ')}</fieldset>
${figure(speed, 'speed', 'By kernel time where the device tells it, else end to end. Bars are the median deviation.')}
${figure(sharePlot(benches), 'share', escapeXml(copies.join(' ')))}
${crossover}
<h2>All rows</h2>
${tableOf(benches)}
<script>${SCRIPT}</script>
</html>
`;
}
