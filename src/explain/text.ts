import type { Explanation, Line } from './explanation.js';

/** Arrays below each other: one line each, columns aligned. */
function aligned(lines: readonly Line[]): string[] {
  const names = Math.max(...lines.map(({ name }) => name.length));
  // A line of one value, such as a mask, does not make the columns of the others wide.
  const columns = lines.filter(({ values }) => values.length > 1);
  const width = Math.max(0, ...columns.flatMap(({ values }) => values.map((value) => value.length)));
  return lines.map(({ name, values }) =>
    `  ${name.padEnd(names)}   ${values.map((value) => value.padStart(width)).join(' ')}`.trimEnd(),
  );
}

/** Arrays of very different widths (runs with bars, masks) keep their own width. */
const plain = (lines: readonly Line[]): string[] => {
  const names = Math.max(...lines.map(({ name }) => name.length));
  return lines.map(({ name, values }) => `  ${name.padEnd(names)}   ${values.join(' ')}`);
};

/** An explanation as text, for a terminal of any kind. */
export function explanationText({
  algorithm,
  device,
  dtype,
  descending,
  bits,
  keys,
  sorted,
  steps,
}: Explanation): string {
  const order = descending ? 'descending' : 'ascending';
  const out = [
    `${algorithm}: ${keys.length} ${dtype} keys, ${order}, by bits ${bits[0]} to ${bits[1]} (exclusive) of their codes, on ${device}`,
    '',
    ...plain([{ name: 'input', values: keys }]),
  ];
  for (const { title, kernels, lines } of steps) {
    const uneven = lines.some(({ values }) => values.includes('|'));
    out.push('', `${title}   [${kernels.join(', ')}]`, ...(uneven ? plain(lines) : aligned(lines)));
  }
  out.push('', ...plain([{ name: 'sorted', values: sorted }]));
  return out.join('\n');
}
