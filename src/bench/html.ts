import { contests, contestText } from './crossover.js';
import { cells, crossoverPlot, headings, sharePlot, speedPlot, titleOf } from './format.js';
import { escapeXml, type Plot, plotSvg } from './plot.js';
import type { SortBench } from './sorts.js';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.45 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
figure { margin: 1.5rem 0; }
svg { width: 100%; max-width: 40rem; height: auto; }
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

/** Hides or shows a line in all plots. */
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

/** Contents of a page with measurements. */
export interface Page {
  readonly title: string;
  /** Description of the measurement, one paragraph each. */
  readonly about: readonly string[];
  /** The command line that repeats it. */
  readonly command: string;
  readonly figures: readonly { readonly plot: Plot; readonly id: string; readonly caption: string }[];
  /** Findings, listed below the figures. */
  readonly found?: readonly string[];
  readonly headings: readonly string[];
  readonly rows: readonly { readonly cells: readonly string[]; readonly isRight: boolean }[];
}

function tableOf({ headings: names, rows }: Page): string {
  const head = names.map((name) => `<th scope="col">${escapeXml(name)}</th>`);
  const lines = rows.map((row) => {
    const data = row.cells.map(
      (cell) => `<td${isNumber(cell) ? ' class="number"' : ''}>${escapeXml(cell)}</td>`,
    );
    return `<tr${row.isRight ? '' : ' class="bad"'}>${data.join('')}</tr>`;
  });
  return `<div class="table" tabindex="0" role="region" aria-label="All rows"><table>
<thead><tr>${head.join('')}</tr></thead>
<tbody>
${lines.join('\n')}
</tbody></table></div>`;
}

const figureOf = ({ plot, id, caption }: Page['figures'][number]): string =>
  plot.lines.length === 0
    ? ''
    : `<figure>\n${plotSvg(plot, id)}\n<figcaption>${escapeXml(caption)}</figcaption>\n</figure>`;

/** Returns a self-contained page with the plots and the table of a measurement. */
export function htmlPage(page: Page): string {
  const names = new Set(page.figures.flatMap(({ plot }) => plot.lines.map(({ name }) => name)));
  const boxes = [...names].map(
    (name) =>
      `<label><input type="checkbox" checked data-shows="${escapeXml(name)}"> ${escapeXml(name)}</label>`,
  );
  const found = (page.found ?? []).map((words) => `<li>${escapeXml(words)}</li>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeXml(page.title)}</title>
<style>${STYLE}</style>
<h1>${escapeXml(page.title)}</h1>
${page.about.map((words) => `<p>${escapeXml(words)}</p>`).join('\n')}
<p>Repeat it: <code>${escapeXml(page.command)}</code></p>
<fieldset><legend>Lines</legend>${boxes.join(' ')}</fieldset>
${page.figures.map(figureOf).join('\n')}
${found.length > 0 ? `<ul>${found.join('')}</ul>` : ''}
<h2>All rows</h2>
${tableOf(page)}
<script>${SCRIPT}</script>
</html>
`;
}

/**
 * Returns the page of `clsort bench sorts`.
 *
 * @param command the command line that repeats it
 */
export function benchHtml(benches: readonly SortBench[], command: string): string {
  const copies = benches.map(({ device, copyBytesPerSecond }) =>
    copyBytesPerSecond === null
      ? `${device} does not measure its copies.`
      : `A copy on ${device} moves ${(copyBytesPerSecond / 1e9).toFixed(1)} GB/s, read and written.`,
  );
  const found = contests(benches.flatMap(({ rows }) => rows)).map(contestText);
  const speed = 'By kernel time where the device tells it, else end to end. Bars are the median deviation.';
  const crossover = {
    plot: crossoverPlot(benches),
    id: 'crossover',
    caption: 'Where lines cross, the fastest way changes.',
  };
  return htmlPage({
    title: 'clsort bench sorts',
    about: benches.map((bench) => `${titleOf(bench)}, ${bench.platform}`),
    command,
    figures: [
      { plot: speedPlot(benches), id: 'speed', caption: speed },
      { plot: sharePlot(benches), id: 'share', caption: copies.join(' ') },
      ...(found.length > 0 ? [crossover] : []),
    ],
    found,
    headings: headings(benches.length > 1),
    rows: benches.flatMap((bench) =>
      bench.rows.map((row) => ({ cells: cells(row), isRight: row.result === 'ok' })),
    ),
  });
}
