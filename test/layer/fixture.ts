import { spawn } from 'node:child_process';

/** The output of a fixture, one line of JSON each, and how it ended if it failed. */
export interface FixtureOutput<T> {
  readonly outcomes: readonly T[];
  readonly ended?: string;
}

/**
 * Runs a fixture with its task as a separate process.
 *
 * @param silenceSeconds the process is killed if it prints no line for this long, since a hanging process cannot report
 * itself
 */
export async function tellingFixture<T>(
  fixture: string,
  task: object,
  {
    env,
    silenceSeconds,
    nodeArgs = [],
  }: { env: NodeJS.ProcessEnv; silenceSeconds: number; nodeArgs?: string[] },
): Promise<FixtureOutput<T>> {
  const child = spawn(process.execPath, [...nodeArgs, fixture, JSON.stringify(task)], { env });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const hung = setTimeout(() => child.kill('SIGKILL'), silenceSeconds * 1000);
  child.stdout.on('data', () => hung.refresh());
  const ended = await new Promise<string | undefined>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve(code === 0 ? undefined : `${signal ?? `exit code ${code}`}: ${stderr.slice(-2000)}`),
    );
  });
  clearTimeout(hung);
  const outcomes = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
  return { outcomes, ...(ended !== undefined && { ended }) };
}
