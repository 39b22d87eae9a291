import { dtypeInfo } from '../keys/dtype.js';
import type { Cost } from './cost.js';
import type { Explanation, Line, Step } from './explanation.js';

const nameOf = ({ name, of }: Line): string => (of === undefined ? name : `${name} (${of})`);

/** Formats arrays as lines with aligned columns. */
function aligned(lines: readonly Line[]): string[] {
  const names = Math.max(...lines.map((one) => nameOf(one).length));
  // A line with a single value, such as a mask, does not affect the column width.
  const columns = lines.filter(({ values }) => values.length > 1);
  const width = Math.max(0, ...columns.flatMap(({ values }) => values.map((value) => value.length)));
  return lines.map((one) =>
    `  ${nameOf(one).padEnd(names)}   ${one.values.map((value) => value.padStart(width)).join(' ')}`.trimEnd(),
  );
}

/** Formats arrays of different widths (runs with bars, masks) without aligned columns. */
const plain = (lines: readonly Line[]): string[] => {
  const names = Math.max(...lines.map((one) => nameOf(one).length));
  return lines.map((one) => `  ${nameOf(one).padEnd(names)}   ${one.values.join(' ')}`);
};

/** Formats a time in ASCII. */
export function timeText(seconds: number): string {
  if (seconds < 1e-3) return `${(seconds * 1e6).toPrecision(3)} us`;
  return seconds < 1 ? `${(seconds * 1e3).toPrecision(3)} ms` : `${seconds.toPrecision(3)} s`;
}

/** Formats the cost of a step. */
function costText({ items, active, idle, divergent, banks, sectors, kernelSeconds }: Cost): string {
  const turns = banks.map(
    ({ banks: count, plain: own, padded }) =>
      `${count} banks: ${own} turn${own === 1 ? '' : 's'}, padded ${padded}`,
  );
  return [
    `work-items ${active} of ${items}, ${idle} idle${divergent > 0 ? `, ${divergent} rows divergent` : ''}`,
    ...turns,
    ...(sectors > 0 ? [`sectors ${sectors}`] : []),
    ...(kernelSeconds === null ? [] : [`kernel ${timeText(kernelSeconds)}`]),
  ].join('; ');
}

function stepText({ title, kernels, lines, note, grids = [], cost }: Step): string[] {
  const uneven = lines.some(({ values }) => values.includes('|') || values.includes('...'));
  const tables = grids.flatMap(({ name, columns, rows }) => {
    // Omit tables whose rows are already listed among the arrays.
    const listed = rows.every((row) => lines.some((one) => one.name === `${name}[${row.name}]`));
    return listed ? [] : ['', ...aligned([{ name, values: columns }, ...rows])];
  });
  return [
    '',
    `${title}   [${kernels.join(', ')}]`,
    ...(note ? [`  ${note}`] : []),
    ...(uneven ? plain(lines) : aligned(lines)),
    ...tables,
    `  ${costText(cost)}`,
  ];
}

/** Returns the name of the result. A sort by some bits names them, since its keys may look unsorted. */
export function resultName({ sorted, bits: [begin, end], dtype }: Explanation): string {
  if (!sorted) return 'result';
  return begin === 0 && end === dtypeInfo(dtype).width ? 'sorted' : `sorted by bits ${begin} to ${end}`;
}

/** Formats an explanation as plain text for any terminal. */
export function explanationText(explanation: Explanation): string {
  const { algorithm, step, device, dtype, descending, bits, n, keys, sorted, result, steps } = explanation;
  const form = step === null ? algorithm : `${algorithm} ${step}`;
  const order = sorted
    ? `, ${descending ? 'descending' : 'ascending'}, by bits ${bits[0]} to ${bits[1]} (exclusive) of their codes`
    : '';
  const more = n > keys.length ? ['...'] : [];
  const rest = sorted || result.length > 1 ? more : [];
  return [
    `${form}: ${n} ${dtype} keys${order}, on ${device}`,
    '',
    ...plain([{ name: 'input', values: [...keys, ...more] }]),
    ...steps.flatMap(stepText),
    '',
    ...plain([{ name: resultName(explanation), values: [...result, ...rest] }]),
  ].join('\n');
}
