/** Programs in TypeScript see the declarations as strictly as this project does, whatever `lib` they have. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import * as library from '../src/index.js';
import * as binding from '../src/opencl/index.js';
import { packageRoot } from '../src/util/paths.js';
import { installInto } from './installed.js';

const named = (from: string, names: object): string =>
  Object.keys(names)
    .map((name) => `${from}.${name}`)
    .join(', ');

const PROGRAM = `
import * as library from 'clsort';
import * as binding from 'clsort/opencl';

export const everything: unknown[] = [${named('library', library)}, ${named('binding', binding)}];
export const floats: Float32Array = await library.sort(Float32Array.of(2, 1), { descending: true });
export const wide: BigUint64Array = await library.sort(BigUint64Array.of(2n, 1n));
const { keys, values } = await library.sortPairs(Float64Array.of(2, 1), Uint8Array.of(1, 2));
export const pairs: [Float64Array, Uint8Array] = [keys, values];

export const options: library.SortOptions = {
  algorithm: 'onesweep',
  bitRange: [0, 8],
  timeout: 1000,
  advanced: { radixBits: 4, scan: 'auto', tuning: { groupSize: 64 } },
};
export const algorithms: library.AlgorithmOption[] = ['auto', 'host', 'tiled', 'group', 'wide'];
export const code: library.ErrorCode = new library.UsageError('wrong').code;
export const error: library.ClsortError = new library.AbortedError('stopped', { details: { n: 1 } });
export const isMemory = (failure: library.ClsortError): boolean => failure.code === 'ERR_CLSORT_MEMORY';

const floats32 = Float32Array.of(2, 1);
const words = Uint32Array.of(2, 1);
export const sum: number = await library.reduce(floats32, 'sum');
export const total: bigint = await library.reduce(words, 'sum');
export const largest: number = await library.reduce(words, 'max');
export const bits: bigint = await library.reduce(words, 'max', { dtype: 'u64' });
const byKey = await library.reduceByKey(words, floats32, 'sum');
export const sums: Float32Array = byKey.values;
export const totals: BigUint64Array = (await library.reduceByKey(words, words, 'sum')).values;
export const maxima: Uint32Array = (await library.reduceByKey(words, words, 'max')).values;
await using sorter = await library.Sorter.open({ device: 'host' });
using there = await sorter.upload(words);
export const onDevice: number = await sorter.reduce(there, 'min');
export const totalsThere: library.DeviceArray<'u64'> = (await sorter.reduceByKey(there, there, 'sum')).values;

export const sharded: library.ShardedArray<'u32'> = await sorter.upload(words, { sharded: true });
export const same: library.ShardedArray<'u32'> = await sorter.upload(words, { spread: true });

// A vector by its shape: the program needs no types of apache-arrow.
interface Vector {
  readonly type: { readonly typeId: number };
  readonly data: readonly unknown[];
  readonly length: number;
  readonly nullCount: number;
  get(row: number): string | null;
}
declare const vector: Vector;
export const sortVector = (): Promise<Vector> => library.sort(vector, { nulls: 'first' });
export const argsortVector = (): Promise<Uint32Array> => sorter.argsort(vector, { descending: true });
export const topVector = async (): Promise<Vector> => (await library.topK(vector, 3, { largest: false })).keys;
export const uniqueVector = async (): Promise<[Vector, Uint32Array]> => {
  const { keys, inverse } = await sorter.unique(vector, { inverse: true });
  return [keys, inverse];
};

// @ts-expect-error sums of integers are BigInts
export const wrong: number = await library.reduce(words, 'sum');
// @ts-expect-error there is no such algorithm
await library.sort(Float32Array.of(2, 1), { algorithm: 'quicksort' });
// @ts-expect-error there is no such code
export const isOther = (failure: library.ClsortError): boolean => failure.code === 'ERR_CLSORT_OTHER';
// @ts-expect-error the option is in advanced
await library.sort(Float32Array.of(2, 1), { radixBits: 4 });
// @ts-expect-error the result is not a string
export const text: string = await library.sort(Float32Array.of(2, 1));
// @ts-expect-error a number is not an array of keys
await library.sort(5);
// @ts-expect-error an array of numbers is not a typed array
await library.sort([2, 1]);
// @ts-expect-error NaNs have two places
await library.sort(Float32Array.of(2, 1), { nan: 'middle' });
`;

/** The output of tsc for the program; empty when it compiles. */
function check(folder: string, options: readonly string[]): string {
  const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc');
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
  const args = [tsc, ...strict, '--target', 'es2022', '--types', 'node', ...options, 'program.mts'];
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout;
}

const folder = mkdtempSync(join(tmpdir(), 'clsort-test-typescript-'));
installInto(folder, { withAddon: false });
mkdirSync(join(folder, 'node_modules/@types'));
for (const name of ['@types/node', 'undici-types']) {
  symlinkSync(join(packageRoot, 'node_modules', name), join(folder, 'node_modules', name));
}
writeFileSync(join(folder, 'program.mts'), PROGRAM);
test.after.always(() => rmSync(folder, { recursive: true }));

for (const [resolution, module] of [
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
  ['bundler', 'esnext'],
] as const) {
  test(`a strict ES2022 program compiles against all declarations with moduleResolution ${resolution}`, (t) => {
    t.is(check(folder, ['--module', module, '--moduleResolution', resolution]), '');
  });
}
