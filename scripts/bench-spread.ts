/**
 * One array over one device and over several, from array to array, every result verified.
 *
 *     node dist/scripts/bench-spread.js --devices gpu --size 30 --json spread.json
 *     POCL_DEVICES="basic pthread" node dist/scripts/bench-spread.js --devices all --size 22
 *
 * A size is an exponent of two, or several with commas. Three ways: `host`, an array of the host that is split while it is
 * staged; `spread`, an array that lies on all devices and is sorted there, with its exchange, from `upload` to `read`;
 * `there`, that sort alone. Each is measured on one device and on 2, 3, … of those named, median of `--repeats`. Keys in
 * `--memory pinned` are those of `Sorter.alloc`. What is printed beside the times is how many times as fast as one device.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { deviceSpecs, ranked, selectDevices } from '../src/device/select.js';
import { devices, Sorter, type SortReport } from '../src/index.js';
import * as cl from '../src/opencl/index.js';

interface Row {
  readonly way: 'host' | 'spread' | 'there';
  readonly n: number;
  readonly devices: number;
  readonly result: 'ok' | 'wrong';
  /** Median. */
  readonly milliseconds: number;
  readonly gigakeysPerSecond: number;
  /** Time of one device over this. */
  readonly timesOne: number;
  /** What the planner would do, left to itself. */
  readonly planned?: string;
}

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: 'gpu' },
    size: { type: 'string', default: '30' },
    repeats: { type: 'string', default: '5' },
    memory: { type: 'string', default: 'ordinary' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(
    'bench-spread [--devices gpu] [--size 30] [--repeats 5] [--memory ordinary|pinned] [--json FILE]',
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

/** Products in which multisets of keys differ almost surely. */
async function multisetOf(keys: Uint32Array): Promise<string> {
  const products = BigUint64Array.of(1n, 1n);
  await cl.multisetAsync(keys, 4, POINTS, products, threads);
  return products.join();
}

/** Whether every key is at least as large as the one before. */
function isOrdered(keys: Uint32Array): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as number) > (keys[i] as number)) return false;
  return true;
}

function fill(keys: Uint32Array): void {
  let state = 0x9e37_79b9;
  for (let i = 0; i < keys.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    keys[i] = Math.imul(state ^ (state >>> 15), 0x2c1b_3c6d) >>> 0;
  }
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;

const repeats = Number(options.repeats);
const named = ranked(
  selectDevices(
    deviceSpecs([options.devices]),
    devices().map((info) => ({ info })),
  ),
).map(({ info }) => info);
console.log(named.map(({ id, name }) => `${id} ${name}`).join('\n'));
const rows: Row[] = [];
for (const exponent of options.size.split(',')) {
  const n = 2 ** Number(exponent);
  for (let count = 1; count <= named.length; count++) {
    const ids = named.slice(0, count).map(({ id }) => id);
    const sorter = await Sorter.open({ devices: ids });
    try {
      const make = () => (options.memory === 'pinned' ? sorter.alloc('u32', n) : new Uint32Array(n));
      const [keys, into] = [make(), make()];
      fill(keys);
      const multiset = await multisetOf(keys);
      const isRight = async (sorted: Uint32Array) =>
        isOrdered(sorted) && (await multisetOf(sorted)) === multiset;
      const tell = (way: Row['way'], result: boolean, times: readonly number[], planned?: string) => {
        const milliseconds = median(times);
        const one = rows.find((row) => row.way === way && row.n === n && row.devices === 1);
        const row: Row = {
          ...{ way, n, devices: count, result: result ? 'ok' : 'wrong', milliseconds },
          gigakeysPerSecond: n / milliseconds / 1e6,
          timesOne: (one?.milliseconds ?? milliseconds) / milliseconds,
          ...(planned !== undefined && { planned }),
        };
        rows.push(row);
        console.log(
          [way, `2^${exponent}`, `${count} devices`, row.result, `${milliseconds.toFixed(2)} ms`].join('\t'),
          `${row.gigakeysPerSecond.toFixed(2)} Gkeys/s\t${row.timesOne.toFixed(2)} x one\t${planned ?? ''}`,
        );
      };
      const timed = async (sort: () => Promise<unknown>): Promise<number[]> => {
        const times: number[] = [];
        for (let i = 0; i < repeats; i++) {
          const started = performance.now();
          await sort();
          times.push(performance.now() - started);
        }
        return times;
      };

      const tuning = { spread: count };
      await sorter.sort(keys, { into, tuning }); // compiled, measured, and pages made
      const host = await timed(() => sorter.sort(keys, { into, tuning }));
      const right = await isRight(into);
      let planned: string | undefined;
      const onReport = ({ reason }: SortReport) => {
        planned = reason;
      };
      if (count > 1) await sorter.sort(keys, { into, onReport });
      tell('host', right, host, planned);

      const times: number[] = [];
      let fetched: Uint32Array = new Uint32Array(0);
      const there: number[] = [];
      for (let i = 0; i <= repeats; i++) {
        const started = performance.now();
        const spread = await sorter.upload(keys, { spread: true });
        const uploaded = performance.now();
        const sorted = await sorter.sort(spread);
        const done = performance.now();
        fetched = await sorted.read();
        if (i > 0) {
          times.push(performance.now() - started);
          there.push(done - uploaded);
        }
        spread.dispose();
        sorted.dispose();
      }
      const spreadRight = await isRight(fetched);
      tell('spread', spreadRight, times);
      tell('there', spreadRight, there);
    } finally {
      await sorter.close();
    }
  }
}
if (options.json !== undefined) {
  const report = { schema: 'clsort.bench.spread/1', memory: options.memory, devices: named, rows };
  writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
}
if (rows.some(({ result }) => result === 'wrong')) process.exitCode = 1;
