#!/usr/bin/env node
// Bundles the compiled command, dist/src/cli/main.js, into a few files in dist/bin, which npm installs as `clsort`:
// finding and reading two hundred modules takes Node longer than a small sort. Modules loaded on demand stay separate
// chunks. Programs for child processes and worker threads stay in dist/src.
//
//   node scripts/bundle.mjs        (part of `npm run build`)

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const outdir = join(root, 'dist', 'bin');
rmSync(outdir, { recursive: true, force: true });
buildSync({
  entryPoints: { clsort: join(root, 'dist', 'src', 'cli', 'main.js') },
  outdir,
  chunkNames: 'part-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  // Names stay readable in stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
});
