#!/usr/bin/env node
// Sorts one large file, in memory and with memory budgets, and compares the time with `cp` of the same file to the same
// folder. Each run is a separate process, timed from start to end. Results are checked by independent code in this
// script or sort-benchmark.mjs: the order of all keys, and equality of the multisets.
//
//   node scripts/bench-large.mjs [--device auto] [--dtype u64] [--size 16Gi] [--memory auto,4G] [--kills N] [--sync]
//     [--from DIR] [--to DIR] [--json FILE]
//
//   --dtype   u32, u64 or f64, or records: those of the Sort Benchmark, of 100 bytes
//   --memory  budgets, one sort each; auto is the default of clsort
//   --kills   repeats each sort, kills it this often with SIGKILL at random times, and resumes it to the same bytes
//   --sync    includes the time to sync to the disk, and copies the file twice in sequence
//   --from    folder of the input
//   --to      folder of results and temporary files, with room for about three times the input
//
// The input was just written when the first run begins, so that the page cache holds what fits, for all runs. Needs
// `npm run build`.

import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomFill } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'auto' },
    dtype: { type: 'string', default: 'u64' },
    size: { type: 'string', default: '16Gi' },
    memory: { type: 'string', default: 'auto,4G' },
    kills: { type: 'string', default: '0' },
    sync: { type: 'boolean', default: false },
    from: { type: 'string', default: tmpdir() },
    to: { type: 'string', default: tmpdir() },
    json: { type: 'string' },
  },
});

/** Counts the keys that are less than their predecessor. Words are little-endian, so the upper word is the second. */
const OUT_OF_ORDER = {
  u32: (words) => countWhere(words.length, (i) => words[i - 1] > words[i]),
  u64: (words) =>
    countWhere(words.length / 2, (i) => {
      const [high, next] = [words[2 * i - 1], words[2 * i + 1]];
      return high > next || (high === next && words[2 * i - 2] > words[2 * i]);
    }),
  f64: (words) => {
    const keys = new Float64Array(words.buffer, words.byteOffset, words.length / 2);
    return countWhere(
      keys.length,
      (i) => keys[i - 1] > keys[i] || (Number.isNaN(keys[i - 1]) && !Number.isNaN(keys[i])),
    );
  },
};
const isOutOfOrder = OUT_OF_ORDER[values.dtype];
const ofRecords = values.dtype === 'records';
const [, count, unit] = /^(\d+)(Mi|Gi)$/.exec(values.size) ?? [];
const kills = Number(values.kills);
if (!(isOutOfOrder || ofRecords) || !count || !Number.isSafeInteger(kills) || kills < 0) {
  console.error(
    'expected --dtype u32, u64, f64 or records, a --size such as 512Mi or 16Gi, and a number of --kills',
  );
  process.exit(2);
}
const RECORD = 100;
const size = Number(count) * (unit === 'Gi' ? 2 ** 30 : 2 ** 20);
const bytes = ofRecords ? size - (size % RECORD) : size;
const CHUNK = Math.min(bytes, 64 * 2 ** 20);
const MAIN = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url));
const RECORDS = fileURLToPath(new URL('sort-benchmark.mjs', import.meta.url));

function countWhere(end, holds) {
  let found = 0;
  for (let i = 1; i < end; i++) if (holds(i)) found++;
  return found;
}

/** Writes random bits with several concurrent writers. */
async function generate(path) {
  const file = await open(path, 'w');
  const fill = promisify(randomFill);
  let next = 0;
  const writer = async () => {
    const chunk = Buffer.alloc(CHUNK);
    while (next < bytes) {
      const at = next;
      next += CHUNK;
      const length = Math.min(CHUNK, bytes - at);
      await fill(chunk, 0, length);
      await file.write(chunk, 0, length, at);
    }
  };
  await Promise.all(Array.from({ length: 4 }, writer));
  await file.close();
}

/**
 * Returns an order-independent digest of a file (its length and a sum of mixed keys), and the number of keys out of
 * order.
 */
function looked(path, width) {
  const file = openSync(path, 'r');
  // The last key of the previous chunk.
  const memory = new ArrayBuffer(width + CHUNK);
  let [length, sum, wrong] = [0, 0, 0];
  for (;;) {
    const got = readSync(file, new Uint8Array(memory, width), 0, CHUNK, length);
    if (got === 0) break;
    const words = new Uint32Array(memory, width, got / 4);
    const step = width / 4;
    for (let i = 0; i < words.length; i += step) {
      let mixed = Math.imul(words[i] ^ (words[i] >>> 15), 0x2c1b3c6d);
      mixed = Math.imul(mixed ^ (mixed >>> 12) ^ words[i + step - 1], 0x297a2d39);
      sum = (sum + (mixed ^ (mixed >>> 15))) | 0;
    }
    wrong += length === 0 ? isOutOfOrder(words) : isOutOfOrder(new Uint32Array(memory, 0, (width + got) / 4));
    new Uint8Array(memory, 0, width).set(new Uint8Array(memory, got, width));
    length += got;
  }
  closeSync(file);
  return { length, sum, wrong };
}

/**
 * Checks the output.
 *
 * @throws Error when it is not the sorted input
 */
function check() {
  if (ofRecords) {
    execFileSync(process.execPath, [RECORDS, 'check', output, '--of', input], { stdio: 'inherit' });
    return;
  }
  wanted ??= looked(input, width);
  const { length, sum, wrong } = looked(output, width);
  if (length !== wanted.length || sum !== wanted.sum || wrong > 0) {
    throw new Error(
      `${length} of ${wanted.length} bytes, ${wrong} keys out of order, sum ${sum} of ${wanted.sum}`,
    );
  }
}

async function hashOf(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(chunk);
  return hash.digest('hex');
}

/**
 * Runs a program that writes the file.
 *
 * @returns its seconds, and its peak resident memory in MiB
 */
async function timed(path, program, args) {
  const { seconds, peakMiB } = await run(program, args);
  const started = performance.now();
  if (values.sync) execFileSync('sync', [path]);
  return { seconds: seconds + (performance.now() - started) / 1000, peakMiB };
}

/**
 * Runs a program until it ends or is killed.
 *
 * @returns its seconds, its peak resident memory in MiB, and whether it was killed
 */
function run(program, args, killAfter = Infinity) {
  const started = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  let peak = 0;
  const kill = killAfter === Infinity ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter * 1000);
  const look = () => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // The process has ended.
    }
  };
  const timer = setInterval(look, 20);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearInterval(timer);
      clearTimeout(kill);
      const seconds = (performance.now() - started) / 1000;
      const killed = signal === 'SIGKILL' && killAfter !== Infinity;
      if (code === 0 || killed) resolve({ seconds, peakMiB: Math.round(peak / 1024), killed });
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code}`));
    });
  });
}

const from = mkdtempSync(join(values.from, 'bench-large-'));
const to = mkdtempSync(join(values.to, 'bench-large-'));
const input = join(from, ofRecords ? 'keys.dat' : `keys.${values.dtype}`);
const output = join(to, ofRecords ? 'sorted.dat' : `sorted.${values.dtype}`);
const width = values.dtype === 'u32' ? 4 : 8;
let wanted;

/** Copies the file; with --sync also copies the copy. */
async function copied() {
  const first = await timed(output, 'cp', [input, output]);
  if (!values.sync) return { what: 'cp', ...first };
  const again = `${output}.again`;
  const second = await timed(again, 'cp', [output, again]);
  rmSync(again);
  return { what: 'cp twice', seconds: first.seconds + second.seconds, peakMiB: first.peakMiB };
}

/**
 * Kills the sort at random times and resumes it until it ends.
 *
 * @throws Error when it writes other bytes
 */
async function resumed(args, memory, seconds, hash) {
  const killedAfter = [];
  let peakMiB = 0;
  for (let kill = 0; kill < kills; kill++) {
    const after = (0.1 + 0.8 * Math.random()) * seconds;
    const ran = await run(process.execPath, [...args, '--resume'], after);
    peakMiB = Math.max(peakMiB, ran.peakMiB);
    if (!ran.killed) rmSync(output); // it finished before the kill, and there is nothing to resume
    killedAfter.push(ran.killed ? Number(after.toFixed(1)) : `ended in ${ran.seconds.toFixed(1)} s`);
  }
  const last = await run(process.execPath, [...args, '--resume']);
  check();
  if ((await hashOf(output)) !== hash) throw new Error(`resumed after ${killedAfter}, it wrote other bytes`);
  return {
    what: `sort, memory ${memory}, resumed`,
    seconds: last.seconds,
    peakMiB: Math.max(peakMiB, last.peakMiB),
    killedAfter,
  };
}

const load = () => Number(loadavg()[0].toFixed(1));
try {
  if (ofRecords) execFileSync(process.execPath, [RECORDS, 'gen', `${bytes / RECORD}`, input]);
  else await generate(input);
  const rows = [{ ...(await copied()), load: load() }];
  for (const memory of values.memory.split(',')) {
    rmSync(output);
    const budget = memory === 'auto' ? [] : ['--memory', memory, '--tmp', to];
    const keys = ofRecords ? ['--record', `${RECORD}`, '--key', '0:10'] : [];
    const args = [MAIN, 'sort', input, '-o', output, '--device', values.device, '-q', ...keys, ...budget];
    const row = { what: `sort, memory ${memory}`, ...(await timed(output, process.execPath, args)) };
    rows.push({ ...row, load: load() });
    console.error(`${row.what}: ${row.seconds.toFixed(1)} s, ${row.peakMiB} MiB`);
    check();
    if (kills === 0) continue;
    const hash = await hashOf(output);
    rmSync(output);
    rows.push({ ...(await resumed(args, memory, row.seconds, hash)), load: load() });
  }
  rmSync(output);
  rows.push({ ...(await copied()), load: load() });
  const copy = Math.min(...rows.filter(({ what }) => what.startsWith('cp')).map(({ seconds }) => seconds));
  console.log(
    `${bytes} bytes of ${values.dtype}, ${cpus()[0]?.model}, ${cpus().length} cores, load ${load()}`,
  );
  for (const { what, seconds, peakMiB, killedAfter } of rows) {
    const rate = (bytes / seconds / 1e9).toFixed(2);
    const killed = killedAfter ? `, killed after ${killedAfter.join(', ')} s` : '';
    console.log(
      `${what}: ${seconds.toFixed(2)} s, ${rate} GB/s, ${(seconds / copy).toFixed(2)} × ${rows[0].what}, ${peakMiB} MiB${killed}`,
    );
  }
  if (values.json) {
    const machine = `${cpus()[0]?.model}, ${cpus().length} cores`;
    const { device, dtype } = values;
    const all = { date: new Date().toISOString(), machine, device, dtype, bytes, rows };
    writeFileSync(values.json, `${JSON.stringify(all, null, 2)}\n`);
  }
} finally {
  for (const folder of [from, to]) rmSync(folder, { recursive: true, force: true });
}
