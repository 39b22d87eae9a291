// Runs one command of a test run and measures wall time, and CPU time of it and its children.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { rootlessEnv } from '../rootless.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const ESCAPE = String.fromCharCode(27);
const withoutColours = (text) => text.replaceAll(new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g'), '');

/** Runs its arguments and writes the output of the shell's `times` to the file in the first argument. */
const MEASURED = 'file=$1; shift; "$@"; code=$?; times > "$file"; exit $code';

/**
 * Returns the seconds in the second line of `times`, such as `1m2.345s 0m1.000s`: user and system time of the children.
 */
function processorSeconds(file) {
  try {
    const [, children = ''] = readFileSync(file, 'utf8').split('\n');
    return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + 60 * m + Number(s), 0);
  } catch {
    return 0; // the command was killed
  }
}

const running = new Set();

/** Kills running commands when this process is interrupted: commands have separate process groups. */
function killOnSignals() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      for (const pid of running) kill(pid);
      process.kill(process.pid, signal);
    });
  }
}

function kill(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

/**
 * Runs a command.
 *
 * @param {string} name shown before its output and beside its result
 * @param {string[]} command the program and its arguments
 * @param {{ env?: object, minutes?: number, isBeside?: boolean }} options variables added to the environment; minutes
 *   after which it counts as hung and is killed, 20 by default; whether other stages run concurrently, so that output
 *   is printed line by line
 * @returns {Promise<{ name: string, ok: boolean, output: string, wall: number, processor: number }>} seconds, and the
 *   output without colours
 */
export async function stage(name, command, { env = {}, minutes = 20, isBeside = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-stage-'));
  const times = join(folder, 'times');
  process.stdout.write(`\n=== ${name}\n`);
  const started = performance.now();
  const child = spawn('bash', ['-c', MEASURED, 'bash', times, ...command], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...rootlessEnv(join(root, '.setup')), ...env },
  });
  if (running.size === 0 && process.listenerCount('SIGTERM') === 0) killOnSignals();
  running.add(child.pid);
  let isHung = false;
  const timer = setTimeout(() => {
    isHung = true;
    kill(child.pid);
  }, minutes * 60_000);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    const lines = isBeside ? createInterface({ input: stream }) : stream.setEncoding('utf8');
    lines.on(isBeside ? 'line' : 'data', (data) => {
      const text = isBeside ? `${data}\n` : data;
      output += text;
      process.stdout.write(text);
    });
  }
  const [code, signal] = await new Promise((resolve) => {
    child.on('error', (error) => {
      output += `${error.message}\n`;
      resolve([1]);
    });
    child.on('close', (...ended) => resolve(ended));
  });
  clearTimeout(timer);
  running.delete(child.pid);
  const wall = (performance.now() - started) / 1000;
  const processor = processorSeconds(times);
  rmSync(folder, { recursive: true, force: true });
  const ok = code === 0;
  const why = isHung ? `killed after ${minutes} minutes` : (signal ?? `exit code ${code}`);
  const took = `${wall.toFixed(1)} s, ${processor.toFixed(1)} s of processor`;
  process.stdout.write(`--- ${name}: ${ok ? 'ok' : `FAILED (${why})`} after ${took}\n`);
  return { name, ok, output: withoutColours(output), wall, processor };
}
