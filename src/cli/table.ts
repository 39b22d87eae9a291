export type Align = 'left' | 'right';

/** Formats rows as lines of aligned columns. The first row is the heading. */
export function table(rows: readonly (readonly string[])[], align: readonly Align[] = []): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return align[column] === 'right' ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Formats an integer with separators, the same in every locale: 16777216 → 16,777,216. */
export const grouped = (n: number): string => n.toLocaleString('en-US');

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a size with a binary prefix: 25769803776 → 24.0 GiB. */
export function bytesText(bytes: number): string {
  const step = Math.min(bytes > 0 ? Math.floor(Math.log2(bytes) / 10) : 0, UNITS.length - 1);
  return `${(bytes / 1024 ** step).toFixed(step > 0 ? 1 : 0)} ${UNITS[step]}`;
}

/** Formats a time in seconds: 1.23 ms, 4.56 s. */
export const secondsText = (seconds: number): string =>
  seconds < 1 ? `${(seconds * 1000).toPrecision(3)} ms` : `${seconds.toPrecision(3)} s`;
