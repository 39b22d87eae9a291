import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of test/opencl/fixtures as a separate process. */
export function run(
  fixture: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  timeoutSeconds = 120,
  nodeArgs: readonly string[] = [],
): Promise<Ended> {
  const file = fileURLToPath(new URL(`./fixtures/${fixture}.js`, import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, ...nodeArgs, file, ...args], {
    env: { ...process.env, ...env },
    timeout: timeoutSeconds * 1000,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
