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
  readonly x: string;
  readonly y: string;
  /** `log`: powers of ten; `share`: from 0 to 100 %, or higher when a value exceeds that. */
  readonly scale: 'log' | 'share';
  readonly lines: readonly PlotLine[];
}

const WIDTH = 760;
const LEFT = 76;
const RIGHT = 20;
const TOP = 44;
const HEIGHT = 300;
const AXIS = 56;
const LEGEND_LINE = 20;

/** Colour-blind safe palette of Okabe and Ito (2008); dashes distinguish further lines. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#808080'] as const;
const DASHES = ['', '7 4', '2 4'] as const;

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Maps the values of an axis to page coordinates, and lists its ticks. */
interface Axis {
  readonly at: (value: number) => number;
  readonly ticks: readonly (readonly [value: number, text: string])[];
}

const whole = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);

/** Returns an axis with the powers of a base that cover all values; every k-th power when there are many. */
function logAxis(values: readonly number[], base: 2 | 10, [start, end]: readonly [number, number]): Axis {
  const logs = values.map((value) => Math.log(value) / Math.log(base));
  const low = logs.length > 0 ? Math.floor(Math.min(...logs) + 1e-9) : 0;
  const high = Math.max(low + 1, logs.length > 0 ? Math.ceil(Math.max(...logs) - 1e-9) : 1);
  const step = Math.ceil((high - low) / 12);
  return {
    at: (value) => start + ((Math.log(value) / Math.log(base) - low) / (high - low)) * (end - start),
    ticks: whole(low, high, step).map((power) => [base ** power, `${base}^${power}`]),
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

const px = (value: number): string => value.toFixed(1);

/**
 * Draws the plot as an SVG element. It uses the colour of the surrounding text, for light and dark pages.
 *
 * @param id distinguishes its title from those of other plots on the page
 */
export function plotSvg({ title, x, y, scale, lines }: Plot, id: string): string {
  const points = lines.flatMap((line) => line.points);
  const bottom = TOP + HEIGHT;
  const right = WIDTH - RIGHT;
  const height = bottom + AXIS + LEGEND_LINE * lines.length;
  const xs = logAxis(
    points.map((point) => point.x),
    2,
    [LEFT, right],
  );
  const values = points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y]);
  const ys = scale === 'log' ? logAxis(values, 10, [bottom, TOP]) : shareAxis(values, [bottom, TOP]);
  const text = (left: number, top: number, words: string, more = ''): string =>
    `<text x="${px(left)}" y="${px(top)}"${more}>${escapeXml(words)}</text>`;
  const rule = (a: number, b: number, c: number, d: number, more = ' stroke-opacity="0.2"'): string =>
    `<line x1="${px(a)}" y1="${px(b)}" x2="${px(c)}" y2="${px(d)}" stroke="currentColor"${more}/>`;

  const grid = [
    ...xs.ticks.flatMap(([value, words]) => [
      rule(xs.at(value), TOP, xs.at(value), bottom),
      text(xs.at(value), bottom + 18, words, ' text-anchor="middle"'),
    ]),
    ...ys.ticks.flatMap(([value, words]) => [
      rule(LEFT, ys.at(value), right, ys.at(value)),
      text(LEFT - 8, ys.at(value) + 4, words, ' text-anchor="end"'),
    ]),
    text((LEFT + right) / 2, bottom + 38, x, ' text-anchor="middle"'),
    text(LEFT, TOP - 10, y),
  ];
  const drawn = lines.map((line, i) => {
    const colour = COLOURS[i % COLOURS.length];
    const dash = DASHES[Math.floor(i / COLOURS.length) % DASHES.length];
    const stroke = `fill="none" stroke="${colour}" stroke-width="2"${dash ? ` stroke-dasharray="${dash}"` : ''}`;
    const own = line.points.toSorted((a, b) => a.x - b.x);
    const places = own.map((point) => `${px(xs.at(point.x))},${px(ys.at(point.y))}`);
    const bars = own.flatMap(({ x: at, low, high }) =>
      low === undefined || high === undefined
        ? []
        : [
            `<line class="noise" x1="${px(xs.at(at))}" y1="${px(ys.at(low))}" x2="${px(xs.at(at))}" y2="${px(ys.at(high))}" stroke="${colour}"/>`,
          ],
    );
    const dots = own.map(
      (point) =>
        `<circle class="point" cx="${px(xs.at(point.x))}" cy="${px(ys.at(point.y))}" r="3.5" fill="${colour}">` +
        `<title>${escapeXml(`${line.name}: ${point.x.toLocaleString('en-US')} keys, ${amountText(point.y, scale)}`)}</title></circle>`,
    );
    const top = bottom + AXIS + LEGEND_LINE * i;
    const legend = [
      `<line x1="${LEFT}" y1="${top}" x2="${LEFT + 28}" y2="${top}" ${stroke}/>`,
      text(LEFT + 36, top + 4, line.name),
    ];
    return `<g data-line="${escapeXml(line.name)}">${[`<polyline points="${places.join(' ')}" ${stroke}/>`, ...bars, ...dots, ...legend].join('')}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}" font-family="system-ui, sans-serif" font-size="13" fill="currentColor">`,
    `<title id="${id}">${escapeXml(title)}</title>`,
    text(LEFT, 18, title, ' font-weight="600"'),
    ...grid,
    ...drawn,
    '</svg>',
  ].join('\n');
}

const amountText = (value: number, scale: Plot['scale']): string =>
  scale === 'share' ? `${(value * 100).toFixed(1)} %` : `${value.toPrecision(4)} a second`;

/** Returns the plot as an SVG file with a white background. */
export function plotFile(plot: Plot): string {
  const svg = plotSvg(plot, 'title');
  return `${svg.replace(' fill="currentColor">', ' fill="#222" color="#222">').replace('</title>', '</title>\n<rect width="100%" height="100%" fill="#fff"/>')}\n`;
}

/** Returns several plots, stacked, as an SVG file. */
export function plotsFile(plots: readonly Plot[]): string {
  let top = 0;
  const placed = plots.map((plot, i) => {
    const svg = plotSvg(plot, `title-${i}`);
    const height = Number(/viewBox="0 0 \d+ (\d+)"/.exec(svg)?.[1]);
    const at = top;
    top += height;
    return svg.replace('<svg ', `<svg y="${at}" width="${WIDTH}" height="${height}" `);
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" fill="#222" color="#222">\n` +
    `<rect width="100%" height="100%" fill="#fff"/>\n${placed.join('\n')}\n</svg>\n`
  );
}
