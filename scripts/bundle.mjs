#!/usr/bin/env node
// Bundles the compiled modules of dist/src into a few files: finding and reading hundreds of modules takes Node longer
// than a small sort.
//
//   dist/bin     the command clsort.js, with its verbs
//   dist/lib     the library, and the programs of child processes, by their paths in src
//   dist/types   the declarations of types that the library's modules export, and those that they import
//
// All that the command or the library imports at its start is one file; what is loaded on demand is in others. npm packs
// these folders, and nothing of dist/src.
//
//   node scripts/bundle.mjs        (part of `npm run build`)

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { rollup } from 'rollup';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

/** Smaller files are united where that is possible, in bytes: a small sort takes a tenth less time. */
const LEAST = 20_000;

const minify = {
  name: 'minify',
  // Names stay readable in stack traces.
  renderChunk: (code) =>
    transformSync(code, { minifyWhitespace: true, minifySyntax: true, target: 'node20.19', format: 'esm' }),
};

/** Returns a module and all modules that it imports, except those that it loads on demand. */
function withImports(start, { getModuleInfo }) {
  const modules = new Set([start]);
  for (const module of modules)
    for (const imported of getModuleInfo(module).importedIds) modules.add(imported);
  return modules;
}

/**
 * Bundles modules of dist/src into a folder of dist.
 *
 * @param main module whose imports become one file
 * @param entries paths of modules without extension, by the names of their bundles
 */
async function bundle(folder, main, entries) {
  const moduleOf = (path) => join(dist, 'src', `${path}.js`);
  const dir = join(dist, folder);
  rmSync(dir, { recursive: true, force: true });
  let together;
  const built = await rollup({
    input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, moduleOf(path)])),
    external: (id) => !/^[./]/.test(id),
    // TypeScript's helpers of 'using' ask for 'this'.
    onLog: (level, log, report) => level !== 'info' && log.code !== 'THIS_IS_UNDEFINED' && report(level, log),
  });
  await built.write({
    dir,
    entryFileNames: '[name].js',
    chunkFileNames: 'part-[hash].js',
    experimentalMinChunkSize: LEAST,
    hoistTransitiveImports: false,
    manualChunks(id, api) {
      together ??= withImports(moduleOf(main), api);
      return together.has(id) ? 'main' : undefined;
    },
    plugins: [minify],
  });
  await built.close();
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

// The command loads its verbs and their options by names that are computed.
const verbs = readdirSync(join(dist, 'src', 'cli', 'commands')).filter((name) => name.endsWith('.js'));
const parts = verbs.flatMap((name) =>
  ['commands', 'options'].map((folder) => `${folder}/${parse(name).name}`),
);
await bundle('bin', 'cli/main', {
  clsort: 'cli/main',
  ...Object.fromEntries(parts.map((path) => [path, `cli/${path}`])),
});
const programs = [
  'index',
  'opencl/index',
  'io/formats/subprocess/child',
  'batch/worker',
  'sort/backend/first-build-child',
  'bench/first-process',
];
await bundle('lib', 'index', Object.fromEntries(programs.map((name) => [name, name])));
copyTypes(['index.d.ts', 'opencl/index.d.ts']);
