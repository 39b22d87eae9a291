// Checks the spelling of the site's written pages, of pages outside the site, and of docstrings in the reference.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { docs, writtenPages } from './pages.mjs';

/** Other pages, as globs below docs/. */
const OTHERS = [
  '../README.md',
  '../CHANGELOG.md',
  '../CONTRIBUTING.md',
  'contributing/*.md',
  '../.github/**/*.md',
  'reference/*.md',
  'reference/clsort/**/*.md',
];

export function check() {
  const cspell = join(docs, 'node_modules/cspell/bin.mjs');
  const options = [
    '--config',
    'cspell.json',
    '--no-progress',
    '--no-summary',
    '--no-gitignore',
    '--dot',
    '--no-color',
  ];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [cspell, 'lint', ...options, ...writtenPages(), ...OTHERS],
    {
      cwd: docs,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    },
  );
  const problems = stdout.split('\n').filter((line) => line.includes('Unknown word'));
  if (status !== 0 && problems.length === 0) problems.push(`cspell ended with ${status}\n${stderr}`);
  return { summary: 'words that no dictionary has go into docs/words.txt if they are right', problems };
}
