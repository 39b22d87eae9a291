/** Measures the first results of new processes: of the library, of the command, and of NumPy and CuPy. */
import { execFile, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { DeviceInfo } from '../device/platform/platform.js';
import { generate } from '../io/operations/gen.js';
import type { CallOperation } from '../sort/operations/case.js';
import { TIMED_OPERATIONS } from '../sort/operations/cases.js';
import { packageFolder, programFile } from '../util/package.js';
import { invalidName } from '../util/suggest.js';
import type { CallBench } from './calls.js';
import { PEER_PROGRAM } from './first-peers.js';

/** A call on host arrays. */
export interface FirstCall {
  /** One of the calls that peers also make, or an operation of `TIMED_OPERATIONS`. */
  readonly operation: string;
  readonly dtype: 'f64' | 'u32';
  readonly n: number;
  /** Number of distinct keys; all keys are random if it is omitted. */
  readonly distinct?: number;
}

/** The argument of a process. */
export interface FirstRequest {
  /** URL of the library. */
  readonly library: string;
  readonly device: string;
  readonly call: FirstCall;
  readonly calls: number;
}

/** Seconds of one process; `last` is the last of its calls. */
export interface FirstTimes {
  readonly import: number;
  readonly open?: number;
  readonly first: number;
  /** Seconds of the first call in which programs were built, and kernels tested. */
  readonly build?: number;
  readonly selfTest?: number;
  readonly second: number;
  readonly last: number;
  readonly ok: boolean;
}

export interface FirstRow extends FirstCall, Partial<Omit<FirstTimes, 'ok'>> {
  readonly by: 'clsort' | (typeof PEERS)[number];
  /** Whether the caches of programs were empty. */
  readonly caches: 'cold' | 'warm';
  /** Seconds of a whole command that reads and writes a file. */
  readonly command?: number;
  readonly result: 'ok' | 'wrong' | 'missing' | 'error';
  readonly reason?: string;
}

export const FIRST_SCHEMA = 'clsort.bench.first/1';

export interface FirstBench extends Omit<CallBench, 'schema' | 'rows'> {
  readonly schema: typeof FIRST_SCHEMA;
  readonly node: string;
  /** Number of calls of each process. */
  readonly calls: number;
  readonly rows: readonly FirstRow[];
}

/** Calls that peers also make, with the words of the command that does the same with a file. */
const BESIDE_PEERS: readonly (Omit<FirstCall, 'n'> & { readonly words?: readonly string[] })[] = [
  { operation: 'sort', dtype: 'f64', words: ['sort'] },
  { operation: 'sort', dtype: 'u32', words: ['sort'] },
  { operation: 'argsort', dtype: 'f64', words: ['sort', '--argsort'] },
  { operation: 'unique', dtype: 'u32', distinct: 1000, words: ['unique'] },
  { operation: 'topK', dtype: 'u32', words: ['topk', '-k', '100'] },
  { operation: 'segmentedSort', dtype: 'u32' },
  { operation: 'scan', dtype: 'u32', words: ['scan'] },
  { operation: 'reduce', dtype: 'u32' },
];

const operationOf = ({ name }: CallOperation): string => name.replace(/-.*/, '');

/** One call of each operation; of those with variants, the first. */
const OPERATIONS: typeof BESIDE_PEERS = [
  ...BESIDE_PEERS,
  ...TIMED_OPERATIONS.filter(
    (one, i) =>
      !BESIDE_PEERS.some(({ operation }) => operation === operationOf(one)) &&
      TIMED_OPERATIONS.findIndex((other) => operationOf(other) === operationOf(one)) === i,
  ).map((one) => ({ operation: operationOf(one), dtype: 'u32' as const })),
];

const PEERS = ['numpy', 'cupy'] as const;

export interface FirstOptions {
  readonly device: DeviceInfo;
  /** Name of the device for the processes. */
  readonly spec: string;
  readonly operations: readonly string[];
  readonly n: number;
  readonly calls: number;
  /** Whether only the commands of sorts are measured. */
  readonly quick: boolean;
  /** File of the command. */
  readonly main: string;
  readonly onRow: (row: FirstRow) => void;
  readonly signal: AbortSignal;
}

/**
 * Measures each operation in new processes, with empty caches and again with the caches that these processes filled.
 * Results are compared with those of the host engine, and those of CuPy with NumPy's.
 *
 * @throws UsageError when an operation is unknown
 */
export async function benchFirst(options: FirstOptions): Promise<FirstBench> {
  const { device, operations, n, calls, onRow, signal } = options;
  const known = [...new Set(OPERATIONS.map(({ operation }) => operation))];
  for (const word of operations)
    if (word !== 'all' && !known.includes(word)) throw invalidName('operation', word, ['all', ...known]);
  const [load = 0] = loadavg();
  const folder = mkdtempSync(join(tmpdir(), 'clsort-first-'));
  const rows: FirstRow[] = [];
  const add = (row: FirstRow): void => {
    rows.push(row);
    onRow(row);
  };
  const missing = new Set<string>();
  try {
    for (const [i, operation] of OPERATIONS.entries()) {
      const { words, ...one } = operation;
      if (!operations.includes('all') && !operations.includes(one.operation)) continue;
      const call: FirstCall = { ...one, n };
      const file = join(folder, `keys.${call.dtype}`);
      writeFileSync(file, generate({ dtype: call.dtype, count: n, distribution: 'uniform', seed: 1 }));
      const hasCommand = words !== undefined && (!options.quick || call.operation === 'sort');
      for (const caches of ['cold', 'warm'] as const) {
        if (signal.aborted) break;
        const ran = await ofClsort(options, call, join(folder, `api ${i}`));
        const command = hasCommand
          ? await commandOf(options, [...words, file], join(folder, `command ${i}`))
          : {};
        add({ ...call, by: 'clsort', caches, ...ran, ...command });
      }
      for (const peer of BESIDE_PEERS.includes(operation) ? PEERS : []) {
        // NumPy compiles nothing.
        for (const caches of peer === 'numpy' ? (['warm'] as const) : (['cold', 'warm'] as const)) {
          if (signal.aborted || missing.has(peer)) break;
          const row = await ofPeer(
            peer,
            call,
            calls,
            hasCommand ? file : undefined,
            join(folder, `${peer} ${i}`),
          );
          if (row.result === 'missing') missing.add(peer);
          add({ ...call, by: peer, caches, ...row });
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { name, platform, driver } = device;
  const date = new Date().toISOString().slice(0, 10);
  const facts = { device: name, platform, driver, date, node: process.versions.node, load, calls };
  return { schema: FIRST_SCHEMA, ...facts, rows };
}

/** Returns an environment in which all caches of programs are in the folder. */
const withCaches = (folder: string): NodeJS.ProcessEnv => ({
  ...process.env,
  CLSORT_CACHE_DIR: join(folder, 'clsort'),
  CUDA_CACHE_PATH: join(folder, 'cuda'),
  CUPY_CACHE_DIR: join(folder, 'cupy'),
  POCL_CACHE_DIR: join(folder, 'pocl'),
});

type Measured = Pick<FirstRow, 'result' | 'reason'> & Partial<FirstTimes>;

const resultOf = ({ ok, ...times }: FirstTimes): Measured => ({ ...times, result: ok ? 'ok' : 'wrong' });

const failed = (reason: unknown): Measured => ({
  result: 'error',
  reason: String(reason).trim().replaceAll(/\s+/g, ' '),
});

function ofClsort({ spec, calls }: FirstOptions, call: FirstCall, caches: string): Promise<Measured> {
  const library = pathToFileURL(join(packageFolder(), 'dist', 'lib', 'index.js')).href;
  const request: FirstRequest = { library, device: spec, call, calls };
  return new Promise((resolve) => {
    const child = fork(programFile('bench/first-process.js'), [JSON.stringify(request)], {
      env: withCaches(caches),
    });
    child.on('message', (times: FirstTimes | { readonly error: string }) =>
      resolve('error' in times ? failed(times.error) : resultOf(times)),
    );
    child.on('error', (error) => resolve(failed(error)));
    child.on('exit', (code, signal) => resolve(failed(`the process ended with ${signal ?? code}`)));
  });
}

const run = promisify(execFile);
const LIMIT = { maxBuffer: 2 ** 26 };

/** Measures a command, and compares its file with that of the host engine. */
async function commandOf(
  { main, spec }: FirstOptions,
  words: readonly string[],
  caches: string,
): Promise<Pick<FirstRow, 'command'> | Measured> {
  const env = withCaches(caches);
  const seconds = async (device: string, out: string): Promise<number> => {
    const started = performance.now();
    await run(process.execPath, [main, ...words, '--device', device, '-o', out], { ...LIMIT, env });
    return (performance.now() - started) / 1000;
  };
  try {
    const command = await seconds(spec, `${caches}.npy`);
    await seconds('host', `${caches} host.npy`);
    const same = readFileSync(`${caches}.npy`).equals(readFileSync(`${caches} host.npy`));
    return same ? { command } : { command, result: 'wrong', reason: 'the file of the command' };
  } catch (error) {
    return failed(error);
  }
}

async function ofPeer(
  peer: string,
  { operation, dtype, n, distinct = 0 }: FirstCall,
  calls: number,
  file: string | undefined,
  caches: string,
): Promise<Measured & Pick<FirstRow, 'command'>> {
  const python = (source: string) => {
    const words = [peer, operation, dtype === 'f64' ? 'f8' : 'u4', n, distinct, calls, source];
    return run('python3', ['-c', PEER_PROGRAM, ...words.map(String)], { ...LIMIT, env: withCaches(caches) });
  };
  try {
    const times = JSON.parse((await python('')).stdout) as FirstTimes | { readonly missing: string };
    if ('missing' in times) return { result: 'missing', reason: `python3 has no ${times.missing}` };
    if (file === undefined) return resultOf(times);
    const started = performance.now();
    await python(file);
    return { ...resultOf(times), command: (performance.now() - started) / 1000 };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isMissing ? { result: 'missing', reason: 'there is no python3' } : failed(error);
  }
}

const text = (seconds?: number): string => (seconds === undefined ? '' : (seconds * 1e3).toFixed(1));

export const firstHeadings = [
  ...[
    'operation',
    'dtype',
    'keys',
    'by',
    'caches',
    'result',
    'import ms',
    'open ms',
    'first ms',
    'build ms',
    'self-test ms',
  ],
  ...['second ms', 'last ms', 'command ms', 'reason'],
];

export const firstCells = (row: FirstRow): string[] => [
  ...[row.operation, row.dtype, String(row.n), row.by, row.caches, row.result],
  ...[row.import, row.open, row.first, row.build, row.selfTest, row.second, row.last, row.command].map(text),
  row.reason ?? '',
];
