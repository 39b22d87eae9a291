#!/usr/bin/env node
// Puts the compiled command, dist/src/cli/main.js, together to a few files in dist/bin, which npm installs as `clsort`: Node
// takes longer to find and read two hundred modules than a small sort takes. What is loaded on demand stays apart. Programs
// that run in processes and threads of their own stay in dist/src.
//
//   node scripts/bundle.mjs        (`npm run build` does it)

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
  // Names stay, for who reads the stack of a defect.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
});
