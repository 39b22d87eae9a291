// The hand-written files outside the folder of an operation that name it: those that the addition of an operation
// touches. Users do not count: other operations, and files that import another part of the folder, such as a kernel.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

const FOLDER = 'sort/operations/';
const LIST = `${FOLDER}operations.json`;
/** A comment in the first two lines of a file that a script writes. */
const GENERATED = /^\/\/ .*\bgenerated\b/im;

/** Returns whether a script wrote a file with this text. */
export const isGenerated = (text) => GENERATED.test(text.split('\n', 2).join('\n'));

/** Returns the names that the hand-written files below a folder import or export from others. */
function namesOf(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.ts'))
    .map((from) => ({ from, text: readFileSync(posix.join(folder, from), 'utf8') }))
    .filter(({ text }) => !isGenerated(text))
    .flatMap(({ from, text }) =>
      [...text.matchAll(/\{([^{}]*)\}\s*from\s*'(\.[^']+)'/g)].map(([, names, path]) => ({
        from,
        to: posix.join(posix.dirname(from), path).replace(/\.js$/, '.ts'),
        names: names.split(',').map((name) => name.trim().replace(/^type /, '')),
      })),
    );
}

/**
 * Returns the operations of the list, each with the number of files in its folder, and the files outside that name its
 * method, its implementation, its default function or its cases. The list is one of them.
 *
 * @param folder src
 */
export function operationsOf(folder) {
  if (!existsSync(posix.join(folder, LIST))) return [];
  const imports = namesOf(folder);
  return Object.entries(JSON.parse(readFileSync(posix.join(folder, LIST), 'utf8'))).flatMap(([own, names]) =>
    names
      .filter((name) => /^[a-z]/.test(name))
      .map((operation) => {
        const method = operation.replace(/^./, (first) => first.toUpperCase());
        const known = new Set([operation, method, `run${method}`]);
        const outside = imports
          .filter(({ to }) => to.startsWith(`${FOLDER}${own}/`))
          .filter(({ from }) => `${posix.dirname(from)}/` === FOLDER || !from.startsWith(FOLDER))
          .filter((one) => one.to.endsWith('/cases.ts') || one.names.some((name) => known.has(name)))
          .map(({ from }) => from);
        return {
          operation,
          folder: own,
          files: readdirSync(posix.join(folder, FOLDER, own)).length,
          outside: [...new Set([LIST, ...outside])].sort(),
        };
      }),
  );
}
