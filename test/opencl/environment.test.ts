import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import test from 'ava';
import type * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened } from './devices.js';
import { run } from './run.js';

interface Printed {
  name: string;
  code: string;
  message: string;
  names: number;
  info: cl.OpenCLInfo;
}
const json = (text: string): Printed => JSON.parse(text);

test.serial('importing opens no library, sets no global and installs no handler', async (t) => {
  const { stdout, stderr, code } = await run('import-only');
  t.is(code, 0, stderr);
  const { names, ...changed } = json(stdout);
  t.deepEqual<unknown, unknown>(changed, { globals: [], listeners: [], libraries: [] });
  t.true(names > 500);
});

test.serial('without an OpenCL loader the first call says which to install', async (t) => {
  const { stdout, stderr } = await run('first-call', [], {
    CLSORT_OPENCL_LIBRARY: '/nowhere/libOpenCL.so.1',
  });
  t.is(stderr, '');
  const { name, code, message, info } = json(stdout);
  t.is(code, 'ERR_CLSORT_NO_LOADER');
  t.is(name, 'NoLoaderError');
  t.regex(message, /\/nowhere\/libOpenCL\.so\.1/);
  t.regex(message, /[Ii]nstall/);
  t.is(info.loader, null);
  t.is(info.problems.length > 0, true);
});

test.serial('a library that is not an OpenCL loader counts as no loader', async (t) => {
  const { stdout } = await run('first-call', [], { CLSORT_OPENCL_LIBRARY: 'libm.so.6' });
  t.is(json(stdout).code, 'ERR_CLSORT_NO_LOADER');
});

test.serial('without a driver the first call says which to install', async (t) => {
  const empty = mkdtempSync(join(tmpdir(), 'clsort-no-drivers-'));
  const { stdout } = await run('first-call', [], { OCL_ICD_VENDORS: empty, OPENCL_VENDOR_PATH: empty });
  const { name, code, message } = json(stdout);
  t.is(code, 'ERR_CLSORT_NO_PLATFORM');
  t.is(name, 'NoPlatformError');
  t.regex(message, /pocl/i);
});

test.serial('without the addon the first call lists possible solutions', async (t) => {
  const { stdout } = await run('first-call', [], { CLSORT_ADDON: '/nowhere/clsort.node' });
  const { code, message } = json(stdout);
  t.is(code, 'ERR_CLSORT_UNSUPPORTED');
  t.regex(message, /Possible solutions/);
  t.regex(message, /npx clsort build-addon/);
});

for (const { name, singleThreaded } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;
  const parallel = where(!singleThreaded, 'driven from one thread', test.serial);

  for (const [how, expected] of [
    ['exit', 7],
    ['async exit', 7],
    ['exit in exit', 7],
    ['throw', 1],
  ] as const) {
    test.serial(title(`work in flight does not prevent the process from ending by '${how}'`), async (t) => {
      const { code, signal, stderr } = await run('exit', [name, how]);
      t.is(signal, null, stderr);
      t.is(code, expected, stderr);
    });
  }

  test.serial(title('a program that sends itself a harmless signal keeps running'), async (t) => {
    const { code, signal, stdout, stderr } = await run('survive', [name]);
    t.is(signal, null, stderr);
    t.is(code, 7, stderr);
    t.is(stdout, '7,7,7,7\n8,8,8,8\n');
  });

  parallel(title('several workers use the device at once and exit on their own'), async (t) => {
    const ends = Array.from({ length: 3 }, () => {
      const worker = new Worker(new URL('./fixtures/worker.js', import.meta.url), {
        workerData: { name, once: true },
      });
      const messages: string[] = [];
      worker.on('message', (message: string) => messages.push(message));
      return new Promise<string[]>((resolve, reject) => {
        worker.on('error', reject);
        worker.on('exit', () => resolve(messages));
      });
    });
    for (const messages of await Promise.all(ends)) t.true(messages.includes('done'));
  });

  parallel(title('workers can be terminated repeatedly with work in flight'), async (t) => {
    const rounds = process.env.CLSORT_STRESS_ROUNDS ?? '5';
    const { code, signal, stdout, stderr } = await run('stress', [name, rounds, '4'], {}, 3600);
    t.is(signal, null, stderr);
    t.is(code, 0, stderr);
    t.regex(stdout, /survived/);
  });

  for (const thing of ['error', 'mapping']) {
    parallel(title(`a worker can be terminated while the binding creates its ${thing}`), async (t) => {
      const messages: unknown[] = [];
      for (let round = 0; round < 20; round++) {
        const worker = new Worker(new URL('./fixtures/terminated.js', import.meta.url), {
          workerData: { name, thing },
        });
        await new Promise<void>((resolve) => {
          worker.on('message', (message) => {
            if (message === 'begun') setTimeout(resolve, 2 + (round % 4));
            else messages.push(message);
          });
        });
        t.is(await worker.terminate(), 1);
      }
      t.deepEqual(messages, []);
    });
  }
}
