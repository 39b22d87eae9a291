#!/usr/bin/env node
// Bundles the compiled modules of dist/src into a few files: finding and reading hundreds of modules takes Node longer
// than a small sort.
//
//   dist/bin/clsort.js   the command
//   dist/lib             the library, and the programs of child processes, by their paths in src
//
//   dist/types           the declarations of types that the library's modules export, and those that they import
//
// Modules loaded on demand stay separate chunks. npm packs these folders, and nothing of dist/src.
//
//   node scripts/bundle.mjs        (part of `npm run build`)

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** Copies declarations of types to dist/types, with all that they import. */
function copyTypes(entryPoints) {
  rmSync(join(dist, 'types'), { recursive: true, force: true });
  const paths = new Set(entryPoints);
  for (const path of paths) {
    const declarations = readFileSync(join(dist, 'src', path), 'utf8');
    const copy = join(dist, 'types', path);
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, declarations);
    for (const [, module] of declarations.matchAll(/(?:from|import|import\()\s*'(\.[^']+)\.js'/g))
      paths.add(join(dirname(path), `${module}.d.ts`));
  }
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
copyTypes(['index.d.ts', 'opencl/index.d.ts']);
