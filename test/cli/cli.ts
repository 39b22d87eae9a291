/** Runs the command as a process, as a script would. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/util/paths.js';

/** The compiled command, module by module. */
export const COMPILED = join(packageRoot, 'dist/src/cli/main.js');

/** The command as npm installs it. The mutation run names the compiled one instead, whose modules it changes. */
export const MAIN = process.env.CLSORT_TEST_MAIN || join(packageRoot, 'dist/bin/clsort.js');

/** Working directory of the command; files that it wrongly writes under a relative name are removed with it. */
const NOWHERE = mkdtempSync(join(tmpdir(), 'clsort-test-nowhere-'));
process.on('exit', () => rmSync(NOWHERE, { recursive: true, force: true }));

/** A missing folder instead of the settings of the user who runs the tests. */
const NO_CONFIG = join(tmpdir(), 'clsort-test-without-settings');

export interface Ran {
  /** Exit code; 128 plus the signal number when a signal ended it, as in shells. */
  readonly code: number;
  /** The signal that ended it, if one did. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  /** Contents of stdin; `open` leaves it open without data. Default: empty. */
  readonly input?: Uint8Array | 'open';
  readonly env?: NodeJS.ProcessEnv;
  /** Another file than `MAIN` that is the command. */
  readonly main?: string;
  /** Gets the running process, to send signals. */
  readonly onStart?: (child: ChildProcess) => void;
}

export function clsort(
  args: readonly string[],
  { input, env, main = MAIN, onStart }: RunOptions = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: NOWHERE,
      env: { ...process.env, XDG_CONFIG_HOME: NO_CONFIG, ...env },
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => undefined); // the command may leave without reading
    if (input !== 'open') child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (exit, signal) => {
      const stdout = Buffer.concat(out);
      const code = signal ? 128 + constants.signals[signal] : (exit ?? -1);
      resolve({ code, signal, stdout, out: stdout.toString(), err: Buffer.concat(err).toString() });
    });
    onStart?.(child);
  });
}

/** A new folder, removed by `remove`. */
export function scratchFolder(): { path: (name: string) => string; folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-test-'));
  return {
    folder,
    path: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
