// The files outside the folder of an operation that name it: those that the addition of an operation touches. Users do
// not count: other operations, and files that import another part of the folder, such as a kernel.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

const FOLDER = 'sort/operations/';
const LIST = `${FOLDER}operations.ts`;

/** Returns the names that the files below a folder import or export from others. */
function namesOf(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.ts'));
  return files.flatMap((from) =>
    [...readFileSync(posix.join(folder, from), 'utf8').matchAll(/\{([^{}]*)\}\s*from\s*'(\.[^']+)'/g)].map(
      ([, names, path]) => ({
        from,
        to: posix.join(posix.dirname(from), path).replace(/\.js$/, '.ts'),
        names: names.split(',').map((name) => name.trim().replace(/^type /, '')),
      }),
    ),
  );
}

/**
 * Returns the operations of the list, each with the number of files in its folder, and the files outside that name its
 * method, its implementation, its default function or its cases.
 *
 * @param folder src
 */
export function operationsOf(folder) {
  if (!existsSync(posix.join(folder, LIST))) return [];
  const imports = namesOf(folder);
  return imports
    .filter(({ from }) => from === LIST)
    .flatMap(({ to, names }) => names.map((name) => ({ to, name })))
    .filter(({ name }) => /^run[A-Z]/.test(name))
    .map(({ to, name }) => {
      const own = `${posix.dirname(to)}/`;
      const method = name.slice('run'.length);
      const known = new Set([name, method, method.replace(/^./, (first) => first.toLowerCase())]);
      const outside = imports
        .filter(
          (one) =>
            one.to.startsWith(own) &&
            (`${posix.dirname(one.from)}/` === FOLDER || !one.from.startsWith(FOLDER)),
        )
        .filter((one) => one.to === `${own}cases.ts` || one.names.some((other) => known.has(other)))
        .map(({ from }) => from);
      return {
        operation: [...known].at(-1),
        folder: posix.basename(own),
        files: readdirSync(posix.join(folder, own)).length,
        outside: [...new Set(outside)].sort(),
      };
    });
}
