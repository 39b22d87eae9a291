#!/usr/bin/env node
// Measures sort and argsort of Arrow vectors of strings, beside the sort of a JavaScript array of the same strings, NumPy's
// of an array of StringDType and Polars'. Medians of calls on arrays in memory; results are compared. Needs
// `npm run build`. NumPy and Polars are measured if the Python has them.
//
//   node scripts/bench-strings.mjs [--device host] [--size 20] [--repeats 3] [--python PROGRAM] [--json FILE]
//
// --size is the exponent of two of the number of strings.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Utf8, vectorFromArray } from 'apache-arrow';
import { Sorter } from '../dist/src/index.js';
import { Random } from '../dist/src/util/random.js';

const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'host' },
    size: { type: 'string', default: '20' },
    repeats: { type: 'string', default: '3' },
    python: { type: 'string', default: 'python3' },
    json: { type: 'string' },
  },
});
const [count, repeats] = [2 ** Number(values.size), Number(values.repeats)];
if (!(count >= 1 && repeats >= 1)) throw new Error('expected positive numbers for --size and --repeats');

const random = new Random(1);
const hex = (digits) =>
  Array.from({ length: digits / 8 }, () => random.u32().toString(16).padStart(8, '0')).join('');
const letter = () => String.fromCharCode(97 + (random.u32() % 26));
const vocabulary = Array.from({ length: 50_000 }, () =>
  Array.from({ length: 3 + (random.u32() % 8) }, letter).join(''),
);
const word = () => vocabulary[Math.floor((random.u32() / 2 ** 32) ** 2 * vocabulary.length)];
/** Kinds of strings. */
const KINDS = {
  'words, 50,000 different': word,
  '16 hexadecimal digits': () => hex(16),
  '33 equal bytes, then 16 digits': () => `https://example.org/some/path/v1/${hex(16)}`,
};

/** Prints the medians of each library in seconds, and its first positions. */
const PYTHON = `
import json, sys, time

def median(call):
    times = []
    for _ in range(int(sys.argv[2])):
        begun = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - begun)
    return sorted(times)[len(times) // 2], result

def numpy(strings):
    import numpy as np
    array = np.array(strings, dtype=np.dtypes.StringDType())
    return np.__version__, lambda: np.sort(array, kind="stable"), lambda: np.argsort(array, kind="stable")

def polars(strings):
    import polars as pl
    series = pl.Series("s", strings)
    order = pl.DataFrame(series).with_row_index("i")
    return pl.__version__, series.sort, lambda: order.sort("s", maintain_order=True)["i"]

with open(sys.argv[1], encoding="ascii") as file:
    strings = file.read().split("\\n")
found = []
for name, library in {"NumPy": numpy, "Polars": polars}.items():
    try:
        version, sort, argsort = library(strings)
    except ImportError:
        continue
    (sorts, _), (argsorts, order) = median(sort), median(argsort)
    peer = {"name": f"{name} {version}", "sort": sorts, "argsort": argsorts}
    found.append({**peer, "order": [int(i) for i in order[:100]]})
print(json.dumps(found))
`;

async function median(call) {
  const times = [];
  let result;
  for (let i = 0; i < repeats; i++) {
    const begun = performance.now();
    result = await call();
    times.push((performance.now() - begun) / 1000);
  }
  return { seconds: times.sort((a, b) => a - b)[times.length >> 1], result };
}

const isSame = (a, b) => a.length === b.length && a.every((one, i) => one === b[i]);
/** Returns an object of the same names, with a median for each call. */
async function medians(calls) {
  const found = {};
  for (const [name, call] of Object.entries(calls)) found[name] = await median(call);
  return found;
}

const folder = mkdtempSync(join(tmpdir(), 'bench-strings-'));
const sorter = await Sorter.open({ device: values.device });
const rows = [];
try {
  for (const [kind, make] of Object.entries(KINDS)) {
    const strings = Array.from({ length: count }, make);
    const vector = vectorFromArray(strings, new Utf8());
    for (const operation of ['sort', 'argsort']) await sorter[operation](vector); // compiles
    const byText = (a, b) => (strings[a] < strings[b] ? -1 : Number(strings[a] > strings[b]));
    const ours = await medians({ sort: () => sorter.sort(vector), argsort: () => sorter.argsort(vector) });
    const plain = await medians({
      sort: () => strings.toSorted(),
      argsort: () => Uint32Array.from(strings.keys()).sort(byText),
    });
    const order = ours.argsort.result;
    if (!isSame([...ours.sort.result], plain.sort.result) || !isSame(order, plain.argsort.result))
      throw new Error(`${kind}: wrong result`);
    const file = join(folder, 'strings.txt');
    writeFileSync(file, strings.join('\n'));
    const child = spawnSync(values.python, ['-c', PYTHON, file, `${repeats}`], { encoding: 'utf8' });
    if (child.status !== 0) throw new Error(`cannot run ${values.python}: ${child.stderr ?? child.error}`);
    const peers = JSON.parse(child.stdout);
    const other = peers.find((peer) => !isSame(peer.order, [...order.subarray(0, 100)]));
    if (other) throw new Error(`${kind}: ${other.name} has another order`);
    const seconds = {
      clsort: { sort: ours.sort.seconds, argsort: ours.argsort.seconds },
      JavaScript: { sort: plain.sort.seconds, argsort: plain.argsort.seconds },
      ...Object.fromEntries(peers.map(({ name, sort, argsort }) => [name, { sort, argsort }])),
    };
    rows.push({
      strings: kind,
      n: count,
      bytes: strings.reduce((sum, { length }) => sum + length, 0),
      seconds,
    });
    for (const [name, { sort, argsort }] of Object.entries(seconds)) {
      const rates = [sort, argsort].map((time) => (count / time / 1e6).toFixed(2));
      console.log(`| ${[kind, name, ...rates].join(' | ')} |`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
  await sorter.close();
}
if (values.json) {
  const about = {
    schema: 'clsort.bench.strings/1',
    device: values.device,
    date: new Date().toISOString().slice(0, 10),
  };
  const machine = {
    cpu: `${cpus()[0]?.model.trim()}, ${cpus().length} cores`,
    load: loadavg()[0],
    node: process.version,
  };
  writeFileSync(values.json, `${JSON.stringify({ ...about, ...machine, repeats, rows }, undefined, 1)}\n`);
}
