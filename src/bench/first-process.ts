/** The program of a process that measures the first calls of the library. It loads nothing of it before it measures. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { PreparationMessage } from '../util/preparation-channel.js';
import type { FirstCall, FirstRequest, FirstTimes } from './first.js';

type Library = typeof import('../index.js');
type Sorter = Awaited<ReturnType<Library['Sorter']['open']>>;

const seconds = (started: number): number => (performance.now() - started) / 1000;

/** Keys from a fixed seed: any process creates the same ones (xorshift32). */
function keysOf({ dtype, n, distinct }: FirstCall): Float64Array | Uint32Array {
  let state = 0x9e3779b9;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  return dtype === 'f64'
    ? Float64Array.from({ length: n }, () => next() / 2 ** 31 - 1)
    : Uint32Array.from({ length: n }, () => (distinct === undefined ? next() : next() % distinct));
}

/** Keys of each segment. */
const ROW = 1000;

type Run = (sorter: Sorter, keys: Float64Array | Uint32Array) => Promise<unknown>;

/** Calls that peers also make, by the name of their operation. */
const CALLS: Readonly<Record<string, Run>> = {
  sort: (sorter, keys) => sorter.sort(keys),
  argsort: (sorter, keys) => sorter.argsort(keys),
  unique: (sorter, keys) => sorter.unique(keys),
  topK: (sorter, keys) => sorter.topK(keys, 100),
  segmentedSort: (sorter, keys) => sorter.segmentedSort(keys, ROW),
  scan: (sorter, keys) => sorter.scan(keys),
  reduce: (sorter, keys) => sorter.reduce(keys, 'sum'),
};

/** Returns the call of another operation, as `bench calls` makes it. */
async function timedCall({ operation, n }: FirstCall): Promise<Run> {
  const { callInputs, callOperations } = await import('./call-operations.js');
  const [found] = callOperations([operation]);
  if (!found) throw new RangeError(`cannot measure '${operation}': there is no such call`);
  const [call, inputs] = [found.prepare(n), callInputs(n)];
  return (sorter) => call(sorter, inputs);
}

/** Returns the arrays and numbers of a result, for comparison. */
const partsOf = (result: unknown): unknown[] =>
  typeof result === 'object' && result !== null && !ArrayBuffer.isView(result)
    ? Object.values(result)
    : [result];

function isSame(a: unknown, b: unknown): boolean {
  const bytes = (part: unknown) =>
    ArrayBuffer.isView(part)
      ? Buffer.from(part.buffer, part.byteOffset, part.byteLength)
      : Buffer.from(String(part));
  const [one, other] = [partsOf(a), partsOf(b)];
  return one.length === other.length && one.every((part, i) => bytes(part).equals(bytes(other[i])));
}

async function measure({ library, device, call, calls }: FirstRequest): Promise<FirstTimes> {
  const keys = keysOf(call);
  const importing = performance.now();
  const { Sorter } = (await import(library)) as Library;
  const imported = seconds(importing);
  const opening = performance.now();
  const sorter = await Sorter.open({ device });
  const opened = seconds(opening);
  const run = CALLS[call.operation] ?? (await timedCall(call));
  const prepared = { build: 0, 'self-test': 0 };
  const onPreparation = (message: unknown): void => {
    const { step, seconds: spent } = message as PreparationMessage;
    prepared[step] += spent;
  };
  subscribe('clsort:preparation', onPreparation);
  const times: number[] = [];
  const results: unknown[] = [];
  for (let i = 0; i < calls; i++) {
    const started = performance.now();
    const result = await run(sorter, keys);
    times.push(seconds(started));
    unsubscribe('clsort:preparation', onPreparation);
    if (i === 0 || i === calls - 1) results.push(result);
  }
  await sorter.close();
  const host = await Sorter.open({ device: 'host' });
  const expected = await run(host, keys);
  await host.close();
  return {
    ...{ import: imported, open: opened, first: times[0] ?? 0, second: times[1] ?? 0 },
    ...{ build: prepared.build, selfTest: prepared['self-test'] },
    ...{ last: times.at(-1) ?? 0, ok: results.every((result) => isSame(result, expected)) },
  };
}

const request = JSON.parse(process.argv[2] ?? '') as FirstRequest;
measure(request).then(
  (times) => process.send?.(times),
  (error) => process.send?.({ error: String(error) }),
);
