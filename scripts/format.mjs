#!/usr/bin/env node
// Lays out C++ and OpenCL C as src/.clang-format and cl/.clang-format say:
//
//   node scripts/format.mjs [--check]
//
//   --check   changes nothing, and fails when a file is laid out otherwise
//
// clang-format is that of the package clang-format-node, so that everyone has the same one: versions differ. scripts/mutations quote
// lines of these files: `node scripts/mutate.mjs --list` tells which no longer find theirs.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { clangFormatPath } from 'clang-format-node';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A kernel's attribute stands on a line of its own, which clang-format would put before the name: it is a comment meanwhile. */
const KERNEL = /^(__kernel __attribute__\(\(.*\)\)\))$/gm;
const HIDDEN = /^\/\/kernel:(.*)$/gm;

/** Steps around clang-format for OpenCL C. It takes the colons of inline assembly for a scope. */
const before = (text) => text.replaceAll(KERNEL, '//kernel:$1');
const after = (text) => text.replaceAll(HIDDEN, '$1').replaceAll(/ ::(?=")/g, ' :: ');

/** @throws Error when the formatter fails */
function formatted(text, path) {
  const isKernel = /\.clh?$/.test(path);
  const { status, stdout, stderr, error } = spawnSync(
    clangFormatPath,
    // What a file is called tells its language: .cl is not known.
    ['--style=file', `--assume-filename=${isKernel ? `${path}.c` : path}`],
    { input: isKernel ? before(text) : text, encoding: 'utf8', maxBuffer: 2 ** 26 },
  );
  if (status !== 0) throw new Error(`clang-format of ${path}: ${error?.message ?? stderr}`);
  return isKernel ? after(stdout) : stdout;
}

/** All that is laid out, by paths below the root. */
const files = () =>
  [
    ['src/native', /\.(cc|h)$/],
    ['cl', /\.clh?$/],
  ].flatMap(([folder, kind]) =>
    readdirSync(join(root, folder))
      .filter((name) => kind.test(name))
      .sort()
      .map((name) => `${folder}/${name}`),
  );

function main({ check }) {
  const changed = [];
  for (const file of files()) {
    const path = join(root, file);
    const was = readFileSync(path, 'utf8');
    const is = formatted(was, path);
    if (is === was) continue;
    changed.push(file);
    if (!check) writeFileSync(path, is);
  }
  if (check) {
    for (const file of changed) console.error(`${file} is laid out otherwise: node scripts/format.mjs`);
    if (changed.length > 0) process.exitCode = 1;
  }
  console.log(`format: ${changed.length} files ${check ? 'differ' : 'were laid out anew'}`);
}

main(parseArgs({ options: { check: { type: 'boolean', default: false } } }).values);
