/**
 * A batch of many files, some of them broken, on two devices. The batch is killed repeatedly, and its result is checked
 * for properties that hold in every case.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { generate } from '../../src/io/operations/gen.js';
import type { Dtype } from '../../src/keys/dtype.js';
import { clsort, type Ran } from '../cli/cli.js';
import { layerEnvironment } from '../layer/layer.js';
import { referenceSort } from '../reference.js';

const DTYPES: readonly Dtype[] = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'f32', 'u64', 'i64', 'f64'];
const DESCR: Partial<Record<Dtype, string>> = {
  u32: '<u4',
  i32: '<i4',
  f32: '<f4',
  u64: '<u8',
  i64: '<i8',
  f64: '<f8',
};

export interface StressJob {
  readonly in: string;
  readonly out: string;
  readonly [option: string]: unknown;
}

export interface StressBatch {
  readonly good: readonly (StressJob & { readonly expected: () => Buffer })[];
  readonly bad: readonly StressJob[];
  /** Environment variables of the batch. */
  readonly env: NodeJS.ProcessEnv;
  /** Removes the files outside the folder. */
  readonly remove: () => void;
}

function npy(bytes: Uint8Array, descr: string, n: number): Buffer {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${n},), }`;
  const header = Buffer.from(`${text.padEnd(117)}\n`);
  return Buffer.concat([
    Buffer.from('\x93NUMPY\x01\x00', 'latin1'),
    Buffer.from([header.length, 0]),
    header,
    bytes,
  ]);
}

/**
 * Writes the input files.
 * @param folder an empty folder
 */
export function makeStressBatch(folder: string, { good, bad }: { good: number; bad: number }): StressBatch {
  const at = (name: string): string => join(folder, name);
  mkdirSync(at('in'));
  const jobs = Array.from({ length: good }, (_, i) => goodJob(at, i));
  const isMounted =
    spawnSync('sh', ['-c', `mkdir '${at('full')}' && mount -t tmpfs -o size=64k none '${at('full')}'`])
      .status === 0;
  const broken = Array.from({ length: bad }, (_, i) => badJob(at, i, isMounted));
  writeFileSync(at('control'), '');
  return {
    good: jobs,
    bad: broken,
    env: {
      ...layerEnvironment(at('control')),
      CLSORT_CACHE_DIR: at('cache'),
      CLSORT_LAYER_ABORT: 'bitonic_block',
      POCL_DEVICES: 'pthread pthread',
    },
    remove: () => isMounted && execFileSync('umount', [at('full')]),
  };
}

function goodJob(at: (name: string) => string, i: number): StressBatch['good'][number] {
  const dtype = DTYPES[i % DTYPES.length] as Dtype;
  // Most files are small, some are large, and a few are empty.
  const count = i % 97 === 0 ? 0 : i % 10 === 0 ? 100_000 + i : 10 + ((i * 7919) % 5000);
  const keys = Buffer.from(generate({ dtype, count, distribution: i % 3 ? 'uniform' : 'sorted', seed: i }));
  const descending = i % 4 === 1;
  const sorted = () => Buffer.from(referenceSort(keys, dtype, { descending }));
  const descr = i % 5 === 2 ? DESCR[dtype] : undefined;
  const isGzip = !descr && i % 5 === 3;
  const name = descr ? `in/${i}.npy` : `in/${i}.${dtype}${isGzip ? '.gz' : ''}`;
  writeFileSync(at(name), descr ? npy(keys, descr, count) : isGzip ? gzipSync(keys, { level: 1 }) : keys);
  return {
    in: name,
    out: `out/${i % 7}/${i}.${dtype}`,
    ...(descending && { descending }),
    ...(i % 11 === 0 && { verify: true }),
    ...(i % 13 === 0 && { device: i % 2 ? '0:0' : '0:1' }),
    expected: sorted,
  };
}

/** Ways in which a job may be broken. */
function badJob(at: (name: string) => string, i: number, isMounted: boolean): StressJob {
  const input = `in/bad ${i}`;
  const file = (extension: string, bytes: Uint8Array | string): string => {
    writeFileSync(at(`${input}.${extension}`), bytes);
    return `${input}.${extension}`;
  };
  const out = `out/bad ${i}.u32`;
  const ways: readonly (() => StressJob)[] = [
    () => ({ in: file('u32', Buffer.alloc(1001)), out }), // cut within a key
    () => {
      const whole = file('npy', npy(Buffer.alloc(4000), '<u4', 1000));
      truncateSync(at(whole), 2000);
      return { in: whole, out };
    },
    () => ({ in: file('npy', Buffer.alloc(5000, 7)), out }), // another magic
    () => ({ in: file('npy', ''), out }),
    () => {
      mkdirSync(at(`${input}.u32`));
      return { in: `${input}.u32`, out };
    },
    // Mounting a small disk requires root; otherwise a folder that accepts no file stands in.
    () => ({ in: file('u32', Buffer.alloc(200_000)), out: isMounted ? `full/${i}.u32` : `/proc/${i}.u32` }),
    () => {
      symlinkSync('nowhere', at(`${input}.u32`));
      return { in: `${input}.u32`, out };
    },
    () => {
      spawnSync('mkfifo', [at(`${input}.u32`)]);
      return { in: `${input}.u32`, out };
    },
    () => ({ in: '/proc/self/mem', out, dtype: 'u32' }),
    () => ({ in: `no folder ${i}/a.u32`, out }),
    () => ({ in: file('u32', Buffer.alloc(4000)), out, algorithm: 'bitonic' }), // the driver aborts
    () => ({ in: file('u32.gz', gzipSync(Buffer.alloc(4000)).subarray(0, 20)), out }),
    () => ({ in: file('u32', Buffer.alloc(4000)), out: `in/bad ${i}.u32/within a file.u32` }),
    () => ({ in: file('zip', 'PK\x03\x04'.padEnd(4096)), out, dtype: 'u32' }),
  ];
  return (ways[i % ways.length] as () => StressJob)();
}

export interface StressResult {
  readonly ran: Ran;
  /** Number of kills. */
  readonly kills: number;
  /** Modification times of the outputs that the journal contained at the last kill. */
  readonly before: ReadonlyMap<string, number>;
}

/**
 * Runs the batch repeatedly and kills it shortly after the journal has grown by this many records; finally lets it end.
 */
export async function runWithKills(
  folder: string,
  { good, bad, env }: StressBatch,
  kills: readonly number[],
  args: readonly string[],
): Promise<StressResult> {
  const manifest = join(folder, 'jobs.json');
  const jobs = [...good.map(({ expected: _, ...job }) => job), ...bad].toSorted(
    (a, b) =>
      ((a.out.length * 31 + a.out.charCodeAt(4)) % 17) - ((b.out.length * 31 + b.out.charCodeAt(4)) % 17),
  );
  writeFileSync(manifest, JSON.stringify({ devices: ['0:0', '0:1'], jobs }));
  const line = ['batch', manifest, '--json', ...args];
  let killed = 0;
  for (const records of kills) {
    const enough = journalOf(folder).length + records;
    const ran = await clsort(line, {
      env,
      onStart: async (child) => {
        while (child.exitCode === null && journalOf(folder).length < enough) await sleep(20);
        await sleep(Math.random() * 50);
        child.kill('SIGKILL');
      },
    });
    if (ran.signal === 'SIGKILL') killed++;
  }
  const before = new Map(
    journalOf(folder)
      .filter(({ outcome }) => outcome === 'ok')
      .map(({ out }) => [out, statSync(join(folder, out)).mtimeMs]),
  );
  return { ran: await clsort(line, { env }), kills: killed, before };
}

/** The last record of each output. */
export function journalOf(folder: string): { out: string; outcome: string }[] {
  const path = join(folder, 'jobs.json.journal');
  if (!existsSync(path)) return [];
  // The last line may be incomplete.
  const [, ...lines] = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const records = lines.map((line) => JSON.parse(line) as { out: string; outcome: string });
  return [...new Map(records.map((record) => [record.out, record])).values()];
}

/** Temporary files in a folder and below it. */
export const leftovers = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tmp$|clsort-state/.test(name),
  );
