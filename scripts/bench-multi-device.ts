/**
 * Sorts one array on one device and on several, from array to array, and verifies every result.
 *
 *     node dist/scripts/bench-multi-device.js --devices gpu --size 30 --dtype u32,u64 --json spread.json
 *     POCL_DEVICES="basic pthread" node dist/scripts/bench-multi-device.js --devices all --size 22
 *
 * A size is an exponent of two. Sizes, dtypes (u32, u64), kinds of memory and ways may be comma-separated lists. With
 * `--memory pinned`, keys are in memory of `Sorter.allocPinned`. There are three ways:
 *
 *     host     a host array, partitioned during staging
 *     spread   a sharded array, sorted through host memory, from `upload` to `readInto`
 *     there    only the sort of the sharded array; measured with `spread`
 *
 * Each way is measured on one device and on 2, 3, … of the named ones, or on the numbers in `--counts`; the median of
 * `--repeats` counts. Each time has a speedup over one device, and a lower bound by the buses: the time to transfer all
 * keys at the rates of concurrent transfers between pinned memory and these devices, which are measured first.
 *
 * With `--until` nothing new starts after this many seconds; the JSON contains the results so far.
 */
import { randomFill } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs, promisify } from 'node:util';
import { deviceSpecs, rankDevices, selectDevices } from '../src/device/platform/select-device.js';
import { type DeviceInfo, devices, type KeyArray, Sorter, type SortReport } from '../src/index.js';
import { multisetAsync } from '../src/native-host/host-functions.js';
import * as cl from '../src/opencl/index.js';

type Way = 'host' | 'spread' | 'there';
type Keys = Uint32Array | BigUint64Array;

interface Row {
  readonly way: Way;
  readonly dtype: string;
  readonly memory: string;
  readonly n: number;
  readonly devices: number;
  readonly result: 'ok' | 'wrong';
  /** Median time. */
  readonly milliseconds: number;
  readonly times: readonly number[];
  readonly gigakeysPerSecond: number;
  /** Time of one device divided by this time. */
  readonly timesOne: number;
  /** Lower bound by the buses. */
  readonly boundMilliseconds: number;
  /** The planner's choice without overrides. */
  readonly planned?: string;
}

/** Gigabytes per second between pinned memory and this many devices, concurrently. */
interface Bus {
  readonly devices: number;
  readonly up: number;
  readonly down: number;
  /** Simultaneous transfers in both directions, with the same bytes each; the sum of both. */
  readonly both: number;
}

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: 'gpu' },
    size: { type: 'string', default: '30' },
    dtype: { type: 'string', default: 'u32' },
    repeats: { type: 'string', default: '5' },
    memory: { type: 'string', default: 'ordinary' },
    ways: { type: 'string', default: 'host,spread' },
    counts: { type: 'string' },
    until: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(
    'bench-spread [--devices gpu] [--size 30] [--dtype u32,u64] [--repeats 5] [--memory ordinary,pinned] [--ways host,spread]\n' +
      '  [--counts 1,2,4] [--until SECONDS] [--json FILE]',
  );
  process.exit(0);
}

const threads = Math.min(availableParallelism(), 64);
const POINTS = BigUint64Array.of(
  0x1234_5678_9abc_defn,
  0x0fed_cba9_8765_432n,
  0x0123_4567_89ab_cd1n,
  0x0a5a_5a5a_5a5a_5a5n,
);

/** Returns products that differ for different multisets of keys with high probability. */
async function multisetOf(keys: Keys): Promise<string> {
  const products = BigUint64Array.of(1n, 1n);
  await multisetAsync(keys, keys instanceof Uint32Array ? 4 : 8, POINTS, products, threads);
  return products.join();
}

/** Returns whether every key is at least as large as its predecessor. */
function isOrdered(keys: Keys): boolean {
  if (keys instanceof Uint32Array) {
    for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as number) > (keys[i] as number)) return false;
    return true;
  }
  // Two words of a key, since BigInts are slow.
  const words = new Uint32Array(keys.buffer, keys.byteOffset, keys.length * 2);
  for (let i = 2; i < words.length; i += 2) {
    const [low, high] = [words[i - 2] as number, words[i - 1] as number];
    const next = words[i + 1] as number;
    if (high > next || (high === next && low > (words[i] as number))) return false;
  }
  return true;
}

const FILL_BYTES = 2 ** 28;

/** Fills an array with random keys, with several threads. */
async function fill(keys: Keys): Promise<void> {
  const fillPart = promisify<ArrayBufferView, void>(randomFill as never);
  const starts = Array.from({ length: Math.ceil(keys.byteLength / FILL_BYTES) }, (_, i) => i * FILL_BYTES);
  await Promise.all(
    starts.map((start) => {
      const bytes = Math.min(FILL_BYTES, keys.byteLength - start);
      return fillPart(new Uint8Array(keys.buffer, keys.byteOffset + start, bytes));
    }),
  );
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;

const BUS_BYTES = 2 ** 28;
const BUS_ROUNDS = 4;

/** Measures the concurrent transfers of the devices, from the first round of copies to the end of the last. */
async function busOf(infos: readonly DeviceInfo[]): Promise<Bus> {
  const ends = infos.map(({ id }) => {
    const [p = 0, d = 0] = id.split(':').map(Number);
    const device = cl.getDeviceIDs(cl.getPlatformIDs()[p] as cl.Platform, cl.DEVICE_TYPE_ALL)[d] as cl.Device;
    const context = cl.createContext(null, [device]);
    const ways = [cl.createCommandQueue(context, device), cl.createCommandQueue(context, device)] as const;
    const flags = cl.MEM_READ_WRITE | cl.MEM_ALLOC_HOST_PTR;
    const make = () => {
      const pinned = cl.createBuffer(context, flags, BUS_BYTES);
      return {
        pinned,
        there: cl.createBuffer(context, cl.MEM_READ_WRITE, BUS_BYTES),
        memory: cl.enqueueMapBuffer(ways[0], pinned, true, cl.MAP_READ | cl.MAP_WRITE, 0, BUS_BYTES),
      };
    };
    return { context, ways, up: make(), down: make() };
  });
  const gigabytes = async (which: readonly ('up' | 'down')[]): Promise<number> => {
    const started = performance.now();
    await Promise.all(
      ends.flatMap(({ ways, ...memories }) =>
        which.map((way) => {
          const queue = way === 'up' ? ways[0] : ways[1];
          const { there, memory } = memories[way];
          for (let round = 0; round < BUS_ROUNDS; round++) {
            if (way === 'up') cl.enqueueWriteBuffer(queue, there, false, 0, BUS_BYTES, memory);
            else cl.enqueueReadBuffer(queue, there, false, 0, BUS_BYTES, memory);
          }
          return cl.finishAsync(queue);
        }),
      ),
    );
    return (ends.length * which.length * BUS_ROUNDS * BUS_BYTES) / (performance.now() - started) / 1e6;
  };
  await gigabytes(['up', 'down']);
  const [up, down, both] = [
    await gigabytes(['up']),
    await gigabytes(['down']),
    await gigabytes(['up', 'down']),
  ];
  for (const { context, ways, ...memories } of ends) {
    for (const { pinned, there, memory } of [memories.up, memories.down]) {
      cl.enqueueUnmapMemObject(ways[0], pinned, memory);
      cl.releaseMemObject(pinned);
      cl.releaseMemObject(there);
    }
    for (const queue of ways) cl.releaseCommandQueue(queue);
    cl.releaseContext(context);
  }
  return { devices: infos.length, up, down, both };
}

/** Returns the milliseconds that the buses need for this many bytes of keys; downloads start after all uploads. */
function boundOf(way: Way, bytes: number, { devices: count, up, down }: Bus): number {
  const whole = bytes / up / 1e6 + bytes / down / 1e6;
  const there = count > 1 ? 2 * whole : 0; // one device sorts its array without transfers
  return { host: whole, spread: whole + there, there }[way];
}

const began = performance.now();
const isLate = (): boolean =>
  (performance.now() - began) / 1000 > Number(options.until ?? Number.POSITIVE_INFINITY);
const repeats = Number(options.repeats);
const ways = options.ways.split(',');
const named = rankDevices(
  selectDevices(
    deviceSpecs([options.devices]),
    devices().map((info) => ({ info })),
  ),
).map(({ info }) => info);
const counts = options.counts?.split(',').map(Number) ?? named.map((_, i) => i + 1);
if (counts.some((count) => !(count >= 1 && count <= named.length))) {
  throw new Error(`--counts ${options.counts}: there are ${named.length} devices`);
}
console.log(named.map(({ id, name }) => `${id} ${name}`).join('\n'));
const rows: Row[] = [];
const buses: Bus[] = [];
for (const count of counts) {
  const bus = await busOf(named.slice(0, count));
  buses.push(bus);
  const told = [bus.up, bus.down, bus.both].map((rate) => rate.toFixed(1));
  console.log(
    `pinned memory and ${count} devices: ${told[0]} GB/s up, ${told[1]} down, ${told[2]} both ways`,
  );
}

function keep(): void {
  if (options.json === undefined) return;
  const machine = {
    threads: availableParallelism(),
    devices: named.map(({ id, name, driver }) => ({ id, name, driver })),
  };
  const report = { schema: 'clsort.bench.spread/2', date: new Date().toISOString(), ...machine, buses, rows };
  writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
}

/** Measures all ways for one array on this many devices. */
async function measure(dtype: 'u32' | 'u64', memory: string, n: number, count: number): Promise<void> {
  const sorter = await Sorter.open({ devices: named.slice(0, count).map(({ id }) => id) });
  try {
    const Plain = dtype === 'u32' ? Uint32Array : BigUint64Array;
    const make = () => (memory === 'pinned' ? (sorter.allocPinned(dtype, n) as Keys) : new Plain(n));
    const [keys, into] = [make(), make()];
    await fill(keys);
    const multiset = await multisetOf(keys);
    const isRight = async (sorted: Keys) =>
      sorted.length === n && isOrdered(sorted) && (await multisetOf(sorted)) === multiset;
    const tell = (way: Way, result: boolean, times: readonly number[], more: More = {}) => {
      const milliseconds = median(times);
      const same = (row: Row) =>
        row.way === way && row.n === n && row.dtype === dtype && row.memory === memory;
      const one = rows.find((row) => same(row) && row.devices === 1);
      const row: Row = {
        ...{ way, dtype, memory, n, devices: count, result: result ? 'ok' : 'wrong', milliseconds, times },
        gigakeysPerSecond: n / milliseconds / 1e6,
        timesOne: (one?.milliseconds ?? milliseconds) / milliseconds,
        boundMilliseconds: boundOf(
          way,
          keys.byteLength,
          buses.find(({ devices: of }) => of === count) as Bus,
        ),
        ...more,
      };
      rows.push(row);
      keep();
      const [took, bound] = [milliseconds, row.boundMilliseconds].map((each) => `${each.toFixed(2)} ms`);
      console.log(
        [
          way,
          dtype,
          memory,
          `2^${Math.log2(n)}`,
          `${count} devices`,
          row.result,
          took,
          `bound ${bound}`,
        ].join('\t'),
        `${row.gigakeysPerSecond.toFixed(2)} Gkeys/s\t${row.timesOne.toFixed(2)} x one\t${more.planned ?? ''}`,
      );
    };
    if (ways.includes('host')) await measureHost(sorter, [keys, into], { count, isRight, tell });
    if (ways.includes('spread')) await measureSpread(sorter, [keys, into], { count, isRight, tell });
  } finally {
    await sorter.close();
  }
}

type More = Pick<Row, 'planned'>;

interface Telling {
  readonly count: number;
  readonly isRight: (sorted: Keys) => Promise<boolean>;
  readonly tell: (way: Way, result: boolean, times: readonly number[], more?: More) => void;
}

async function measureHost(
  sorter: Sorter,
  [keys, into]: readonly [Keys, Keys],
  { count, isRight, tell }: Telling,
): Promise<void> {
  const sort = (more: object) => sorter.sort(keys as KeyArray, { into: into as KeyArray, ...more });
  const tuning = { deviceCount: count };
  await sort({ advanced: { tuning } }); // programs compiled, speeds measured and pages allocated
  const times: number[] = [];
  for (let i = 0; i < repeats; i++) {
    const started = performance.now();
    await sort({ advanced: { tuning } });
    times.push(performance.now() - started);
  }
  const right = await isRight(into);
  const more: { planned?: string } = {};
  const onReport = ({ reason }: SortReport) => {
    if (reason !== undefined) more.planned = reason;
  };
  if (count > 1) await sort({ onReport });
  tell('host', right, times, more);
}

async function measureSpread(
  sorter: Sorter,
  [keys, into]: readonly [Keys, Keys],
  { isRight, tell }: Telling,
): Promise<void> {
  const times: number[] = [];
  const there: number[] = [];
  for (let i = 0; i <= repeats; i++) {
    const started = performance.now();
    const spread = await sorter.upload(keys as KeyArray, { sharded: true });
    const uploaded = performance.now();
    const sorted = await sorter.sort(spread);
    const done = performance.now();
    await sorted.readInto(into as KeyArray);
    if (i > 0) {
      times.push(performance.now() - started);
      there.push(done - uploaded);
    }
    spread.dispose();
    sorted.dispose();
  }
  const right = await isRight(into);
  tell('spread', right, times);
  tell('there', right, there);
}

for (const exponent of options.size.split(',')) {
  for (const dtype of options.dtype.split(',')) {
    if (dtype !== 'u32' && dtype !== 'u64') throw new Error(`--dtype ${dtype}: expected u32 or u64`);
    for (const memory of options.memory.split(',')) {
      for (const count of counts) {
        if (isLate()) console.log(`left out, it is late: 2^${exponent} ${dtype} ${memory}, ${count} devices`);
        else await measure(dtype, memory, 2 ** Number(exponent), count);
      }
    }
  }
}
keep();
if (rows.some(({ result }) => result === 'wrong')) process.exitCode = 1;
