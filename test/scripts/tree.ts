import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { packageRoot } from '../../src/util/paths.js';

/** A tree with the scripts and their inputs, and its own programs in PATH. */
export interface Tree {
  readonly folder: string;
  /** An environment whose PATH has the tree's programs first. */
  readonly env: NodeJS.ProcessEnv;
  /** Puts a program into PATH: a script for sh. */
  program(name: string, script: string): void;
}

/** Calls `use` with a copy of the scripts in a temporary folder. */
export function withTree(use: (tree: Tree) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-tree-'));
  const bin = join(folder, 'bin');
  try {
    mkdirSync(bin);
    for (const path of ['scripts', 'src/native', 'package.json', 'binding.gyp']) {
      cpSync(join(packageRoot, path), join(folder, path), { recursive: true });
    }
    use({
      folder,
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
      program(name, script) {
        writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
        chmodSync(join(bin, name), 0o755);
      },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
