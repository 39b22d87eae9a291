// Generates the reference of the command from the same data as --help.

import { cell, code, table } from './markdown.mjs';

/** Columns of a code block that fit beside the outline. */
const COLUMNS = 66;

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/**
 * Returns the page.
 *
 * @param specs as in src/cli/specs.ts
 * @param candidates src/cli/completion/candidates.ts
 * @param help returns the help text of a command
 */
export async function commandPage({ specs, candidates, help, exitCodes, variables }) {
  const { formsOf, visibleOptions } = candidates;
  const sections = [];
  for (const spec of specs) {
    const rows = [
      ...spec.arguments.map((one) => [
        `<code>${escaped(one.variadic ? `${one.name}…` : one.name)}</code>`,
        one.required ? 'required' : '',
        cell(one.describe),
      ]),
      ...visibleOptions(spec)
        .filter(({ name }) => !['quiet', 'help', 'version'].includes(name))
        .map((option) => {
          const operand =
            option.type === 'boolean' ? '' : ` ${option.name.toUpperCase()}${option.array ? ' …' : ''}`;
          const { choices, required } = option;
          const fallback = required
            ? 'required'
            : option.default === undefined || option.default === false
              ? ''
              : code(option.default);
          const meaning = choices ? `${option.describe} (one of ${choices.join(', ')})` : option.describe;
          return [`${code(`${formsOf(option).join(', ')}${operand}`)}`, fallback, cell(meaning)];
        }),
    ];
    const examples = spec.examples.map(([line, what]) => `# ${what}\n${line.replaceAll('$0', 'clsort')}`);
    sections.push(
      [
        `## clsort ${spec.name}`,
        `${cell(spec.describe)}: ${code(`clsort ${spec.command}`)}`,
        rows.length > 0 ? table(['option', 'default', 'what it does'], rows) : 'No options.',
        ...(spec.epilogue ? [cell(spec.epilogue)] : []),
        ...(examples.length > 0 ? [`\`\`\`sh\n${examples.join('\n')}\n\`\`\``] : []),
      ].join('\n\n'),
    );
  }
  return `# The command

All verbs and options, as in \`clsort COMMAND --help=all\` and the manual page (\`clsort man\`, which npm installs as \`clsort(1)\`).
Every verb accepts \`-q\`, \`--quiet\` (no progress and no report; warnings and errors are still printed), \`-h\`, \`--help\` and \`-V\`, \`--version\`.

\`\`\`text
${(await help(undefined, COLUMNS)).trim()}
\`\`\`

## Exit codes

${table(
  ['code', 'meaning'],
  exitCodes.map(([number, meaning]) => [code(number), cell(meaning)]),
)}
## Settings and variables

An option that the command line does not give is taken from a variable (\`CLSORT_SORT_DEVICE=gpu\` is \`--device gpu\` of \`clsort sort\`), then from
\`~/.config/clsort/config.json\`, as \`{ "sort": { "device": "gpu" } }\`.

${table(
  ['variable', 'what it does'],
  variables.map(([name, what]) => [code(name), cell(what)]),
)}
${sections.join('\n\n')}
`;
}
