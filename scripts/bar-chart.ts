/**
 * Draws horizontal bar charts as SVG, narrow enough for a phone, with the colours of the reader's light or dark theme.
 */

import { escapeXml } from '../src/bench/plot.js';

export interface Bar {
  readonly name: string;
  readonly value: number;
  /** Uses the first colour of the legend; other bars use the second. */
  readonly highlighted: boolean;
}

export interface Panel {
  readonly title: string;
  readonly subtitle: string;
  readonly bars: readonly Bar[];
}

export interface BarChart {
  readonly title: string;
  /** Label of the horizontal axes, with the unit. */
  readonly axis: string;
  /** Names of the highlighted and of the other bars. */
  readonly legend: readonly [highlighted: string, other: string];
  /** Panels, each with a separate axis. */
  readonly panels: readonly Panel[];
}

const WIDTH = 400;
const LEFT = 150;
const RIGHT = 344;
const HEADER = 58;
const ROW = 22;
const PANEL_TITLE = 46;
const PANEL_AXIS = 56;

/** A media query inside an image follows the theme of the reader's browser. */
const STYLE = `
.ground { fill: #fff } .text { fill: #222 } .grid { stroke: #ccc } .highlighted { fill: #0072b2 } .other { fill: #8c8c8c }
@media (prefers-color-scheme: dark) {
.ground { fill: #16181d } .text { fill: #e4e4e4 } .grid { stroke: #484c55 } .highlighted { fill: #56b4e9 } .other { fill: #8f949e }
}`;

const amount = (value: number): string =>
  value < 100 ? value.toPrecision(3) : Math.round(value).toLocaleString('en-US');

/** Returns a step of 1, 2 or 5 times a power of ten, such that at most five steps cover `max`. */
function stepUpTo(max: number): number {
  const power = 10 ** Math.floor(Math.log10(max / 5));
  return power * ([1, 2, 5, 10].find((factor) => max / (factor * power) <= 5) ?? 10);
}

const text = (x: number, y: number, words: string, more = ''): string =>
  `<text class="text" x="${x.toFixed(1)}" y="${y}"${more}>${escapeXml(words)}</text>`;

function panelSvg({ title, subtitle, bars }: Panel, axis: string, top: number): string {
  const max = Math.max(...bars.map(({ value }) => value));
  const step = stepUpTo(max);
  const at = (value: number): number => LEFT + (value / max) * (RIGHT - LEFT);
  const first = top + PANEL_TITLE;
  const bottom = first + ROW * bars.length;
  const ticks = Array.from({ length: Math.floor(max / step) + 1 }, (_, i) => i * step);
  return [
    text(8, top + 18, title, ' font-weight="600"'),
    text(8, top + 36, subtitle),
    ...ticks.map(
      (tick) =>
        `<line class="grid" x1="${at(tick).toFixed(1)}" y1="${first}" x2="${at(tick).toFixed(1)}" y2="${bottom}"/>` +
        text(at(tick), bottom + 16, tick.toLocaleString('en-US'), ' text-anchor="middle" font-size="12"'),
    ),
    ...bars.map(({ name, value, highlighted }, i) => {
      const y = first + ROW * i;
      return (
        text(LEFT - 6, y + 16, name, ' text-anchor="end"') +
        `<rect class="${highlighted ? 'highlighted' : 'other'}" x="${LEFT}" y="${y + 3}" width="${(at(value) - LEFT).toFixed(1)}" height="${ROW - 6}"/>` +
        text(at(value) + 5, y + 16, amount(value))
      );
    }),
    text((LEFT + RIGHT) / 2, bottom + 34, axis, ' text-anchor="middle" font-size="12"'),
  ].join('\n');
}

export function barChartFile({ title, axis, legend, panels }: BarChart): string {
  let top = HEADER;
  const drawn = panels.map((panel) => {
    const svg = panelSvg(panel, axis, top);
    top += PANEL_TITLE + ROW * panel.bars.length + PANEL_AXIS;
    return svg;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" role="img" aria-labelledby="title" font-family="system-ui, sans-serif" font-size="13">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<style>${STYLE}\n</style>`,
    '<rect class="ground" width="100%" height="100%" rx="6"/>',
    text(8, 20, title, ' font-weight="600"'),
    `<rect class="highlighted" x="8" y="33" width="12" height="12"/>${text(26, 44, legend[0])}`,
    `<rect class="other" x="88" y="33" width="12" height="12"/>${text(106, 44, legend[1])}`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}
