/** Draws line plots as SVG: x in powers of two, y in powers of ten or as a share. */

/** A measured point; `low` and `high` are the ends of its error bar. */
export interface PlotPoint {
  readonly x: number;
  readonly y: number;
  readonly low?: number;
  readonly high?: number;
}

export interface PlotLine {
  readonly name: string;
  readonly points: readonly PlotPoint[];
}

export interface Plot {
  readonly title: string;
  /** Device, driver and date. */
  readonly subtitle?: string;
  /** Label of the horizontal axis: a plural noun. */
  readonly x: string;
  /** Label of the vertical axis. */
  readonly y: string;
  /** `log`: powers of ten; `share`: from 0 to 100 %, or higher when a value exceeds that. */
  readonly scale: 'log' | 'share';
  readonly lines: readonly PlotLine[];
}

/** Narrow enough for a phone. */
const WIDTH = 440;
const LEFT = 50;
const HEIGHT = 230;
const AXIS = 46;
/** Maximum number of lines of a panel: one for each colour. */
const MAX_PANEL_LINES = 7;
/** Height of a line of text. */
const LINE = 16;
/** Width of a character, on average. */
const CHARACTER = 7.8;
/** Space between the end of a line and its label. */
const LEADER = 20;
/** Maximum number of characters in a line of a label and of a title. */
const [LABEL_CHARACTERS, TITLE_CHARACTERS] = [19, 54] as const;

/** Colour-blind safe palette of Okabe and Ito (2008), for light and for dark pages; dashes distinguish further lines. */
const COLOURS = [
  ['#0072b2', '#4db2ee'],
  ['#d55e00', '#f07d1f'],
  ['#009e73', '#1fc197'],
  ['#b55590', '#dd92bd'],
  ['#2f94cf', '#9ad4f5'],
  ['#b87f00', '#e9b43c'],
  ['#707070', '#a8a8a8'],
] as const;
const DASHES = ['', '7 4', '2 4'] as const;

/** A colour for light and for dark pages. Programs without `light-dark()` use the light one. */
const themed = (property: string, light: string, dark: string): string =>
  `${property}:${light};${property}:light-dark(${light},${dark})`;

/** Text is smaller where the plot is drawn larger than on a phone. */
const STYLE = [
  `.clsort-plot text{${themed('fill', '#222', '#e4e4e4')};font:13.5px system-ui,sans-serif}`,
  `.clsort-plot .grid{${themed('stroke', '#ddd', '#3c4048')}}`,
  `.clsort-plot .title{font-weight:600}`,
  `.clsort-plot polyline{fill:none;stroke:currentColor;stroke-width:2}`,
  `.clsort-plot .leader{stroke:currentColor;stroke-opacity:.5}`,
  `.clsort-plot .noise{stroke:currentColor}`,
  `.clsort-plot .point{fill:currentColor}`,
  ...COLOURS.map(([light, dark], i) => `.clsort-plot .c${i}{${themed('color', light, dark)}}`),
  '@media (min-width:480px){.clsort-plot text{font-size:12px}}',
].join('\n');
const GROUND = `.clsort-plot .ground{${themed('fill', '#fff', '#16181d')}}`;

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Maps the values of an axis to page coordinates, and lists its ticks. */
interface Axis {
  readonly at: (value: number) => number;
  readonly ticks: readonly (readonly [value: number, text: string])[];
}

const whole = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);

/** 65536 → `64 K` with base 1024, 1e9 → `1 G` with base 1000. */
export function prefixed(value: number, base: 1000 | 1024): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log(value) / Math.log(base) + 1e-9)));
  const digits = Number((value / base ** power).toPrecision(4));
  return `${digits}${['', ' K', ' M', ' G', ' T'][power]}`;
}

/** Maximum number of intervals of an axis: the labels of more would overlap. */
const MAX_TICKS = 5;

/** Returns an axis with the powers of a base that cover all values; every k-th power when there are many. */
function logAxis(values: readonly number[], base: 2 | 10, [start, end]: readonly [number, number]): Axis {
  const logs = values.map((value) => Math.log(value) / Math.log(base));
  const low = logs.length > 0 ? Math.floor(Math.min(...logs) + 1e-9) : 0;
  const high = Math.max(low + 1, logs.length > 0 ? Math.ceil(Math.max(...logs) - 1e-9) : 1);
  const step = Math.ceil((high - low) / MAX_TICKS);
  return {
    at: (value) => start + ((Math.log(value) / Math.log(base) - low) / (high - low)) * (end - start),
    ticks: whole(low, high, step).map((power) => [
      base ** power,
      prefixed(base ** power, base === 2 ? 1024 : 1000),
    ]),
  };
}

/** Returns an axis from 0 to at least 100 %, with ticks every 20 %. */
function shareAxis(values: readonly number[], [start, end]: readonly [number, number]): Axis {
  const high = Math.max(1, Math.ceil(Math.max(0, ...values) * 5) / 5);
  return {
    at: (value) => start + (value / high) * (end - start),
    ticks: whole(0, high + 1e-9, 0.2).map((share) => [share, `${Math.round(share * 100)} %`]),
  };
}

const px = (value: number): string => String(Number(value.toFixed(1)));

/** Breaks a text into lines at spaces, underscores and hyphens. */
function wrap(text: string, length: number): string[] {
  const lines = [''];
  for (const part of text.match(/[^ _-]+[ _-]*/g) ?? [text]) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && (last + part).trimEnd().length > length) lines.push(part);
    else lines[lines.length - 1] = last + part;
  }
  return lines.map((line) => line.trimEnd());
}

const textLines = (x: number, y: number, lines: readonly string[], more = ''): string =>
  lines
    .map((words, i) => `<text x="${px(x)}" y="${px(y + i * LINE)}"${more}>${escapeXml(words)}</text>`)
    .join('');

interface Label {
  readonly lines: readonly string[];
  /** Centre of the label, at first next to the end of its line. */
  y: number;
}

/** Moves labels apart that would overlap, and into the range from `top` to `bottom`. */
function spreadLabels(labels: readonly Label[], top: number, bottom: number): void {
  const sorted = labels.toSorted((a, b) => a.y - b.y);
  const half = ({ lines }: Label): number => (lines.length * LINE) / 2;
  let next = top;
  for (const label of sorted) {
    label.y = Math.max(label.y, next + half(label));
    next = label.y + half(label);
  }
  next = bottom;
  for (const label of sorted.toReversed()) {
    label.y = Math.min(label.y, next - half(label));
    next = label.y - half(label);
  }
}

interface Drawing {
  readonly svg: string;
  readonly height: number;
}

/** Draws a plot, with a tooltip for each point if a page shows them. */
function draw({ title, subtitle, x, y, scale, lines }: Plot, id: string, hasTooltips: boolean): Drawing {
  const points = lines.flatMap((line) => line.points);
  const titles = wrap(title, TITLE_CHARACTERS);
  const subtitles = subtitle === undefined ? [] : wrap(subtitle, TITLE_CHARACTERS + 8);
  const top = 18 + LINE * (titles.length + subtitles.length) + 14;
  const labels = lines.map(({ name }): Label => ({ lines: wrap(name, LABEL_CHARACTERS), y: 0 }));
  const labelsHeight = labels.reduce((sum, label) => sum + label.lines.length * LINE, 0);
  const bottom = top + Math.max(HEIGHT, labelsHeight);
  const widest = Math.max(0, ...labels.flatMap((label) => label.lines.map(({ length }) => length)));
  const right = WIDTH - 4 - LEADER - widest * CHARACTER;
  const xs = logAxis(
    points.map((point) => point.x),
    2,
    [LEFT + 6, right - 6],
  );
  const values = points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y]);
  const ys = scale === 'log' ? logAxis(values, 10, [bottom, top]) : shareAxis(values, [bottom, top]);
  const rule = (a: number, b: number, c: number, d: number): string =>
    `<line class="grid" x1="${px(a)}" y1="${px(b)}" x2="${px(c)}" y2="${px(d)}"/>`;
  const hasPrefix = xs.ticks.some(([value]) => value >= 1024);

  const grid = [
    ...xs.ticks.flatMap(([value, words]) => [
      rule(xs.at(value), top, xs.at(value), bottom),
      textLines(xs.at(value), bottom + 18, [words], ' text-anchor="middle"'),
    ]),
    ...ys.ticks.flatMap(([value, words]) => [
      rule(LEFT, ys.at(value), right, ys.at(value)),
      textLines(LEFT - 7, ys.at(value) + 4, [words], ' text-anchor="end"'),
    ]),
    textLines(
      (LEFT + right) / 2,
      bottom + 36,
      [`${x}${hasPrefix ? ' (1 K = 1024)' : ''}`],
      ' text-anchor="middle"',
    ),
    textLines(8, top - 12, [y]),
  ];
  const sorted = lines.map((line) => line.points.toSorted((a, b) => a.x - b.x));
  for (const [i, label] of labels.entries()) label.y = ys.at(sorted[i]?.at(-1)?.y ?? 1);
  spreadLabels(labels, top - LINE / 2, bottom + LINE / 2);
  const drawn = lines.map((line, i) => {
    const own = sorted[i] ?? [];
    const dash = DASHES[Math.floor(i / COLOURS.length) % DASHES.length];
    const places = own.map((point) => `${px(xs.at(point.x))},${px(ys.at(point.y))}`);
    const bars = own.flatMap(({ x: at, low, high }) =>
      low === undefined || high === undefined
        ? []
        : [`<path class="noise" d="M${px(xs.at(at))} ${px(ys.at(low))}V${px(ys.at(high))}"/>`],
    );
    const dots = own.map((point) => {
      const tooltip = `${line.name}: ${point.x.toLocaleString('en-US')} ${x}, ${amountText(point.y, scale, y)}`;
      const circle = `<circle class="point" cx="${px(xs.at(point.x))}" cy="${px(ys.at(point.y))}" r="3"`;
      return hasTooltips ? `${circle}><title>${escapeXml(tooltip)}</title></circle>` : `${circle}/>`;
    });
    const label = labels[i] as Label;
    const from = own.at(-1);
    const leader = from
      ? `<path class="leader" d="M${px(xs.at(from.x) + 4)} ${px(ys.at(from.y))}L${px(right + LEADER - 4)} ${px(label.y)}"/>`
      : '';
    const middle = label.y + 4 - ((label.lines.length - 1) * LINE) / 2;
    return `<g data-line="${escapeXml(line.name)}" class="c${i % COLOURS.length}">${[
      `<polyline points="${places.join(' ')}"${dash ? ` stroke-dasharray="${dash}"` : ''}/>`,
      ...bars,
      ...dots,
      leader,
      textLines(right + LEADER, middle, label.lines),
    ].join('')}</g>`;
  });
  const svg = [
    `<title id="${id}">${escapeXml(title)}</title>`,
    textLines(8, 20, titles, ' class="title"'),
    textLines(8, 20 + LINE * titles.length, subtitles),
    ...grid,
    ...drawn,
  ].join('\n');
  return { svg, height: bottom + AXIS };
}

function amountText(value: number, scale: Plot['scale'], unit: string): string {
  if (scale === 'share') return `${(value * 100).toFixed(1)} %`;
  return `${prefixed(value, 1000)} ${unit}`;
}

/**
 * Draws the plot as an SVG element of a page, light or dark like the page.
 *
 * @param id distinguishes its title from those of other plots on the page
 */
export function plotSvg(plot: Plot, id: string): string {
  const { svg, height } = draw(plot, id, true);
  return [
    `<svg class="clsort-plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}">`,
    `<style>${STYLE}</style>`,
    svg,
    '</svg>',
  ].join('\n');
}

/** Splits a plot of many lines into panels with about as many lines each, in the order of the lines. */
export function panelsOf(plot: Plot): Plot[] {
  const { lines, title } = plot;
  const count = Math.ceil(lines.length / MAX_PANEL_LINES);
  if (count <= 1) return [plot];
  return Array.from({ length: count }, (_, i) => ({
    ...plot,
    title: `${title}, ${i + 1} of ${count}`,
    lines: lines.slice(Math.ceil((i * lines.length) / count), Math.ceil(((i + 1) * lines.length) / count)),
  }));
}

/** Returns several plots, stacked, as an SVG file, light or dark like the page that contains it. */
export function plotsFile(plots: readonly Plot[]): string {
  let top = 0;
  const placed = plots.map((plot, i) => {
    const { svg, height } = draw(plot, `title-${i}`, false);
    const group = `<g transform="translate(0 ${top})">\n${svg}\n</g>`;
    top += height;
    return group;
  });
  return [
    `<svg class="clsort-plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" role="img" aria-labelledby="${plots.map((_, i) => `title-${i}`).join(' ')}" style="color-scheme:light dark">`,
    `<style>${STYLE}\n${GROUND}</style>`,
    '<rect class="ground" width="100%" height="100%" rx="6"/>',
    ...placed,
    '</svg>\n',
  ].join('\n');
}

/** Returns the plot as an SVG file. */
export const plotFile = (plot: Plot): string => plotsFile([plot]);
