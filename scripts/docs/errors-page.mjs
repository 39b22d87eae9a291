// Generates the page of errors by code, from the docstrings of src/util/errors.ts and the exit codes of the command.

import { readFileSync } from 'node:fs';
import { cell, code, table } from './markdown.mjs';

/** Parses the error classes with their codes, docstrings and remedies from the source. */
export function errorsOf(source) {
  const classes = [
    ...source.matchAll(
      /((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?)export class (\w+) extends ClsortError \{[^}]*?super\('(ERR_CLSORT_\w+)'/g,
    ),
  ];
  return classes.map(([, comment, name, id]) => {
    const text = comment
      .replaceAll(/^\s*\/?\*+\/?/gm, '')
      .replace(/\*\/\s*$/, '')
      .replaceAll(/\s+/g, ' ')
      .trim();
    const [what, todo] = text.split('@remarks').map((part) => part.trim());
    return { name, id, what, todo };
  });
}

/**
 * Returns the page.
 *
 * @param file src/util/errors.ts
 * @param exitCodeOf returns the exit code of the command for an error
 * @param classes constructors by name
 */
export function errorsPage(file, exitCodeOf, classes, openclErrors) {
  const errors = errorsOf(readFileSync(file, 'utf8'));
  const missing = errors
    .filter(({ what, todo }) => !what || !todo)
    .map(({ name }) => `${name} does not say what to do (@remarks)`);
  const sections = errors.map(({ name, id, what, todo }) => {
    const exit = id === 'ERR_CLSORT_CACHE' ? 'none: a warning' : String(exitCodeOf(new classes[name]('')));
    return `## ${id}\n\n\`${name}\`. ${cell(what)}\n\n**What to do.** ${cell(todo)}\n\nExit code of the command: ${exit}.\n`;
  });
  const opencl = openclErrors.map(({ name, code: number }) => [code(name), String(number)]);
  const page = `# Errors

Every error that clsort throws on purpose is a \`ClsortError\` with a \`code\` that stays the same, a message that says what happened, what was
got and expected and what to do, \`details\` for programs, and the \`cause\` where another error led to it. Warnings are errors that go to
\`onWarning\` instead.

${table(
  ['code', 'class', 'what it says'],
  errors.map(({ name, id, what }) => [
    `[${id}](#${id.toLowerCase().replaceAll('_', '-')})`,
    code(name),
    cell(what),
  ]),
)}
${sections.join('\n')}
## ERR_CLSORT_INTERNAL

No class: the code in journals and records of batches and of sorts over many machines for an error that is none of the above.

**What to do.** It is a defect of clsort: report it with the message and its stack.

## Errors of clsort/opencl

The binding throws \`OpenCLError\`: \`code\` is the status of OpenCL, \`name\` its name, \`call\` the C function, \`reason\` what was wrong with which
argument, and \`log\` what the compiler said. What each one means for a call stands with the call in the
[specification](https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html); \`reason\` says it in words where
the binding found it before the driver did. Their numbers:

${table(['name', 'status'], opencl)}`;
  return { page, missing };
}
