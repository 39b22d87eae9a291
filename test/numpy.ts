/** NumPy as the counterpart for files: clsort reads what NumPy writes, and NumPy reads what clsort writes. */
import { execFileSync, spawnSync } from 'node:child_process';
import test, { type ExecutionContext } from 'ava';
import { where } from './where.js';

/** A Python with NumPy: the one that `CLSORT_PYTHON` names, the one in PATH, or the system's. */
const PYTHON = [process.env.CLSORT_PYTHON ?? 'python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import numpy']).status === 0,
);

/** Runs a program with `numpy` as `np` and `sys.argv[1:]`. @returns its output */
export type RunPython = (program: string, ...args: readonly string[]) => string;

const runWith =
  (python: string): RunPython =>
  (program, ...args) =>
    execFileSync(python, ['-c', `import sys\nimport numpy as np\n${program}`, ...args], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });

/**
 * Declares a test that needs NumPy. Without NumPy it is a skip with that reason; with `CLSORT_REQUIRE_NUMPY=1`, as in
 * CI, it fails.
 */
export function testWithNumPy(
  title: string,
  body: (t: ExecutionContext, run: RunPython, python: string) => Promise<void>,
): void {
  if (!PYTHON && process.env.CLSORT_REQUIRE_NUMPY === '1') test(title, (t) => t.fail('no Python with NumPy'));
  else {
    where(PYTHON !== undefined, 'no NumPy here')(title, (t) => {
      const python = PYTHON as string;
      return body(t, runWith(python), python);
    });
  }
}
