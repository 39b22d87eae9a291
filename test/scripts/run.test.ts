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
  test(`passes ${signal} on to its child, and ends with its code`, async (t) => {
    const runner = start(
      `process.on('${signal}', () => { console.log('heard'); process.exit(7); }); console.log('ready'); setInterval(() => {}, 1000);`,
    );
    let said = '';
    runner.stdout.on('data', (text: Buffer) => {
      said += text;
      if (said === 'ready\n') runner.kill(signal);
    });
    t.deepEqual(await once(runner, 'close'), [7, null]);
    t.is(said, 'ready\nheard\n');
  });

  test(`of a child that ${signal} ends, it says so as a shell does`, async (t) => {
    const runner = start("console.log('ready'); setInterval(() => {}, 1000);");
    await once(runner.stdout, 'data');
    runner.kill(signal);
    t.deepEqual(await once(runner, 'close'), [128 + number, null]);
  });
}
