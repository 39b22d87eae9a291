#!/usr/bin/env node
// Formats C++ and OpenCL C according to src/.clang-format and cl/.clang-format:
//
//   node scripts/format.mjs [--check]
//
//   --check   changes nothing, and fails when a file is not formatted
//
// clang-format comes from the package clang-format-node, so that everyone uses the same version: versions differ.
// scripts/mutations quote lines of these files: `node scripts/mutate.mjs --list` reports those that no longer match.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { clangFormatPath } from 'clang-format-node';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Matches a kernel's attribute on a separate line. clang-format would move it before the name, so it is temporarily a
 * comment.
 */
const KERNEL = /^(__kernel __attribute__\(\(.*\)\)\))$/gm;
const HIDDEN = /^\/\/kernel:(.*)$/gm;

/** Works around clang-format's handling of OpenCL C, which parses the colons of inline assembly as a scope operator. */
const before = (text) => text.replaceAll(KERNEL, '//kernel:$1');
const after = (text) => text.replaceAll(HIDDEN, '$1').replaceAll(/ ::(?=")/g, ' :: ');

/**
 * Formats a text.
 *
 * @throws Error when the formatter fails
 */
function formatted(text, path) {
  const isKernel = /\.clh?$/.test(path);
  const { status, stdout, stderr, error } = spawnSync(
    clangFormatPath,
    // The file name selects the language, and clang-format does not know .cl.
    ['--style=file', `--assume-filename=${isKernel ? `${path}.c` : path}`],
    { input: isKernel ? before(text) : text, encoding: 'utf8', maxBuffer: 2 ** 26 },
  );
  if (status !== 0) throw new Error(`clang-format of ${path}: ${error?.message ?? stderr}`);
  return isKernel ? after(stdout) : stdout;
}

/** Returns the formatted files, as paths relative to the root. */
const files = () =>
  [
    ['src/native', /\.(cc|h)$/],
    ['cl', /\.clh?$/],
  ].flatMap(([folder, kind]) =>
    readdirSync(join(root, folder), { recursive: true })
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
