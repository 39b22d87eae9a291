import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { csv } from '../../../../src/io/formats/csv.js';
import { ndjson } from '../../../../src/io/formats/ndjson.js';
import { parquet } from '../../../../src/io/formats/parquet.js';
import { connect, duckdbError, loadDuckdb } from '../../../../src/io/formats/subprocess/duckdb.js';
import { BATCH_ROWS } from '../../../../src/io/formats/subprocess/protocol.js';
import { withOutput } from '../../../../src/io/streams/output.js';
import { openSource } from '../../../../src/io/streams/raw.js';
import { AbortedError, IoError, MemoryError, PackageError } from '../../../../src/util/errors.js';
import { packageRoot } from '../../../../src/util/paths.js';
import { scratchFolder } from '../../../cli/cli.js';
import { where } from '../../../where.js';
import { nothing, read, someKeys, write } from './files.js';

const { path, folder, remove } = scratchFolder();
test.after.always(remove);

const onLinux = where(existsSync('/proc/self/stat'), 'there is no /proc', test.serial);

/** Subprocesses of a process that read or write files, by their pids. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const isOurs = readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('subprocess/child.js');
        return isOurs && state !== 'Z' && Number(ppid) === parent;
      } catch {
        return false; // exited meanwhile, or not a process
      }
    });
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
};

async function gone(pid: number): Promise<boolean> {
  for (let i = 0; i < 100; i++, await setTimeout(50)) if (!isAlive(pid)) return true;
  return false;
}

const LARGE = 12 * BATCH_ROWS;

/** Opens a large file and reads one piece of it. */
async function begun(signal?: AbortSignal) {
  const name = path('large.parquet');
  if (!existsSync(name)) await write(parquet, name, { dtype: 'u64', keys: someKeys('u8', 8 * LARGE) });
  const before = new Set(childrenOf(process.pid));
  const source = await openSource(name, nothing(), signal);
  const reader = await parquet.open(source, { signal });
  const pieces = reader.pieces();
  await pieces.next();
  const [pid = 0] = childrenOf(process.pid).filter((child) => !before.has(child));
  const rest = async (): Promise<void> => {
    for await (const _ of pieces);
  };
  const close = () => reader.close().then(() => source.close());
  return { pid, rest, close };
}

onLinux('a child killed while reading is an IoError that names the signal', async (t) => {
  const { pid, rest, close } = await begun();
  t.true(isAlive(pid));
  process.kill(pid, 'SIGSEGV');
  await t.throwsAsync(rest(), { instanceOf: IoError, message: /ended without a result \(SIGSEGV\)/ });
  await close();
});

onLinux('an abort rejects with an AbortedError and ends the child', async (t) => {
  const controller = new AbortController();
  const { pid, rest, close } = await begun(controller.signal);
  controller.abort();
  await t.throwsAsync(rest(), { instanceOf: AbortedError });
  t.true(await gone(pid));
  await close();
});

onLinux('a slow consumer holds the child up, and closing the reader early ends it', async (t) => {
  const { pid, close } = await begun();
  await setTimeout(500);
  t.true(isAlive(pid)); // it waits: most of the file is still unread
  await close();
  t.false(isAlive(pid));
});

onLinux('a child ends when its parent is killed', async (t) => {
  await (await begun()).close();
  const program = `
    import { Readable } from 'node:stream';
    import { parquet } from '${pathToFileURL(join(packageRoot, 'dist/src/io/formats/parquet.js'))}';
    import { openSource } from '${pathToFileURL(join(packageRoot, 'dist/src/io/streams/raw.js'))}';
    const reader = await parquet.open(await openSource(process.argv[1], Readable.from([])), {});
    console.log('open');
    setInterval(() => undefined, 1000);
  `;
  const args = ['--input-type=module', '-e', program, path('large.parquet')];
  const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const chunk of parent.stdout as Readable) if (`${chunk}`.includes('open')) break;
  const [child = 0] = childrenOf(parent.pid ?? 0);
  t.true(isAlive(child));
  parent.kill('SIGKILL');
  t.true(await gone(child));
});

onLinux('a killed writer process is an IoError and leaves no file', async (t) => {
  const controller = new AbortController();
  const keys = someKeys('u8', 8 * LARGE);
  const writing = write(ndjson, path('killed.ndjson'), {
    dtype: 'u64',
    keys,
    options: { signal: controller.signal },
  });
  let pid: number | undefined;
  while (pid === undefined) [pid] = await setTimeout(20, childrenOf(process.pid));
  process.kill(pid, 'SIGKILL');
  await t.throwsAsync(writing, { instanceOf: IoError, message: /cannot write .*SIGKILL/ });
  t.deepEqual(
    readdirSync(folder).filter((name) => name.includes('killed')),
    [],
  );
});

onLinux('discarding an output ends its writer process', async (t) => {
  const controller = new AbortController();
  for (const name of [path('dropped.arrow'), '-']) {
    const before = new Set(childrenOf(process.pid));
    let pid = 0;
    const context = { stdout: new Writable(), signal: controller.signal };
    const failing = withOutput(name, context, async (output) => {
      const writer = await parquet.create(output, { dtype: 'u8', n: 5, shape: [5] }, {});
      await writer.write(new Uint8Array(5));
      [pid = 0] = childrenOf(process.pid).filter((child) => !before.has(child));
      throw new RangeError('something else');
    });
    await t.throwsAsync(failing, { instanceOf: RangeError });
    t.true(pid > 0 && (await gone(pid)), name);
  }
});

test('file names with quotes, newlines, statements and patterns are taken literally', async (t) => {
  const name = path(`a*b?[c]{d,e}'; DROP TABLE x; --"\n$HOME.csv`);
  writeFileSync(path(`aXbYc{d,e}'; DROP TABLE x; --"\n$HOME.csv`), 'k\n77\n');
  const keys = someKeys('u32', 10);
  for (const format of [csv, parquet]) {
    await write(format, name, { dtype: 'u32', keys });
    t.true((await read(format, name, { dtype: 'u32' })).keys.equals(keys));
  }
  const missing = path('a*.csv');
  await t.throwsAsync(read(csv, missing), { instanceOf: IoError, message: /no such file/ });
});

test('DuckDB accesses only the one file and loads no extension, and its settings are locked', async (t) => {
  const connection = await connect(await loadDuckdb());
  writeFileSync(path('other.csv'), '1\n');
  for (const [sql, message] of [
    [`FROM read_csv('${path('other.csv')}')`, /Permission/],
    [`FROM '${path('*')}'`, /Permission|does not exist/],
    ["FROM glob('/*')", /Permission/],
    [`COPY (SELECT 1) TO '${path('made.csv')}'`, /Permission/],
    [`ATTACH '${path('made.db')}'`, /Permission/],
    ["FROM read_csv('http://127.0.0.1:9/x.csv')", /Permission|extension|disabled/],
    ['INSTALL httpfs', /Permission|disabled/],
    ['LOAD httpfs', /Permission|disabled/],
    ['SET enable_external_access = true', /locked|Cannot/],
    ["SET memory_limit = '9GB'", /locked/],
  ] as const) {
    await t.throwsAsync(connection.run(sql), { message }, sql);
  }
  t.false(existsSync(path('made.csv')));
});

test('no SQL statement of a format sorts or loads an extension', (t) => {
  const sources = join(packageRoot, 'src/io/formats');
  const texts = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(sources, name), 'utf8'));
  t.true(texts.some((source) => source.includes('COPY (')));
  for (const source of texts) {
    t.notRegex(source, /order\s+by|array_sort|list_sort/i);
    t.notRegex(source, /\bINSTALL\b|\bLOAD\b/);
  }
});

test('errors of DuckDB become errors of memory, of I/O and of the format', (t) => {
  const of = (message: string) => duckdbError(new Error(message)) as Error;
  t.true(of('Out of Memory Error: could not allocate block of size 256.0 KiB') instanceof MemoryError);
  t.true(of('IO Error: Could not write file "/dev/fd/3": No space left on device') instanceof IoError);
  t.is(
    of("Conversion Error: Could not convert 'x'\n\nLINE 1: SELECT 1\n  ^").message,
    "Could not convert 'x'",
  );
  t.true(of(`Invalid Input Error: ${'x'.repeat(1e6)}`).message.length < 1000);
  t.is(of('something else').message, 'something else');
});

test('a package that is not installed is an error with the install command', async (t) => {
  const bare = path('bare');
  cpSync(join(packageRoot, 'dist/src'), join(bare, 'dist/src'), {
    recursive: true,
    filter: (name) => !/\.(map|d\.ts)$/.test(name),
  });
  cpSync(join(packageRoot, 'package.json'), join(bare, 'package.json'));
  mkdirSync(dirname(path('some/file')), { recursive: true });
  writeFileSync(path('some.csv'), 'k\n1\n');
  const program = `
    import { Readable } from 'node:stream';
    const { openSource } = await import('${pathToFileURL(join(bare, 'dist/src/io/streams/raw.js'))}');
    for (const [file, name] of [['parquet', 'parquet'], ['arrow', 'arrow']]) {
      const { [name]: format } = await import('${pathToFileURL(join(bare, 'dist/src/io/formats'))}/' + file + '.js');
      const source = await openSource(process.argv[1], Readable.from([]));
      await format.open(source, {}).catch(({ code, message }) => console.log(code, message));
      await source.close();
    }
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, path('some.csv')], {
    cwd: '/',
    env: { CLSORT_ROOT: bare },
  });
  const [printed, failed] = await Promise.all([text(child.stdout), text(child.stderr)]);
  t.is(failed, '');
  const lines = printed.trim().split('\n');
  for (const [i, name] of ['parquet-wasm apache-arrow', 'apache-arrow'].entries()) {
    t.true(lines[i]?.startsWith(new PackageError('').code));
    t.regex(lines[i] ?? '', new RegExp(`not installed\\. Run npm install ${name}, `));
  }
});

test('a child inherits only the environment variables that its loader needs', (t) => {
  const program = `
    import { ReaderProcess } from '${pathToFileURL(join(packageRoot, 'dist/src/io/formats/subprocess/reader-process.js'))}';
    import { openSync, readdirSync, readFileSync } from 'node:fs';
    const child = new ReaderProcess({ name: 'x', what: 'read', fd: openSync('/dev/null', 'r') });
    const pid = readdirSync('/proc').find((pid) => {
      try { return readFileSync('/proc/' + pid + '/stat', 'latin1').split(') ')[1]?.split(' ')[1] === String(process.pid); } catch { return false; }
    });
    const wait = setInterval(async () => {
      if (!readFileSync('/proc/' + pid + '/cmdline', 'latin1').includes('child.js')) return;
      clearInterval(wait);
      console.log(JSON.stringify(readFileSync('/proc/' + pid + '/environ', 'latin1')));
      await child.close();
    }, 20);
  `;
  const env = { SECRET: 'x', NODE_OPTIONS: '--no-warnings', LD_LIBRARY_PATH: '/nowhere' };
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env,
    encoding: 'utf8',
  });
  t.is(JSON.parse(stdout || 'null'), 'LD_LIBRARY_PATH=/nowhere\0', stderr);
});
