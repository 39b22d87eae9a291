import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import ava, { type ExecutionContext } from 'ava';
import { generate } from '../../src/io/operations/gen.js';
import { LayerControl, layerEnvironment } from '../layer/layer.js';
import { seededCache } from '../test-cache.js';
import { where } from '../where.js';
import { clsort, MAIN, type RunOptions, scratchFolder } from './cli.js';

const test = where(process.platform !== 'win32', 'not on Windows', ava.serial); // each starts processes
const { path, folder, remove } = scratchFolder();
ava.after.always(remove);

/** Generous bound for 'within a second' on a busy machine; a hang takes minutes. */
const BOUND_MS = 10_000;

writeFileSync(path('in.u32'), generate({ dtype: 'u32', count: 300_000, distribution: 'uniform', seed: 7 }));
const sort = ['sort', path('in.u32'), '--dtype', 'u32'];

/** Names of temporary files. */
const temporaryFiles = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.tmp'));

const fifo = (name: string): string => {
  spawnSync('mkfifo', [path(name)]);
  return path(name);
};

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setTimeout(20);
}

/** The running child processes of a process. */
const childrenOf = (pid: number | undefined): number[] =>
  spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter(Boolean)
    .map(Number);

/** The open files of a process, from /proc. */
const opens = (pid: number | undefined): string[] =>
  readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return ''; // closed meanwhile
    }
  });

/** Waits until a pipe has a reader, and opens it to write. */
async function opened(pipe: string): Promise<number> {
  let writer: number | undefined;
  await until(() => {
    try {
      writer = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      // there is no reader yet
    }
    return writer !== undefined;
  });
  return writer as number;
}

/** Sends a signal when `blocked` has resolved; the signal has to end the command soon, without leftovers. */
async function ends(
  t: ExecutionContext,
  args: readonly string[],
  signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP',
  blocked: (child: ChildProcess) => Promise<unknown>,
  options: RunOptions = {},
): Promise<string> {
  let sent = performance.now(); // of a command that ends before the last signal
  const ran = await clsort(args, {
    ...options,
    onStart: async (child) => {
      await blocked(child);
      sent = performance.now();
      child.kill(signal);
    },
  });
  const took = performance.now() - sent;
  t.is(ran.signal, signal, `${args}: ${ran.code} ${ran.err}`);
  t.true(took < BOUND_MS, `${args}: ended after ${took} ms`);
  t.deepEqual(temporaryFiles(), []);
  t.notRegex(ran.err, /internal error|at .*:\d+:\d+/);
  return ran.err;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} ends a sort that waits for data from a pipe`, async (t) => {
    const pipe = fifo(`in ${signal}`);
    const err = await ends(t, ['sort', pipe, '-o', path('out'), '--dtype', 'u32'], signal, async () => {
      const writer = await opened(pipe);
      await until(() => temporaryFiles().length > 0);
      t.teardown(() => closeSync(writer));
    });
    t.is(err, 'clsort: interrupted\n');
  });
}

test('a signal ends a sort of a pipe without a writer', (t) =>
  ends(t, ['sort', fifo('no writer'), '-o', path('out'), '--dtype', 'u32'], 'SIGINT', () =>
    until(() => temporaryFiles().length > 0),
  ));

test('a signal ends a sort into a pipe without a reader', (t) =>
  ends(t, [...sort, '-o', fifo('no reader')], 'SIGINT', async ({ pid }) => {
    // It opens the input first.
    if (process.platform === 'linux') await until(() => opens(pid).includes(path('in.u32')));
    await setTimeout(1000);
  }));

test('a signal ends a sort into a pipe with an idle reader', async (t) => {
  const pipe = fifo('idle reader');
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  await ends(t, [...sort, '-o', pipe], 'SIGTERM', () =>
    until(() => {
      try {
        return readSync(reader, new Uint8Array(1)) > 0;
      } catch {
        return false; // nothing there yet
      }
    }),
  );
});

test('a signal ends a command whose stdout is not read', (t) =>
  ends(t, ['gen', '--dtype', 'u32', '--count', '2^28', '-o', '-'], 'SIGTERM', async (child) => {
    await new Promise((resolve) => child.stdout?.once('readable', resolve));
    child.stdout?.removeAllListeners('data');
    child.stdout?.pause();
    await setTimeout(200);
    child.stdout?.resume(); // so that the end is seen
  }));

test('a signal ends a check and a batch that read a pipe', async (t) => {
  const checked = fifo('checked');
  const hold = (pipe: string) => async () => {
    const writer = await opened(pipe);
    t.teardown(() => closeSync(writer));
  };
  await ends(t, ['check', checked, '--dtype', 'u32'], 'SIGINT', hold(checked));
  const listed = fifo('listed');
  const job = { in: listed, out: path('out'), dtype: 'u32' };
  writeFileSync(path('jobs.json'), JSON.stringify([job, { ...job, out: path('other') }]));
  await ends(t, ['batch', path('jobs.json'), '--device', 'host'], 'SIGTERM', hold(listed));
});

// /dev/ptmx is a device whose reads block a thread of the pool.
const hasTerminals = (() => {
  try {
    return statSync('/dev/ptmx').isCharacterDevice();
  } catch {
    return false;
  }
})();
where(
  hasTerminals,
  'no terminals here',
  test,
)('a signal ends a read that blocks its thread', (t) =>
  ends(t, ['sort', '/dev/ptmx', '-o', path('out'), '--dtype', 'u32'], 'SIGTERM', async () => {
    await until(() => temporaryFiles().length > 0);
    await setTimeout(500);
  }),
);

test('a signal ends a driver call that does not return, with and without a temporary file', async (t) => {
  writeFileSync(path('control'), '');
  const control = new LayerControl(path('control'));
  t.teardown(() => control.close());
  const env = { ...layerEnvironment(path('control')), CLSORT_CACHE_DIR: seededCache(path('cache')) };
  await clsort(['devices'], { env }); // the layer records the names of its functions
  control.delay({ at: 1, function: 'clGetDeviceInfo' }, 120_000);
  await ends(t, ['devices'], 'SIGINT', () => setTimeout(2000), { env });
  const device = ['--device', 'portable', '--algorithm', 'amd'];
  for (const name of ['clEnqueueNDRangeKernel', 'clCreateKernel', 'clBuildProgram']) {
    control.delay({ at: 1, function: name }, 120_000);
    await ends(
      t,
      [...sort, '-o', path('out'), ...device],
      'SIGTERM',
      async () => {
        await until(() => temporaryFiles().length > 0);
        await setTimeout(1000);
      },
      { env },
    );
  }
});

test('a signal ends a command during startup', async (t) => {
  const pipe = fifo('at startup'); // without a writer, so that the command cannot end before the signal
  for (const wait of [1, 20, 50, 100, 150, 250]) {
    await ends(t, ['sort', pipe, '-o', path('out'), '--dtype', 'u32'], 'SIGTERM', () => setTimeout(wait));
  }
});

/** The command line of a process. It is that of its parent until the process runs its own program. */
const programOf = (pid: number | undefined): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8');

test('a signal ends a sort that waits for a child process', async (t) => {
  writeFileSync(
    path('small.csv'),
    `x\n${Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009).join('\n')}\n`,
  );
  const small = ['sort', path('small.csv'), '-o', path('small-out.parquet')];
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // A child process writes the file and is stopped here, once it runs its own program: the command waits for that.
    await ends(t, small, signal, (child) =>
      until(() => {
        const [writer] = childrenOf(child.pid);
        if (!writer || programOf(writer) === programOf(child.pid)) return false;
        process.kill(writer, 'SIGSTOP');
        return true;
      }),
    );
  }
  t.is((await clsort([...small, '-q'])).code, 0);
});

test('a shell sees 128 and the number of the signal', (t) => {
  const command = [process.execPath, MAIN, ...sort, '-o', fifo('of a shell')].map((word) => `'${word}'`);
  const { stdout } = spawnSync(
    'sh',
    ['-c', `${command.join(' ')} & sleep 2; kill -TERM $!; wait $!; echo $?`],
    {
      encoding: 'utf8',
    },
  );
  t.is(stdout, '143\n');
});

test('a killed matrix ends its child process even if a driver blocks it', async (t) => {
  writeFileSync(path('control'), '');
  const control = new LayerControl(path('control'));
  t.teardown(() => control.close());
  const env = { ...layerEnvironment(path('control')), CLSORT_CACHE_DIR: seededCache(path('cache')) };
  await clsort(['devices'], { env }); // the layer records the names of its functions
  control.delay({ at: 1, function: 'clBuildProgram' }, 120_000);
  let child = 0;
  const { signal } = await clsort(['matrix', '--quick', '--device', 'portable'], {
    env,
    onStart: async (running) => {
      await until(() => {
        [child = 0] = childrenOf(running.pid);
        return child !== 0;
      });
      await setTimeout(4000);
      running.kill('SIGKILL');
    },
  });
  t.is(signal, 'SIGKILL');
  const isRunning = () => spawnSync('ps', ['-p', String(child)]).status === 0;
  await until(() => !isRunning());
  t.false(isRunning());
});

test('a second signal ends the command without waiting', async (t) => {
  await ends(t, ['sort', fifo('twice'), '-o', path('out'), '--dtype', 'u32'], 'SIGINT', async (child) => {
    await until(() => temporaryFiles().length > 0);
    child.kill('SIGINT');
    await setTimeout(100);
  });
});

test('a signal to matrix also ends its child process', async (t) => {
  let child: number | undefined;
  await ends(t, ['matrix'], 'SIGTERM', (running) =>
    until(() => {
      [child] = childrenOf(running.pid);
      return child !== undefined;
    }),
  );
  const isGone = () => spawnSync('ps', ['-p', String(child)]).status !== 0;
  await until(isGone);
  t.true(isGone());
});

test('a command removes temporary files of a killed command and keeps those of a running one', async (t) => {
  const pipe = fifo('killed');
  const out = path('killed.u32');
  const killed = await clsort(['sort', pipe, '-o', out, '--dtype', 'u32'], {
    onStart: async (child) => {
      await until(() => temporaryFiles().length > 0);
      child.kill('SIGKILL');
    },
  });
  t.is(killed.signal, 'SIGKILL');
  t.is(temporaryFiles().length, 1);
  // The temporary file of a running command stays.
  const living = spawn(process.execPath, [MAIN, 'sort', pipe, '-o', out, '--dtype', 'u32']);
  t.teardown(() => living.kill('SIGKILL'));
  await until(() => temporaryFiles().some((name) => name.includes(`-${living.pid}-`)));
  const ran = await clsort([...sort, '-o', out, '--device', 'host']);
  t.is(ran.code, 0, ran.err);
  t.deepEqual(
    temporaryFiles().map((name) => name.includes(`-${living.pid}-`)),
    [true],
  );
});
