/**
 * clsort beside the sorts of the host on the same u32 keys, from array to new array:
 *
 *     node dist/scripts/bench-peers.js --device cpu --sizes 16,20,24 --json results.json
 *
 * Peers are TypedArray.prototype.sort, a plain radix sort in JavaScript, and NumPy, which is left out, with
 * a word, where `--python` (default: python3) has none. A size is an exponent of two. Every result is checked;
 * a wrong one gets no time.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SEED } from '../src/bench/sorts.js';
import { type Timing, timing } from '../src/bench/statistics.js';
import { generate } from '../src/io/gen.js';
import { bytesOf } from '../src/keys/array.js';
import { Sorter } from '../src/sort/sorter.js';
import { packageRoot } from '../src/util/paths.js';

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'auto' },
    sizes: { type: 'string', default: '16,20,24' },
    repeats: { type: 'string', default: '7' },
    python: { type: 'string', default: 'python3' },
    json: { type: 'string' },
  },
});
const repeats = Number(options.repeats);

/** Least significant digit first, 3 digits of 11 bits, all counted in one reading. */
function radixSort(keys: Uint32Array): Uint32Array {
  const bins = [new Uint32Array(2048), new Uint32Array(2048), new Uint32Array(2048)];
  const [low, middle, high] = bins as [Uint32Array, Uint32Array, Uint32Array];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as number;
    (low[key & 2047] as number)++;
    (middle[(key >>> 11) & 2047] as number)++;
    (high[key >>> 22] as number)++;
  }
  let from = keys;
  let to = new Uint32Array(keys.length);
  let spare: Uint32Array<ArrayBuffer> | undefined;
  bins.forEach((counts, pass) => {
    let start = 0;
    for (let digit = 0; digit < 2048; digit++) {
      const count = counts[digit] as number;
      counts[digit] = start;
      start += count;
    }
    for (let i = 0; i < from.length; i++) {
      const key = from[i] as number;
      const digit = (key >>> (11 * pass)) & 2047;
      to[counts[digit] as number] = key;
      (counts[digit] as number)++;
    }
    const done = to;
    to = spare ?? new Uint32Array(keys.length);
    spare = done;
    from = done;
  });
  return from;
}

async function timed(sort: () => Uint32Array | Promise<Uint32Array>, expected: Uint32Array) {
  const seconds: number[] = [];
  for (let i = 0; i <= repeats; i++) {
    const start = performance.now();
    const result = await sort();
    const took = (performance.now() - start) / 1000;
    if (Buffer.compare(bytesOf(result), bytesOf(expected)) !== 0) return 'wrong' as const;
    if (i > 0) seconds.push(took); // the first one warms up
  }
  return timing(seconds);
}

function numpy(keys: Uint32Array): { name: string; time: Timing | 'wrong' } | undefined {
  const file = join(tmpdir(), `clsort-keys-${process.pid}.u32`);
  try {
    writeFileSync(file, keys);
    const script = join(packageRoot, 'scripts/peers/numpy-sort.py');
    const line = execFileSync(options.python, [script, file, String(repeats)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { version, seconds, ok } = JSON.parse(line) as { version: string; seconds: number[]; ok: boolean };
    return { name: `NumPy ${version}`, time: ok ? timing(seconds) : 'wrong' };
  } catch {
    return undefined;
  } finally {
    rmSync(file, { force: true });
  }
}

/** What else the machine was doing: a busy one makes times that are not worth keeping. */
const [load = 0] = loadavg();
const sorter = await Sorter.open({ device: options.device });
const rows: { n: number; sort: string; time: Timing | 'wrong' | 'missing'; timesOurs?: number }[] = [];
try {
  for (const exponent of options.sizes.split(',')) {
    const n = 2 ** Number(exponent);
    const bytes = generate({ dtype: 'u32', count: n, distribution: 'uniform', seed: SEED });
    const keys = new Uint32Array(bytes.buffer as ArrayBuffer);
    const expected = keys.toSorted();
    const ours = await timed(() => sorter.sort(keys), expected);
    const numpyRow = numpy(keys);
    const all = [
      { sort: 'clsort', time: ours },
      { sort: 'TypedArray.prototype.sort', time: await timed(() => keys.toSorted(), expected) },
      { sort: 'radix sort in JavaScript', time: await timed(() => radixSort(keys), expected) },
      { sort: numpyRow?.name ?? 'NumPy', time: numpyRow?.time ?? ('missing' as const) },
    ];
    for (const { sort, time } of all) {
      const both = typeof time === 'object' && typeof ours === 'object';
      const row = { n, sort, time, ...(both && { timesOurs: time.median / ours.median }) };
      rows.push(row);
      const text =
        typeof time === 'object'
          ? `${(time.median * 1e3).toFixed(3)} ms ± ${(time.mad * 1e3).toFixed(3)}, ${(n / time.median / 1e6).toFixed(1)} Mkeys/s`
          : time;
      console.log(
        `2^${exponent} ${sort}: ${text}${row.timesOurs ? `, time of ours x${row.timesOurs.toFixed(2)}` : ''}`,
      );
    }
  }
  if (options.json) {
    const { name, platform, driver } = sorter.device ?? { name: 'host', platform: '', driver: '' };
    const date = new Date().toISOString().slice(0, 10);
    const record = { schema: 'clsort.bench.peers/1', device: name, platform, driver, date, load, rows };
    writeFileSync(options.json, `${JSON.stringify(record, null, 1)}\n`);
  }
} finally {
  await sorter.close();
}
