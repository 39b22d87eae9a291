/** A batch report as one self-contained HTML page: job results and timeline. */
import type { ThreadSeconds } from '../../device/memory/staging.js';
import { deviceName } from '../../util/device-name.js';
import { escapeMarkup } from '../../util/markup.js';
import { type BatchReport, byName, headline, type ReportRow } from './batch-report.js';
import { KINDS, type Kind, type Span, type Track } from './batch-timeline.js';

/** A palette for colour-blind readers. */
const COLOURS: Readonly<Record<Kind, string>> = {
  read: '#0072b2',
  wait: '#c5b0d5',
  upload: '#56b4e9',
  sort: '#009e73',
  download: '#cc79a7',
  write: '#e69f00',
  sync: '#8c510a',
  checksum: '#f0e442',
  other: '#999999',
  failed: '#d55e00',
};

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.45 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
figure { margin: 1.5rem 0; }
svg { width: 100%; height: auto; font-size: 11px; }
svg text { fill: currentColor; }
.line { stroke: #8886; }
.busy { list-style: none; padding: 0; }
.busy meter { width: 10rem; }
.legend span { display: inline-block; margin-right: 1rem; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .3em; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .15rem .6rem; text-align: left; border-bottom: 1px solid #8884; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.error td { font-weight: 600; }
tr.error td:nth-child(2) { color: #d55e00; }
code { overflow-wrap: anywhere; }
:focus-visible { outline: 3px solid #56b4e9; outline-offset: 2px; }
`;

const [WIDTH, LEFT, ROW, GAP] = [1100, 210, 14, 12];

/** Maximum number of spans to draw; more are not discernible and slow the page down. */
const MAX_SPANS = 20_000;

export function htmlReport(report: BatchReport): string {
  const { name } = report;
  const rows = byName(report.rows);
  const failures = rows.filter(({ outcome }) => outcome === 'error');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeMarkup(name)}: clsort batch</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Batch <code>${escapeMarkup(name)}</code></h1>
<p>${escapeMarkup(headline(report))}</p>
${devicesText(rows)}
${failures.length > 0 ? `<h2>Failed</h2>\n${table(failures)}` : ''}
${timeline(report.timeline)}
<h2>Jobs</h2>
${table(rows)}
</body>
</html>
`;
}

function devicesText(rows: readonly ReportRow[]): string {
  const names = [...new Set(rows.flatMap(({ device }) => (device ? [deviceName(device.name)] : [])))];
  if (names.length === 0) return '';
  return `<p>${names.length === 1 ? 'Device' : 'Devices'}: ${escapeMarkup(names.join(', '))}</p>`;
}

const HEADINGS = ['job', 'outcome', 'keys', 'seconds', 'algorithm', 'device', 'output or error'];

function table(rows: readonly ReportRow[]): string {
  const head = HEADINGS.map((heading) => `<th scope="col">${heading}</th>`).join('');
  return `<div class="table" tabindex="0" role="region" aria-label="Jobs"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${rows.map(line).join('\n')}
</tbody></table></div>`;
}

function line({ name, outcome, n, seconds, algorithm = '', device, out, error }: ReportRow): string {
  const number = (text: string | undefined): string => `<td class="number">${text ?? ''}</td>`;
  const what = error ? `${error.code}: ${error.message}` : out;
  const texts = [algorithm, device ? deviceName(device.name) : '', what]
    .map((text) => `<td>${escapeMarkup(text)}</td>`)
    .join('');
  return `<tr class="${outcome}"><td>${escapeMarkup(name)}</td><td>${outcome}</td>${number(n?.toLocaleString('en-US'))}${number(seconds?.toFixed(3))}${texts}</tr>`;
}

function timeline(tracks: readonly Track[]): string {
  if (tracks.length === 0) return '';
  const spans = tracks.flatMap(({ rows }) => rows.flat());
  const end = Math.max(
    1e-3,
    ...spans.slice(0, 1).map(endOf),
    spans.reduce((maxEnd, span) => Math.max(maxEnd, endOf(span)), 0),
  );
  const x = (seconds: number): number => LEFT + (seconds / end) * (WIDTH - LEFT - 10);
  let y = 20;
  const parts: string[] = [];
  let left = MAX_SPANS;
  for (const { name, rows } of tracks) {
    parts.push(
      `<text x="0" y="${y + 11}">${escapeMarkup(shorten(name))}<title>${escapeMarkup(name)}</title></text>`,
    );
    for (const row of rows) {
      const visible = row.slice(0, left);
      left -= visible.length;
      parts.push(...visible.map((span) => rectangle(span, x, y)));
      y += ROW;
    }
    y += GAP;
  }
  const ticks = ticksOf(end).map(
    (at) =>
      `<line class="line" x1="${x(at)}" x2="${x(at)}" y1="16" y2="${y}"/><text x="${x(at)}" y="12" text-anchor="middle">${Number(at.toPrecision(6))} s</text>`,
  );
  const legend = KINDS.filter((kind) => spans.some((span) => span.kind === kind));
  return `<h2>Timeline</h2>
<p>The phases of each job, followed by the activity of the devices, the transfers and the disk. Concurrent work is drawn in
separate rows.</p>
${bound(tracks)}
${threadsOf(spans)}
<p class="legend">${legend.map((kind) => `<span><i style="background:${COLOURS[kind]}"></i>${kind}</span>`).join('')}</p>
<figure><svg viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="Timeline">${ticks.join('')}${parts.join('\n')}</svg>
${left === 0 ? `<figcaption>Only the first ${MAX_SPANS} intervals are drawn.</figcaption>` : ''}</figure>`;
}

/** Returns a list of tracks by share of busy time; the bottleneck is busy for nearly all of it. */
function bound(tracks: readonly Track[]): string {
  const busy = tracks.flatMap(({ name, busy: part }) => (part === undefined ? [] : [{ name, part }]));
  const parts = busy
    .toSorted((a, b) => b.part - a.part)
    .map(({ name, part }) => {
      const percent = Math.round(100 * part);
      return `<li><meter min="0" max="100" value="${percent}">${percent} %</meter> ${percent} % ${escapeMarkup(name)}</li>`;
    });
  return `<p>Share of the time from the first read to the end:</p>\n<ul class="busy">${parts.join('')}</ul>`;
}

const THREAD_ACTIVITIES: Readonly<Record<keyof ThreadSeconds, string>> = {
  file: 'reading and writing',
  hash: 'checksums',
  turn: 'waiting for other threads',
  device: 'using or waiting for the device',
};

/** Returns a summary of the time that transfer threads spent, if any. */
function threadsOf(spans: readonly Span[]): string {
  const doings = Object.keys(THREAD_ACTIVITIES) as (keyof ThreadSeconds)[];
  // The spans of a job also appear in the row of the disk.
  const moves = new Set(spans.flatMap(({ threads }) => threads ?? []));
  const seconds = (doing: keyof ThreadSeconds): number =>
    [...moves].reduce((sum, threads) => sum + threads[doing], 0);
  const all = doings.reduce((sum, doing) => sum + seconds(doing), 0);
  if (all === 0) return '';
  const parts = doings.map(
    (doing) => `${THREAD_ACTIVITIES[doing]} ${Math.round((100 * seconds(doing)) / all)} %`,
  );
  return `<p>File threads spent ${all.toFixed(2)} s in total: ${parts.join(', ')}.</p>`;
}

const endOf = ({ begin, seconds }: Span): number => begin + seconds;

const shorten = (name: string): string => (name.length > 34 ? `${name.slice(0, 33)}…` : name);

const rectangle = ({ kind, job, begin, seconds }: Span, x: (at: number) => number, y: number): string =>
  `<rect x="${x(begin).toFixed(2)}" y="${y}" width="${Math.max(0.5, x(begin + seconds) - x(begin)).toFixed(2)}" height="${ROW - 2}" fill="${COLOURS[kind]}"><title>${escapeMarkup(job)}: ${kind}, ${(seconds * 1000).toFixed(1)} ms</title></rect>`;

/** Returns round tick positions up to the end. */
function ticksOf(end: number): number[] {
  const rough = end / 8;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= rough) ?? rough;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
}
