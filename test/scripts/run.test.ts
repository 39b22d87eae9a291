import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import ava from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { where } from '../where.js';

const test = where(process.platform !== 'win32', 'not on Windows', ava);
const RUN = join(packageRoot, 'scripts/run.mjs');

const start = (code: string) =>
  spawn(process.execPath, [RUN, '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });

for (const [signal, number] of [
  ['SIGTERM', 15],
  ['SIGHUP', 1],
  ['SIGINT', 2],
] as const) {
  test(`the runner forwards ${signal} to its child and exits with the code of the child`, async (t) => {
    const runner = start(
      `process.on('${signal}', () => { console.log('heard'); process.exit(7); }); console.log('ready'); setInterval(() => {}, 1000);`,
    );
    let output = '';
    runner.stdout.on('data', (text: Buffer) => {
      output += text;
      if (output === 'ready\n') runner.kill(signal);
    });
    t.deepEqual(await once(runner, 'close'), [7, null]);
    t.is(output, 'ready\nheard\n');
  });

  test(`the runner exits with 128 plus the signal number when ${signal} kills its child`, async (t) => {
    const runner = start("console.log('ready'); setInterval(() => {}, 1000);");
    await once(runner.stdout, 'data');
    runner.kill(signal);
    t.deepEqual(await once(runner, 'close'), [128 + number, null]);
  });
}
