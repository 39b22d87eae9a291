#!/usr/bin/env node
// Measures the structure of src and compares it with limits:
//
//   node scripts/house.mjs [--check]
//
//   --check  fails when a measurement is above its limit in scripts/house.json
//
// Prints one row per measurement, and the number of files outside its folder that name each operation. When a
// measurement falls, lower its limit. Generated files do not count. How many files a call passes is not measured:
// imports contain shorter ways than calls take, and stacks leave out finished functions.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { circlesIn, FOLDERS, importsOf, upwardImports } from './house/imports.mjs';
import { isGenerated, operationsOf } from './house/operations.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Named constants whose value is a number or an expression of numbers, outside of functions. */
const CONSTANTS = {
  ts: /^(?:export )?const [A-Z][A-Z0-9_]*(?:: number)? = \(*-?\d[\w.\s*/+()-]*;/gm,
  cc: /^(?:static |inline )*constexpr [\w:]+ k[A-Z]\w* = \(*-?\d[\w.\s*/+()-]*;/gm,
};
/** Classes at the top level of a file, up to the brace in the first column that ends them. */
const CLASSES = /^(?:export )?(?:default )?(?:abstract )?(?:class|struct) (\w+)[^;]*?\{.*?^\}/gms;

const lineCount = (text) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

/** Returns the C++ and TypeScript files below a folder with their texts, without generated ones. */
function sourcesOf(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => /\.(?:ts|cc|h)$/.test(name))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
    .filter(({ text }) => !isGenerated(text));
}

const longest = (all) => all.toSorted((a, b) => b.lines - a.lines)[0] ?? { name: '', lines: 0 };

/**
 * Measures a tree.
 *
 * @param folder its src
 * @returns the rows of the table: key of the limit, what was measured, the value, and where it is
 */
export function measure(folder) {
  const sources = sourcesOf(folder);
  const imports = importsOf(folder);
  const upward = Object.keys(FOLDERS).flatMap((layer) => upwardImports(imports, layer));
  const circles = circlesIn(imports);
  const file = longest(sources.map(({ name, text }) => ({ name, lines: lineCount(text) })));
  const classes = sources.flatMap(({ text }) =>
    [...text.matchAll(CLASSES)].map(([all, name]) => ({ name, lines: lineCount(all) })),
  );
  const constants = sources.flatMap(
    ({ name, text }) => text.match(name.endsWith('.ts') ? CONSTANTS.ts : CONSTANTS.cc) ?? [],
  );
  const lines = sources.reduce((sum, { text }) => sum + lineCount(text), 0);
  const { name: className, lines: classLines } = longest(classes);
  const operations = operationsOf(folder).toSorted((a, b) => b.outside.length - a.outside.length);
  return [
    {
      key: 'upwardImports',
      what: 'imports that run upwards inside io, sort and device',
      value: upward.length,
      where: upward.map(({ from, to }) => `${from} → ${to}`).join(', '),
    },
    {
      key: 'circles',
      what: 'circles of files',
      value: circles.length,
      where: circles.map((group) => group.join(' ')).join('; '),
    },
    { key: 'lines', what: 'lines of src, TypeScript and C++', value: lines, where: '' },
    { key: 'longestFile', what: 'lines of the longest file', value: file.lines, where: file.name },
    { key: 'longestClass', what: 'lines of the longest class', value: classLines, where: className },
    { key: 'constants', what: 'named numeric constants', value: constants.length, where: '' },
    {
      key: 'operationFiles',
      what: 'most files outside its folder that name an operation',
      value: operations[0]?.outside.length ?? 0,
      where: operations[0]?.outside.join(' ') ?? '',
    },
  ];
}

/**
 * Returns the rows above their limits.
 *
 * @throws Error when a row has no limit
 */
export function excesses(rows, limits) {
  const missing = rows.find(({ key }) => typeof limits[key] !== 'number');
  if (missing) throw new Error(`cannot check the structure: scripts/house.json has no limit ${missing.key}`);
  return rows.filter(({ key, value }) => value > limits[key]);
}

function main() {
  const limits = JSON.parse(readFileSync(join(root, 'scripts', 'house.json'), 'utf8'));
  const rows = measure(join(root, 'src'));
  console.log('| | now | limit | |\n|---|---|---|---|');
  for (const { key, what, value, where } of rows) {
    console.log(`| ${what} | ${value} | ${limits[key]} | ${where} |`);
  }
  console.log(
    '\n| operation | folder | files in it | files outside that name the operation |\n|---|---|---|---|',
  );
  for (const { operation, folder, files, outside } of operationsOf(join(root, 'src'))) {
    console.log(`| ${operation} | ${folder} | ${files} | ${outside.length} |`);
  }
  if (!process.argv.includes('--check')) return;
  for (const { key, what, value } of excesses(rows, limits)) {
    console.log(`The structure got worse: ${what}: ${value} is above the limit ${limits[key]}`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
