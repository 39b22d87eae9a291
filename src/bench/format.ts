import type { SortBench, SortRow } from './sorts.js';

const COLUMNS: readonly (readonly [heading: string, cell: (row: SortRow) => string | number])[] = [
  ['algorithm', (row) => row.algorithm],
  ['dtype', (row) => row.dtype],
  ['mode', (row) => row.mode],
  ['distribution', (row) => row.distribution],
  ['keys', (row) => row.n],
  ['result', (row) => row.result],
  ['kernel ms', (row) => milliseconds(row.kernel?.median)],
  ['± ms', (row) => milliseconds(row.kernel?.mad)],
  ['end to end ms', (row) => milliseconds(row.endToEnd?.median)],
  ['± ms', (row) => milliseconds(row.endToEnd?.mad)],
  ['Mkeys/s', (row) => (row.keysPerSecond === undefined ? '' : (row.keysPerSecond / 1e6).toFixed(1))],
  ['GB/s', (row) => (row.bytesPerSecond === undefined ? '' : (row.bytesPerSecond / 1e9).toFixed(2))],
  ['% of copy', (row) => (row.copyShare === undefined ? '' : (row.copyShare * 100).toFixed(1))],
  ['reason', (row) => row.reason ?? ''],
];

const milliseconds = (seconds?: number): string => (seconds === undefined ? '' : (seconds * 1e3).toFixed(3));

export const HEADINGS: readonly string[] = COLUMNS.map(([heading]) => heading);

export const cells = (row: SortRow): string[] => COLUMNS.map(([, cell]) => String(cell(row)));

/** RFC 4180. */
export function csv({ rows }: SortBench): string {
  const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return [HEADINGS, ...rows.map(cells)].map((line) => line.map(quoted).join(',')).join('\n');
}

export function markdown({ rows, device, driver, date }: SortBench): string {
  const line = (texts: readonly string[]): string =>
    `| ${texts.map((text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  const table = [line(HEADINGS), line(HEADINGS.map(() => '---')), ...rows.map((row) => line(cells(row)))];
  return `${device}, driver ${driver}, ${date}\n\n${table.join('\n')}`;
}

const SIZE = { width: 720, height: 420, left: 70, right: 190, top: 40, bottom: 50 } as const;
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#000000'] as const;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Keys per second over the number of keys, both axes logarithmic; one line for each kind of sort. */
export function svg({ rows, device, driver, date }: SortBench): string {
  const points = rows.flatMap((row) =>
    row.result === 'ok' && row.keysPerSecond && row.n > 0
      ? [
          {
            line: `${row.algorithm} ${row.dtype} ${row.mode} ${row.distribution}`,
            x: row.n,
            y: row.keysPerSecond,
          },
        ]
      : [],
  );
  const { width, height, left, right, top, bottom } = SIZE;
  const range = (values: readonly number[], base: number): [number, number] => {
    const logs = values.map((value) => Math.log(value) / Math.log(base));
    const low = Math.floor(Math.min(...logs));
    return points.length === 0 ? [0, 1] : [low, Math.max(Math.ceil(Math.max(...logs)), low + 1)];
  };
  const [x0, x1] = range(
    points.map(({ x }) => x),
    2,
  );
  const [y0, y1] = range(
    points.map(({ y }) => y),
    10,
  );
  const atX = (power: number): number => left + ((power - x0) / (x1 - x0)) * (width - left - right);
  const atY = (power: number): number =>
    height - bottom - ((power - y0) / (y1 - y0)) * (height - top - bottom);
  const steps = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const text = (x: number, y: number, words: string, more = ''): string =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(words)}</text>`;
  const rule = (a: number, b: number, c: number, d: number): string =>
    `<line x1="${a.toFixed(1)}" y1="${b.toFixed(1)}" x2="${c.toFixed(1)}" y2="${d.toFixed(1)}" stroke="#ddd"/>`;
  const parts = [
    text(left, 20, `${device}, driver ${driver}, ${date}: keys/s over keys`),
    ...steps(x0, x1).flatMap((power) => [
      rule(atX(power), top, atX(power), height - bottom),
      text(atX(power), height - bottom + 18, `2^${power}`, 'text-anchor="middle"'),
    ]),
    ...steps(y0, y1).flatMap((power) => [
      rule(left, atY(power), width - right, atY(power)),
      text(left - 6, atY(power) + 4, `10^${power}`, 'text-anchor="end"'),
    ]),
    ...[...new Set(points.map(({ line }) => line))].flatMap((name, i) => {
      const own = points.filter(({ line }) => line === name);
      const colour = COLOURS[i % COLOURS.length];
      const at = own
        .toSorted((a, b) => a.x - b.x)
        .map(({ x, y }) => [atX(Math.log2(x)).toFixed(1), atY(Math.log10(y)).toFixed(1)] as const);
      return [
        `<polyline points="${at.map((point) => point.join(',')).join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...at.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`),
        text(width - right + 12, top + 14 + i * 16, name, `fill="${colour}"`),
      ];
    }),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">\n<title>Keys per second over the number of keys</title>\n<rect width="100%" height="100%" fill="#fff"/>\n${parts.join('\n')}\n</svg>\n`;
}
