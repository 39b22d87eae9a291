// The folders inside the layers of src, imports that run upwards between them, and circles of files.
// Every import counts: also of types, which TypeScript erases, and `import()`, which loads a file on demand.

import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** The folders of a layer, from top to bottom. '.' stands for the files that are in no folder of the layer. */
export const FOLDERS = {
  io: [
    'api',
    'tables',
    ['merge', 'operations'],
    'file-sort',
    'external',
    'records',
    ['checks', 'lines'],
    'formats',
    'streams',
  ],
  sort: [
    'api',
    'multi-device',
    'operations',
    'calls',
    'backend',
    'transfer',
    'verification',
    'host',
    'cases',
    'model',
  ],
  device: ['.', 'queue', 'memory', 'programs', 'platform', 'vendors'],
};

/** Returns the imports of the TypeScript files below a folder, by paths from there. */
export function importsOf(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.ts'));
  return files.flatMap((from) =>
    [...readFileSync(posix.join(folder, from), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
      ([, path]) => ({ from, to: posix.join(posix.dirname(from), path).replace(/\.js$/, '.ts') }),
    ),
  );
}

/** Returns the folder of a file inside its layer, or '.'. */
const folderOf = (file) => (file.split('/').length > 2 ? file.split('/')[1] : '.');

/**
 * Returns the imports from a folder of a layer to one beside or above it.
 *
 * @throws Error for a folder that the order does not name
 */
export function upwardImports(imports, layer, order = FOLDERS[layer]) {
  const rankOf = (file) => {
    const rank = order.findIndex((names) => [names].flat().includes(folderOf(file)));
    if (rank < 0) throw new Error(`cannot rank ${file}: FOLDERS does not name its folder`);
    return rank;
  };
  return imports
    .filter(({ from, to }) => from.startsWith(`${layer}/`) && to.startsWith(`${layer}/`))
    .filter(({ from, to }) => rankOf(from) >= rankOf(to) && folderOf(from) !== folderOf(to));
}

/** Returns the circles: groups of files, each of which imports every other one, directly or through others. */
export function circlesIn(imports) {
  const next = new Map();
  for (const { from, to } of imports) next.set(from, [...(next.get(from) ?? []), to]);
  // The algorithm of Tarjan: `lowest` is the first visited file that a file reaches through files on the stack.
  const visited = new Map();
  const stack = [];
  const circles = [];
  const visit = (file) => {
    const index = visited.size;
    visited.set(file, index);
    stack.push(file);
    let lowest = index;
    for (const to of next.get(file) ?? []) {
      if (!visited.has(to)) lowest = Math.min(lowest, visit(to));
      else if (stack.includes(to)) lowest = Math.min(lowest, visited.get(to));
    }
    if (lowest === index) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1 || next.get(file)?.includes(file)) circles.push(group.toSorted());
    }
    return lowest;
  };
  for (const file of next.keys()) if (!visited.has(file)) visit(file);
  return circles;
}
