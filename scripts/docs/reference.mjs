#!/usr/bin/env node
// Writes docs/reference: the pages generated from types, docstrings and the command's specification.
//
//   node scripts/docs/reference.mjs
//
// Needs `npm run build` and the installed packages of docs/; `npm run docs` does both.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { commandPage } from './command-page.mjs';
import { errorsPage } from './errors-page.mjs';
import { functionsPage } from './functions-page.mjs';
import { optionsPage } from './options-page.mjs';
import { fenceExamples, nameModules, openclModules, writeApiPages } from './typedoc.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const reference = join(root, 'docs', 'reference');
const compiled = (path) => import(pathToFileURL(join(root, 'dist/src', path)));

const OVERVIEW = `# Reference

- [Options](./options.md): every option of every function, with default, unit, errors, and since when.
- [Errors](./errors.md): every code, and what to do.
- [The command](./command.md): every verb and option, exit codes, variables.
- [Functions of OpenCL](./functions.md): the binding beside the C API and node-opencl.
- [clsort](./clsort/index.md): functions, classes and types of the library.
- [clsort/opencl](./opencl/index.md): functions, handles and constants of the binding.

These pages are made of the types and their docstrings, of the checks of options, and of what \`--help\` is made of. What is there has been
since 0.1.0 unless a page says otherwise.
`;

/**
 * Writes the reference.
 *
 * @throws Error for an option without a docstring or a default, and for an error without a remedy
 */
export async function writeReference() {
  rmSync(reference, { recursive: true, force: true });
  mkdirSync(reference, { recursive: true });
  const api = writeApiPages(reference);
  fenceExamples(reference);
  nameModules(join(reference, 'opencl'));
  const [commands, candidates, help, exits, manual, options, library, opencl] = await Promise.all(
    [
      ...['cli/specs.js', 'cli/completion/candidates.js', 'cli/help.js', 'cli/exit-code.js', 'cli/man.js'],
      ...['sort/model/parse-options.js', 'index.js', 'opencl/index.js'],
    ].map(compiled),
  );
  const pages = { index: OVERVIEW };
  const ofOptions = optionsPage(api, options.expectedOf);
  const isError = (value) => value instanceof opencl.OpenCLError;
  const openclErrors = Object.entries(opencl).flatMap(([name, value]) =>
    isError(value) ? [{ name, code: value.code }] : [],
  );
  const ofErrors = errorsPage(join(root, 'src/util/errors.ts'), exits.exitCodeOf, library, openclErrors);
  const missing = [...ofOptions.missing, ...ofErrors.missing];
  if (missing.length > 0) throw new Error(`the reference has gaps:\n${missing.join('\n')}`);
  pages.options = ofOptions.page;
  pages.errors = ofErrors.page;
  pages.command = await commandPage({
    specs: await commands.allSpecs(),
    candidates,
    help: help.helpText,
    exitCodes: exits.EXIT_CODES,
    variables: manual.VARIABLES,
  });
  const nodeOpencl = JSON.parse(readFileSync(new URL('node-opencl.json', import.meta.url), 'utf8'));
  pages.functions = functionsPage({ root, modules: openclModules(), nodeOpencl });
  for (const [name, page] of Object.entries(pages)) writeFileSync(join(reference, `${name}.md`), page);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeReference();
