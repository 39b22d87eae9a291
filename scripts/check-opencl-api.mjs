#!/usr/bin/env node
// Compares the functions of the Khronos header with the exports of the addon and the types of clsort/opencl. Fails on
// any gap without a reason in opencl-functions.mjs. Needs `npm run build` and the addon.
//
//   node scripts/check-opencl-api.mjs [folder with cl.h]

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADDED, camelCase, EXTENSIONS, INTERNAL, LEFT_OUT } from './opencl-functions.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const header = readFileSync(join(process.argv[2] ?? '/usr/include/CL', 'cl.h'), 'utf8');
const functions = [...header.matchAll(/CL_API_CALL\s+(cl\w+)\s*\(/g)].map(([, name]) => name);
const wanted = functions.filter((name) => !(name in LEFT_OUT)).map(camelCase);

const addon = createRequire(import.meta.url)(
  process.env.CLSORT_ADDON ?? join(root, 'build/Release/clsort.node'),
);
const exported = Object.keys(addon).filter((name) => /^[a-z]|^SVM/.test(name));

const types = join(root, 'dist/src/opencl');
const index = readFileSync(join(types, 'index.d.ts'), 'utf8');
const declared = [...index.matchAll(/export \* from '\.\/([\w-]+)\.js'/g)].flatMap(([, file]) => {
  const text = readFileSync(join(types, `${file}.d.ts`), 'utf8');
  return [...text.matchAll(/(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?export declare function (\w+)/g)].map(
    ([, doc, name]) => ({ name, documented: doc !== undefined }),
  );
});
const typed = declared.map(({ name }) => name);

const problems = [
  ...(functions.length < 100
    ? [`only ${functions.length} functions found in cl.h: is it the right one?`]
    : []),
  ...Object.keys(LEFT_OUT)
    .filter((name) => !functions.includes(name))
    .map((name) => `${name} is left out, but cl.h has no such function`),
  ...wanted.filter((name) => !exported.includes(name)).map((name) => `the addon does not export ${name}`),
  ...wanted.filter((name) => !typed.includes(name)).map((name) => `the types lack ${name}`),
  ...EXTENSIONS.filter((name) => !exported.includes(name) || !typed.includes(name)).map(
    (name) => `${name} is not exported, or not typed`,
  ),
  ...exported
    .filter((name) => ![...wanted, ...ADDED, ...EXTENSIONS, ...INTERNAL].includes(name))
    .map((name) => `the addon exports ${name}, which nothing explains`),
  ...typed
    .filter((name) => ![...wanted, ...ADDED, ...EXTENSIONS].includes(name))
    .map((name) => `the types have ${name}, which nothing explains`),
  ...declared.filter(({ documented }) => !documented).map(({ name }) => `${name} has no docstring`),
];
for (const problem of problems) console.error(problem);
console.log(
  `${functions.length} functions in cl.h, ${Object.keys(LEFT_OUT).length} left out, ${ADDED.length} added, ${problems.length} problems`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
