#!/usr/bin/env node
// Bundles the compiled modules of dist/src into a few files: finding and reading hundreds of modules takes Node longer
// than a small sort.
//
//   dist/bin/clsort.js   the command
//   dist/lib             the library, and the programs of child processes, by their paths in src
//
// Modules loaded on demand stay separate chunks. npm packs the bundles; of dist/src it packs the types only.
//
//   node scripts/bundle.mjs        (part of `npm run build`)

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

/** Bundles modules of dist/src into a folder of dist. */
function bundle(folder, entryPoints) {
  const outdir = join(dist, folder);
  rmSync(outdir, { recursive: true, force: true });
  buildSync({
    absWorkingDir: join(dist, 'src'),
    entryPoints,
    outbase: join(dist, 'src'),
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
}

bundle('bin', { clsort: './cli/main.js' });
bundle('lib', [
  './index.js',
  './opencl/index.js',
  './io/formats/subprocess/child.js',
  './batch/worker.js',
  './sort/backend/first-build-child.js',
  './bench/first-process.js',
]);
