#!/usr/bin/env node
// Builds the addon with AddressSanitizer and UndefinedBehaviorSanitizer in a separate folder, and runs the tests of the
// binding with it and an exposed garbage collector.
//
//   node scripts/sanitize.mjs [TEST-FILE | -- COMMAND ARG …]
//
// Drivers are not instrumented, but their heap is: reads of memory that a driver freed are detected.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce } from './ci/build-cache.mjs';
import { filesBelow, hashOf, nodeHeaders, root } from './setup.mjs';

const tree = join(root, '.setup', 'sanitized');

function build() {
  mkdirSync(tree, { recursive: true });
  for (const name of ['binding.gyp', 'package.json', 'src', 'node_modules']) {
    if (!existsSync(join(tree, name))) symlinkSync(join(root, name), join(tree, name));
  }
  const flags = '-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer -g -O1';
  const gyp = join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
  const command = existsSync(join(tree, 'build', 'Makefile')) ? 'build' : 'rebuild';
  const addon = join(tree, 'build', 'Release', 'clsort.node');
  const sources = hashOf([
    join(root, 'binding.gyp'),
    join(root, 'package-lock.json'),
    ...filesBelow('src/native'),
  ]);
  buildOnce(addon, [sources, flags], () =>
    execFileSync(
      process.execPath,
      [gyp, command, ...nodeHeaders(), '--jobs=max', '--loglevel=warn', '-C', tree],
      {
        cwd: tree,
        stdio: 'inherit',
        env: { ...process.env, CXXFLAGS: flags, LDFLAGS: '-fsanitize=address,undefined' },
      },
    ),
  );
  return addon;
}

const library = (name) => execFileSync('g++', [`-print-file-name=${name}`], { encoding: 'utf8' }).trim();

function run(addon) {
  const args = process.argv.slice(2);
  const folder = join('dist', 'test', 'opencl');
  const files = readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => join(folder, name));
  const ava = [
    'node_modules/ava/entrypoints/cli.mjs',
    '--serial',
    '--concurrency=2',
    '--timeout=20m',
    '--node-arguments=--expose-gc',
  ];
  const nodeArgs = args[0] === '--' ? args.slice(1) : [...ava, ...(args.length > 0 ? args : files)];
  const { status, signal } = spawnSync(process.execPath, ['--expose-gc', ...nodeArgs], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      CLSORT_ADDON: addon,
      LD_PRELOAD: `${library('libasan.so')} ${library('libubsan.so')}`,
      // Node and the drivers keep memory until the end of the process; LLVM uses deep stacks. Tests also cover failing
      // allocations, which end in an error of the binding.
      ASAN_OPTIONS:
        'detect_leaks=0:use_sigaltstack=0:abort_on_error=1:detect_stack_use_after_return=0:allocator_may_return_null=1',
      UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
    },
  });
  process.exitCode = signal ? 1 : (status ?? 1);
}

run(build());
