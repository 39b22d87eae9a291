import { spawn } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { underLayer } from '../layer/layer.js';
import { where } from '../where.js';
import { opened } from './devices.js';
import { run } from './run.js';

interface Balance {
  before: Record<string, number>;
  after: Record<string, number>;
  misuses: number;
}

for (const { name } of opened) {
  for (const [how, left] of [
    ['releaseAsync', ['svm']],
    ['dispose', ['svm']],
    ['releaseAll', ['context']],
    ['releaseAll with contexts', []],
  ] as const) {
    test.serial(`${name}: ${how} leaves no objects${left.length ? ` but ${left}` : ''}`, async (t) => {
      const { result, control } = await underLayer((env) =>
        run('balance', [how], { ...env, CLSORT_TEST_DEVICES: name }),
      );
      t.is(result.code, 0, result.stderr);
      const { before, after, misuses }: Balance = JSON.parse(result.stdout);
      for (const kind of ['context', 'queue', 'memory', 'program', 'kernel', 'event']) {
        t.true((before[kind] ?? 0) > 0, `${kind} in use before`);
      }
      // Shared virtual memory holds its context.
      const expected = Object.keys(after).filter((kind) => !(kind === 'context' && after.svm));
      t.deepEqual(expected, before.svm ? [...left] : left.filter((kind) => kind !== 'svm'));
      t.is(misuses, 0);
      t.deepEqual(control.live, {}, 'at the end of the process');
    });
  }

  test.serial(`${name}: the end of a process releases every object that is still alive`, async (t) => {
    const { result, control } = await underLayer((env) =>
      run('balance', ['nothing'], { ...env, CLSORT_TEST_DEVICES: name }),
    );
    t.is(result.code, 0, result.stderr);
    const { before, after }: Balance = JSON.parse(result.stdout);
    t.deepEqual(after, before);
    t.deepEqual(control.live, {});
    t.deepEqual(control.misuses, { count: 0, last: '' });
  });
}

for (const { name, userEvents } of opened) {
  where(
    userEvents,
    'no user events',
    test.serial,
  )(`${name}: a transfer takes at most six driver calls however many are in flight`, async (t) => {
    const { result } = await underLayer((env) => run('in-flight', [], { ...env, CLSORT_TEST_DEVICES: name }));
    t.is(result.code, 0, result.stderr);
    t.true(Number(result.stdout) <= 6, result.stdout);
  });
}

for (const { name, singleThreaded } of opened) {
  for (const how of singleThreaded ? [] : ['terminate', 'exit']) {
    test.serial(
      `${name}: workers that ${how} with work in flight release every object exactly once`,
      async (t) => {
        const { result, control } = await underLayer((env) => run('stress', [name, '3', '3', how], env, 300));
        t.is(result.signal, null, result.stderr);
        t.regex(result.stdout, /survived/, result.stderr);
        t.deepEqual(control.live, {});
        t.deepEqual(control.misuses, { count: 0, last: '' });
      },
    );
  }
}

for (const { name, userEvents } of opened) {
  if (!userEvents) continue;
  test.serial(
    `${name}: a command enqueued while the last user event is being settled leaves no event behind`,
    async (t) => {
      const { result } = await underLayer((env) => run('enqueued-late', [name], env));
      t.deepEqual(JSON.parse(result.stdout || 'null'), { events: 0 }, result.stderr);
    },
  );
}

for (const { name, userEvents, singleThreaded, images, version } of opened) {
  where(
    userEvents && !singleThreaded && images && version >= 120,
    'commands on images cannot fail with a user event here',
    test.serial,
  )(`${name}: commands in flight that fail when their worker ends leave no objects`, async (t) => {
    const { result } = await underLayer((env) => run('surrendered', [name], env));
    t.deepEqual(JSON.parse(result.stdout || 'null'), { memory: 0, event: 0 }, result.stderr);
  });
}

/** The binding's own tests, which use it in every way; tests that start processes check leaks themselves. */
const FILES = [
  'arguments',
  'bounds',
  'command-buffer',
  'errors',
  'examples',
  'handles',
  'kernel',
  'launch-limits',
  'node-opencl',
  'objects',
  'roots',
  'transfer',
];

for (const file of FILES) {
  test.serial(`the tests of ${file} use no released object and leave none behind`, async (t) => {
    const ava = join('node_modules', 'ava', 'entrypoints', 'cli.mjs');
    const compiled = join('dist', 'test', 'opencl', `${file}.test.js`);
    const { result, control } = await underLayer(
      (env) =>
        new Promise<{ code: number | null; output: string }>((resolve, reject) => {
          const child = spawn(process.execPath, [ava, '--timeout=10m', compiled], {
            cwd: packageRoot,
            env: { ...process.env, ...env, AVA_FORCE_CI: 'not-ci' },
          });
          let output = '';
          for (const stream of [child.stdout, child.stderr]) {
            stream.setEncoding('utf8').on('data', (text: string) => {
              output += text;
            });
          }
          child.on('error', reject);
          child.on('close', (code) => resolve({ code, output }));
        }),
    );
    t.is(result.code, 0, result.output);
    t.true(control.loaded);
    t.true(control.calls.all > 20);
    t.deepEqual(control.live, {});
    t.deepEqual(control.misuses, { count: 0, last: '' });
  });
}
