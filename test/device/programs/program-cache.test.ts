/** Binaries of programs on disk: used once they exist, and never when anything about them is wrong. */
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Device } from '../../../src/device/device.js';
import type { DeviceInfo } from '../../../src/device/platform/platform.js';
import { quirksOf } from '../../../src/device/platform/quirks.js';
import { MAX_FILES, ProgramCache } from '../../../src/device/programs/program-cache.js';
import { enqueueGlobalHistogram } from '../../../src/primitives/histogram.js';
import { takeCacheWarning } from '../../../src/util/cache.js';
import { readSelfTestRecord, storeSelfTestRecord } from '../../../src/util/self-test-records.js';
import { deviceNames, PLATFORMS } from '../../each-device.js';

const folder = mkdtempSync(join(tmpdir(), 'clsort-programs-'));
process.env.CLSORT_CACHE_DIR = folder;
process.env.CLSORT_PROGRAM_CACHE = 'always';
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const programs = join(folder, 'programs');
const files = () => readdirSync(programs).toSorted();
const empty = () => rmSync(programs, { recursive: true, force: true });

/**
 * Counts keys on a reopened device.
 * @returns what its programs were built from
 */
async function count(t: ExecutionContext, spec: string): Promise<string[]> {
  const device = await Device.open(spec);
  try {
    const origins: string[] = [];
    const compile = device.program.bind(device);
    device.program = async (...args) => {
      const program = await compile(...args);
      origins.push(program.origin);
      return program;
    };
    const keys = Uint32Array.from({ length: 1000 }, (_, i) => i);
    const buffer = device.buffer(keys.byteLength);
    device.queue.write(buffer, keys);
    const binning = { bits: [0, 2] } as const;
    const work = { keys: buffer, n: keys.length, dtype: 'u32', binning } as const;
    const readCounts = await enqueueGlobalHistogram(device, work);
    await device.queue.finish();
    const counts = readCounts();
    buffer.release();
    t.deepEqual(counts, Uint32Array.of(250, 250, 250, 250));
    return [...new Set(origins)];
  } finally {
    await device.close();
  }
}

for (const name of deviceNames()) {
  const spec = PLATFORMS[name] ?? name;

  test.serial(`${name}: a program that was compiled before is built from its cached binary`, async (t) => {
    empty();
    t.deepEqual(await count(t, spec), ['source']);
    const cached = files();
    t.true(cached.length > 0);
    t.deepEqual(await count(t, spec), ['binary']);
    t.deepEqual(await count(t, spec), ['binary']);
    t.deepEqual(files(), cached);
  });

  test.serial(`${name}: damaged, truncated and foreign cache files are ignored and rewritten`, async (t) => {
    empty();
    await count(t, spec);
    const cached = files();
    const damages: Record<string, (whole: Buffer) => Uint8Array> = {
      'a bit': (whole) => Buffer.from(whole.map((byte, i) => (i === whole.length - 1 ? byte ^ 1 : byte))),
      'the end is gone': (whole) => whole.subarray(0, -1),
      'half is gone': (whole) => whole.subarray(0, whole.length / 2),
      'only the seal': (whole) => whole.subarray(0, whole.indexOf('\n') + 1),
      'another key': (whole) =>
        Buffer.from(whole.toString('latin1').replace(/\n.{8}/, '\n01234567'), 'latin1'),
      nothing: () => Buffer.alloc(0),
      garbage: () => Buffer.from('no program'),
      'a byte more': (whole) => Buffer.concat([whole, Buffer.of(0)]),
    };
    for (const [what, damage] of Object.entries(damages)) {
      for (const file of cached) {
        const path = join(programs, file);
        writeFileSync(path, damage(readFileSync(path)));
      }
      t.deepEqual(await count(t, spec), ['source'], what);
      t.deepEqual(await count(t, spec), ['binary'], what);
    }
    t.deepEqual(files(), cached);
  });

  test.serial(`${name}: binaries that were sealed with another key are not loaded`, async (t) => {
    empty();
    const theirs = join(folder, 'theirs');
    process.env.CLSORT_CACHE_DIR = theirs;
    t.deepEqual(await count(t, spec), ['source']);
    t.deepEqual(await count(t, spec), ['binary']);
    process.env.CLSORT_CACHE_DIR = folder;
    cpSync(join(theirs, 'programs'), programs, { recursive: true });
    t.true(files().length > 0);
    t.deepEqual(await count(t, spec), ['source']);
    t.deepEqual(await count(t, spec), ['binary']);
  });
}

const info: DeviceInfo = {
  id: '0:0',
  type: 'gpu',
  name: 'D',
  vendor: 'V',
  platform: 'P',
  driver: '1',
  version: 'OpenCL 1.2',
} as DeviceInfo;
const text = { source: 'kernel void k() {}', options: '-DA=1' };

const cacheOf = (device: DeviceInfo = info): ProgramCache => {
  const cache = ProgramCache.of(device, quirksOf(device));
  if (!cache) throw new Error('no cache');
  return cache;
};

test.serial('a cached binary applies to one platform, device, driver, source and options only', async (t) => {
  empty();
  const binary = Uint8Array.of(1, 2, 3);
  cacheOf().save(text, binary);
  const load = (cache: ProgramCache, one = text) => cache.load(one, async (found) => found);
  t.deepEqual(await load(cacheOf()), binary);
  for (const other of [{ platform: 'Q' }, { name: 'E' }, { driver: '2' }, { version: 'OpenCL 3.0' }]) {
    t.is(await load(cacheOf({ ...info, ...other })), undefined);
  }
  t.is(await load(cacheOf(), { ...text, source: `${text.source} ` }), undefined);
  t.is(await load(cacheOf(), { ...text, options: '-DA=2' }), undefined);
  // The file name of the other program must not be accepted either.
  const other = cacheOf({ ...info, driver: '2' });
  other.save(text, binary);
  const [own = '', otherFile = ''] = files();
  renameSync(join(programs, own), join(programs, otherFile));
  t.is([await load(cacheOf()), await load(other)].filter((found) => found !== undefined).length, 0);
});

test.serial('a binary that the driver rejects or that crashes the process is not loaded again', async (t) => {
  empty();
  const binary = Uint8Array.of(1, 2, 3);
  cacheOf().save(text, binary);
  t.is(await cacheOf().load(text, () => Promise.reject(new Error('no'))), undefined);
  t.deepEqual(files(), []);
  cacheOf().save(text, binary);
  void cacheOf().load(text, () => new Promise(() => undefined)); // as if the process ended here
  t.is(await cacheOf().load(text, async (found) => found), undefined);
});

/** Runs `use` while the cache belongs to this user but cannot be written. Root uses it as another user. */
async function withReadOnlyCache(use: () => Promise<void>): Promise<void> {
  const all = [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))];
  const isRoot = process.geteuid?.() === 0;
  const user = isRoot ? 65_534 : (process.geteuid?.() ?? 0);
  if (isRoot) for (const path of all) chownSync(path, user, user);
  for (const path of [folder, programs]) chmodSync(path, 0o500);
  process.seteuid?.(user);
  try {
    await use();
  } finally {
    process.seteuid?.(isRoot ? 0 : user);
    if (isRoot) for (const path of all) chownSync(path, 0, 0);
    for (const path of [folder, programs]) chmodSync(path, 0o700);
  }
}

test.serial(
  'a read-only cache is read, nothing is written, and a missing entry causes one warning',
  async (t) => {
    empty();
    const binary = Uint8Array.of(1, 2, 3);
    const key = ['P', 'D', '1', 'variant'] as const;
    cacheOf().save(text, binary);
    t.true(storeSelfTestRecord(key, undefined).ok);
    const before = readdirSync(folder, { recursive: true });
    await withReadOnlyCache(async () => {
      for (let i = 0; i < 2; i++) t.deepEqual(await cacheOf().load(text, async (found) => found), binary);
      t.is(await cacheOf().load(text, () => Promise.reject(new Error('no'))), undefined);
      t.true(readSelfTestRecord(key)?.ok);
      t.is(takeCacheWarning(), undefined);
      cacheOf().save({ ...text, options: '-DA=2' }, binary);
      t.regex(takeCacheWarning()?.message ?? '', /permission denied/);
      cacheOf().save({ ...text, options: '-DA=3' }, binary);
      t.is(takeCacheWarning(), undefined);
    });
    t.deepEqual(readdirSync(folder, { recursive: true }), before);
  },
);

test.serial('the cache size is limited: the files that were used longest ago are deleted', async (t) => {
  empty();
  cacheOf().save(text, Uint8Array.of(1));
  const [own = ''] = files();
  const past = (year: number) => new Date(year, 1, 1);
  utimesSync(join(programs, own), past(2020), past(2020));
  for (let i = 0; i < MAX_FILES; i++) {
    writeFileSync(join(programs, `${i}.sealed`), '');
    utimesSync(join(programs, `${i}.sealed`), past(2021), past(2021));
  }
  t.deepEqual(await cacheOf().load(text, async (found) => found), Uint8Array.of(1));
  cacheOf().save({ ...text, options: '-DA=2' }, Uint8Array.of(2));
  t.is(files().length, MAX_FILES / 2);
  t.true(files().includes(own), 'it was made first, but used last');
  t.deepEqual(await cacheOf().load(text, async (found) => found), Uint8Array.of(1));
});

test.serial('drivers with their own cache use ours only if CLSORT_PROGRAM_CACHE is always', (t) => {
  const pocl = { ...info, platform: 'Portable Computing Language' };
  t.truthy(ProgramCache.of(pocl, quirksOf(pocl)));
  process.env.CLSORT_PROGRAM_CACHE = 'never';
  t.is(ProgramCache.of(info, quirksOf(info)), undefined);
  delete process.env.CLSORT_PROGRAM_CACHE;
  t.is(ProgramCache.of(pocl, quirksOf(pocl)), undefined);
  t.truthy(ProgramCache.of(info, quirksOf(info)));
  process.env.CLSORT_PROGRAM_CACHE = 'always';
});
