#!/usr/bin/env node
// Builds the test of the host engine without Node, with ThreadSanitizer and with AddressSanitizer, and runs both:
//
//   node scripts/sanitize-threads.mjs
//
// Node cannot be started with ThreadSanitizer, because it is not instrumented.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const folder = join(root, '.setup', 'sanitized');
mkdirSync(folder, { recursive: true });
for (const sanitizer of ['thread', 'address,undefined']) {
  const program = join(folder, `radix-sort-${sanitizer}`);
  const sources = ['test/native/host/radix_sort_test.cc', 'src/native/host/workspace.cc'];
  const flags = [
    '-std=c++17',
    '-O2',
    '-g',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-pthread',
    `-fsanitize=${sanitizer}`,
    '-Wl,--wrap=aligned_alloc,--wrap=_ZnamRKSt9nothrow_t', // the test makes allocations fail
  ];
  execFileSync('g++', [...flags, ...sources, '-o', program], { cwd: root, stdio: 'inherit' });
  execFileSync(program, {
    stdio: 'inherit',
    env: { ...process.env, TSAN_OPTIONS: 'halt_on_error=1', UBSAN_OPTIONS: 'halt_on_error=1' },
  });
}
