/** The cache accepts only files of the user, and an unusable folder is a warning. */
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import ava, { type ExecutionContext } from 'ava';
import {
  addToCache,
  cacheFolder,
  readCache,
  readCacheFile,
  takeCacheWarning,
  writeCacheFile,
} from '../../src/util/cache.js';
import { packageRoot } from '../../src/util/paths.js';
import { where } from '../where.js';

const test = ava.serial; // each has the environment for itself
const run = promisify(execFile);

const scratch = mkdtempSync(join(tmpdir(), 'clsort-cache-'));
ava.after.always(() => rmSync(scratch, { recursive: true, force: true }));

const isRoot = process.geteuid?.() === 0;
const asRoot = where(isRoot, 'not run as root', test);
/** ID of the user and group `nobody`, who do not own the cache. */
const OTHER_USER = 65_534;

let folders = 0;
/** Sets a new cache folder, which does not exist yet. */
function newCache(): string {
  process.env.CLSORT_CACHE_DIR = join(scratch, `cache ${++folders}`);
  takeCacheWarning();
  return process.env.CLSORT_CACHE_DIR;
}

const modeOf = (path: string): string => (lstatSync(path).mode & 0o777).toString(8);

/** Asserts that the cache is refused with one warning that gives the reason. */
function isRefused(t: ExecutionContext, why: RegExp): void {
  const warning = takeCacheWarning();
  t.is(warning?.code, 'ERR_CLSORT_CACHE');
  t.regex(warning?.message ?? '', why);
  t.regex(warning?.message ?? '', /CLSORT_CACHE_DIR/);
}

const program = (code: string): string[] => [
  '--input-type=module',
  '--eval',
  `import * as cache from ${JSON.stringify(pathToFileURL(join(packageRoot, 'dist/src/util/cache.js')))};\n${code}`,
];

test('a cache file reads back as written, and only its owner can read it', async (t) => {
  const folder = newCache();
  t.is(readCacheFile('programs/a.sealed'), undefined);
  t.false(readdirSync(scratch).includes(folder), 'reading creates nothing');
  await run(process.execPath, program(`process.umask(0); cache.writeCacheFile('programs/a.sealed', 'abc');`));
  t.is(String(readCacheFile('programs/a.sealed')), 'abc');
  t.true(addToCache('one.sealed', { x: 1 }) && addToCache('one.sealed', { y: [2] }));
  t.deepEqual(readCache('one.sealed'), { x: 1, y: [2] });
  t.deepEqual(readdirSync(folder).toSorted(), ['key', 'one.sealed', 'programs']);
  for (const one of [folder, join(folder, 'programs')]) t.is(modeOf(one), '700');
  for (const one of ['key', 'one.sealed', 'programs/a.sealed']) t.is(modeOf(join(folder, one)), '600');
  t.is(takeCacheWarning(), undefined);
});

test('an impossible cache folder causes one warning and no endless loop', async (t) => {
  const file = join(scratch, 'a file');
  writeFileSync(file, '');
  for (const [folder, why] of [
    ['/dev/null', /\/dev\/null is not a folder/],
    [file, /is not a folder/],
    [join(file, 'below', 'it'), /part of the path is not a folder/],
    ['/proc/clsort/cache', /the folder cannot be created|permission denied/],
    ['/proc/self/fd/clsort', /the folder cannot be created|permission denied/],
    [join(scratch, 'x'.repeat(300)), /ENAMETOOLONG/],
  ] as const) {
    // In a separate process, since the fault would be an endless loop.
    const { stdout } = await run(
      process.execPath,
      program(`const wrote = [cache.writeCacheFile('a', 'b'), cache.writeCacheFile('p/a', 'b')];
        const { code, message } = cache.takeCacheWarning();
        console.log(JSON.stringify({ wrote, read: cache.readCacheFile('a'), code, message, again: cache.takeCacheWarning() }));`),
      { env: { ...process.env, CLSORT_CACHE_DIR: folder }, timeout: 20_000 },
    );
    const { wrote, code, message, ...rest } = JSON.parse(stdout);
    t.deepEqual(wrote, [false, false], folder);
    t.is(code, 'ERR_CLSORT_CACHE');
    t.regex(message, why);
    t.deepEqual(rest, {});
  }
});

test('a full disk causes a warning and leaves no partial file', async (t) => {
  const folder = newCache();
  t.true(writeCacheFile('a', 'before'));
  const code = `console.log(cache.writeCacheFile('a', 'after'), String(cache.readCacheFile('a')), cache.takeCacheWarning().message)`;
  const args = ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, ...program(code)];
  // The limit applies to files only, so the output goes to a pipe.
  const { stdout } = await run('sh', args);
  t.regex(stdout, /^false before cannot use the cache: .*EFBIG/);
  t.deepEqual(readdirSync(folder).toSorted(), ['a', 'key']);
});

asRoot('a read-only cache folder is read but not written (root)', async (t) => {
  const folder = newCache();
  t.true(writeCacheFile('a', 'kept'));
  for (const path of [folder, join(folder, 'a'), join(folder, 'key')])
    chownSync(path, OTHER_USER, OTHER_USER);
  chmodSync(scratch, 0o755);
  chmodSync(folder, 0o500);
  const code = `process.seteuid(${OTHER_USER});
    console.log(cache.writeCacheFile('a', 'b'), String(cache.readCacheFile('a')), cache.takeCacheWarning().message)`;
  const { stdout } = await run(process.execPath, program(code));
  t.regex(stdout, /^false kept cannot use the cache: .*permission denied/);
});

test('the cache refuses a folder or file that other users can write', (t) => {
  for (const [mode, sub] of [
    [0o770, ''],
    [0o702, ''],
    [0o777, 'programs'],
  ] as const) {
    const folder = newCache();
    t.true(writeCacheFile('programs/a', 'x'));
    chmodSync(join(folder, sub), mode);
    t.is(readCacheFile('programs/a'), undefined);
    isRefused(t, new RegExp(`can be written by other users \\(mode ${mode.toString(8)}\\).*chmod go-rwx`));
    t.false(writeCacheFile('programs/a', 'y'));
    chmodSync(join(folder, sub), 0o755); // as folders commonly are
    t.is(String(readCacheFile('programs/a')), 'x');
  }
  const folder = newCache();
  t.true(writeCacheFile('a', 'x'));
  chmodSync(join(folder, 'a'), 0o620);
  t.is(readCacheFile('a'), undefined);
  isRefused(t, /a can be written by other users/);
  t.true(writeCacheFile('a', 'y'), 'the folder is the user’s own, so the file is replaced');
  t.is(String(readCacheFile('a')), 'y');
});

asRoot('the cache refuses a folder or file of another user (root)', (t) => {
  for (const path of ['', 'programs', 'programs/a'] as const) {
    const folder = newCache();
    t.true(writeCacheFile('programs/a', 'x'));
    chownSync(join(folder, path), OTHER_USER, OTHER_USER);
    t.is(readCacheFile('programs/a'), undefined);
    isRefused(t, /belongs to another user \(uid 65534, not 0\)/);
    t.is(writeCacheFile('programs/a', 'y'), path === 'programs/a');
  }
});

test('the cache refuses symbolic links and named pipes without blocking', async (t) => {
  const there = newCache();
  t.true(writeCacheFile('programs/a', 'x'));
  symlinkSync(there, newCache());
  t.is(readCacheFile('programs/a'), undefined);
  isRefused(t, /is a symbolic link/);
  t.false(writeCacheFile('b', 'x'));

  const folder = newCache();
  t.true(writeCacheFile('b', 'x'));
  symlinkSync(join(there, 'programs'), join(folder, 'programs'));
  t.is(readCacheFile('programs/a'), undefined);
  isRefused(t, /programs is a symbolic link/);
  t.false(writeCacheFile('programs/c', 'x'));
  t.deepEqual(readdirSync(join(there, 'programs')), ['a']);

  const other = newCache();
  t.true(writeCacheFile('b', 'x'));
  renameSync(join(other, 'b'), join(other, 'c'));
  symlinkSync('c', join(other, 'b'));
  t.is(readCacheFile('b'), undefined);
  isRefused(t, /b is a symbolic link/);
  t.true(writeCacheFile('b', 'y'));
  t.true(lstatSync(join(other, 'b')).isFile(), 'the link is replaced, not its target');

  const last = newCache();
  t.true(writeCacheFile('b', 'x'));
  rmSync(join(last, 'b'));
  await run('mkfifo', [join(last, 'b')]);
  t.is(readCacheFile('b'), undefined);
  isRefused(t, /b is not a regular file/);
});

test('a cache file that was planted, altered or renamed counts as missing', (t) => {
  const folder = newCache();
  t.true(writeCacheFile('a', 'genuine') && writeCacheFile('b', 'genuine too'));
  const whole = readFileSync(join(folder, 'a'));
  const seal = (key: string | Buffer) => createHmac('sha256', key).update('a\0planted').digest('hex');
  for (const planted of [
    'planted',
    '',
    '\n',
    `clsort cache 1 ${seal('')}\nplanted`,
    `clsort cache 1 ${seal(Buffer.alloc(32))}\nplanted`,
    `clsort cache 1 \nplanted`,
    whole.subarray(0, -1),
    Buffer.concat([whole, Buffer.of(0)]),
    Buffer.from(whole.map((byte, i) => (i === whole.length - 1 ? byte ^ 1 : byte))),
    readFileSync(join(folder, 'b')),
  ]) {
    writeFileSync(join(folder, 'a'), planted, { mode: 0o600 });
    t.is(readCacheFile('a'), undefined, String(planted));
  }
  writeFileSync(join(folder, 'a'), whole);
  t.is(String(readCacheFile('a')), 'genuine');
  t.is(takeCacheWarning(), undefined);
});

test('a damaged or exposed key is replaced, and files sealed with it are ignored', (t) => {
  const spoil: Record<string, (key: string) => void> = {
    gone: (key) => rmSync(key),
    empty: (key) => writeFileSync(key, ''),
    short: (key) => writeFileSync(key, 'abc'),
    another: (key) => writeFileSync(key, Buffer.alloc(32)),
    folder: (key) => {
      rmSync(key);
      mkdirSync(key);
    },
    readable: (key) => chmodSync(key, 0o640),
    linked: (key) => {
      renameSync(key, `${key}.old`);
      symlinkSync(`${key}.old`, key);
    },
    ...(isRoot && { foreign: (key: string) => chownSync(key, OTHER_USER, OTHER_USER) }),
  };
  for (const [what, damage] of Object.entries(spoil)) {
    const key = join(newCache(), 'key');
    t.true(writeCacheFile('a', 'before'));
    const before = readFileSync(key);
    damage(key);
    t.is(readCacheFile('a'), undefined, what);
    t.true(writeCacheFile('b', 'after'), what);
    t.is(String(readCacheFile('b')), 'after');
    t.is(readCacheFile('a'), undefined, what);
    t.deepEqual([modeOf(key), readFileSync(key).length], ['600', 32], what);
    t.notDeepEqual(readFileSync(key), before, what);
    const warningTexts = takeCacheWarning() !== undefined;
    t.is(warningTexts, ['folder', 'readable', 'linked', 'foreign'].includes(what), what);
  }
});

test('empty or relative HOME and XDG_CACHE_HOME fall back to the home directory of the account', (t) => {
  const { HOME, XDG_CACHE_HOME, CLSORT_CACHE_DIR } = process.env;
  t.teardown(() => {
    for (const [name, value] of Object.entries({ HOME, XDG_CACHE_HOME, CLSORT_CACHE_DIR })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  for (const [home, cache] of [
    ['', ''],
    ['here', 'there'],
  ]) {
    Object.assign(process.env, { HOME: home, XDG_CACHE_HOME: cache, CLSORT_CACHE_DIR: '' });
    t.true(isAbsolute(cacheFolder()), cacheFolder());
    t.true(cacheFolder().startsWith(userInfo().homedir), cacheFolder());
  }
});

asRoot(
  'a user without an account has a private cache and refuses a folder of another user (root)',
  async (t) => {
    const code = `console.log(cache.readCacheFile('a'), cache.writeCacheFile('a', 'b'), String(cache.readCacheFile('a')))`;
    chmodSync(scratch, 0o755);
    const tmp = join(scratch, 'tmp');
    mkdirSync(tmp, { mode: 0o777 });
    chmodSync(tmp, 0o1777);
    const uid = 54_321;
    const asStranger = () => run(process.execPath, program(code), { uid, gid: uid, env: { TMPDIR: tmp } });
    t.is((await asStranger()).stdout, 'undefined true b\n');
    chownSync(join(tmp, `clsort-${uid}`), OTHER_USER, OTHER_USER);
    t.is((await asStranger()).stdout, 'undefined false undefined\n');
  },
);

test('when many processes create the key at once, all of them use one key', async (t) => {
  for (let round = 0; round < 3; round++) {
    newCache();
    const names = Array.from({ length: 6 }, (_, i) => `of ${i}`);
    const start = Date.now() + 1500;
    await Promise.all(
      names.map((name) =>
        run(
          process.execPath,
          program(`while (Date.now() < ${start}) await new Promise((done) => setTimeout(done, 1));
            if (!cache.writeCacheFile('${name}', '${name}')) throw cache.takeCacheWarning();`),
        ),
      ),
    );
    for (const name of names) t.is(String(readCacheFile(name)), name);
  }
});
