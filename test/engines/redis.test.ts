import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { assertQueue, plainText } from '../../src/engines/queue-names.js';
import { placeOf, redact, redisError, redisUrl } from '../../src/engines/redis.js';
import { packageRoot } from '../../src/util/paths.js';
import { scratchFolder } from '../cli/cli.js';

test('placeOf returns the host and port of a Redis URL without user and password', (t) => {
  t.is(placeOf(redisUrl('redis://head')), 'redis://head:6379');
  t.is(placeOf(redisUrl('rediss://user:secret@head:7000/2')), 'rediss://head:7000');
  for (const wrong of ['', 'head:6379', 'http://head', 'redis://', 'redis:secret', 'redis://:secret@']) {
    const error = t.throws(() => redisUrl(wrong), { code: 'ERR_CLSORT_USAGE' });
    t.false(`${error?.stack}${JSON.stringify(error)}`.includes('secret'));
  }
});

test('redacted removes a plain or URL-encoded password from texts and errors', (t) => {
  const url = redisUrl('redis://:p%40ss%2Fw@head:6379');
  t.is(redact('AUTH p@ss/w at redis://:p%40ss%2Fw@head', url), 'AUTH *** at redis://:***@head');
  t.is(redact('nothing', redisUrl('redis://head')), 'nothing');
  // An invalid encoding is taken literally.
  t.is(redact('AUTH 100%', redisUrl('redis://:100%@head')), 'AUTH ***');
  // Clients include the command in their errors.
  const thrown = Object.assign(new Error('WRONGPASS p@ss/w'), {
    command: { name: 'auth', args: ['p@ss/w'] },
  });
  const error = redisError(thrown, url);
  t.is(error.code, 'ERR_CLSORT_IO');
  t.false(`${error.stack}${JSON.stringify(error)}${JSON.stringify(error.cause)}`.includes('ss/w'));
});

test('assertQueue rejects invalid queue names, and plainText removes control characters', (t) => {
  assertQueue('gpu_2-a');
  for (const name of ['', 'a:b', 'a b', '../x', 'ä', 'x'.repeat(65)]) {
    t.throws(() => assertQueue(name), { code: 'ERR_CLSORT_USAGE' });
  }
  t.is(plainText('a\u001b[2Jb\nc\u009bd'), 'a [2Jb c d');
  t.is(plainText(undefined), '');
  t.is(plainText('x'.repeat(9999)).length, 2000);
});

test('a missing package raises an error that names the packages to install', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const bare = path('bare');
  cpSync(join(packageRoot, 'dist/src/engines'), join(bare, 'dist/src/engines'), { recursive: true });
  cpSync(join(packageRoot, 'dist/src/util'), join(bare, 'dist/src/util'), { recursive: true });
  cpSync(join(packageRoot, 'package.json'), join(bare, 'package.json'));
  const program = `
    const { connect, loadBullmq } = await import('${pathToFileURL(join(bare, 'dist/src/engines/redis.js'))}');
    for (const call of [loadBullmq, () => connect(new URL('redis://head'))]) {
      await call().catch(({ code, message }) => console.log(code, message));
    }
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: '/' });
  const lines = (await text(child.stdout)).trim().split('\n');
  t.is(lines.length, 2);
  for (const [i, name] of ['bullmq', 'ioredis'].entries()) {
    t.regex(
      lines[i] ?? '',
      new RegExp(
        `^ERR_CLSORT_PACKAGE .*the package ${name}, .*: it is not installed. Run npm install bullmq ioredis, `,
      ),
    );
  }
});
