import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function findRoot(from: string): string {
  if (existsSync(join(from, 'package.json'))) return from;
  const parent = dirname(from);
  if (parent === from) throw new Error('clsort is not inside its package: no package.json above it');
  return findRoot(parent);
}

/** The folder that holds package.json and cl/, for compiled and installed code alike. */
export const packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)));
