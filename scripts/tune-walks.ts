#!/usr/bin/env node
/**
 * Finds parameters for walks over keys on a device, and keeps them where those of `clsort tune` are:
 *
 *     node dist/scripts/tune-walks.js [--device gpu] [--n 16777216] [--seconds 60] [--dry-run]
 *
 * Scans, compactions, reductions and histograms of keys of 32 and 64 bits. One parameter after the other is varied while the
 * others stay; what does not give the same bytes as the parameters that are there is never timed.
 */
import { parseArgs } from 'node:util';
import type { Tuning } from '../src/algorithms/parameters.js';
import { storedTuning, storeTuning, type TunedRow } from '../src/algorithms/tuning-store.js';
import { search, type Tried } from '../src/bench/tune.js';
import { Device } from '../src/device/device.js';
import { generate } from '../src/io/gen.js';
import { Compaction } from '../src/primitives/compact.js';
import { enqueueHistogramColumns } from '../src/primitives/histogram-columns.js';
import { PrefixScan } from '../src/primitives/prefix-scan.js';
import { enqueueReduceOnce, reducesOnce } from '../src/primitives/reduce-once.js';
import type { WalkTuning } from '../src/primitives/walk.js';
import { WALK_PARAMETERS, WALKS, type Walk, walkTuningFor } from '../src/sort/operations/walk-tuning.js';

const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'gpu' },
    n: { type: 'string', default: String(2 ** 24) },
    seconds: { type: 'string', default: '60' },
    'dry-run': { type: 'boolean', default: false },
  },
});
const n = Number(values.n);
const REPEATS = 15;

const device = await Device.open(values.device);
const { queue } = device;
const axes = Object.fromEntries(
  Object.entries(WALK_PARAMETERS).flatMap(([name, { axis }]) => (axis ? [[name, axis]] : [])),
);
const rows: TunedRow[] = [];
try {
  for (const dtype of ['u32', 'u64'] as const) {
    const bytes = dtype === 'u32' ? 4 : 8;
    const [input, output] = [device.buffer(n * bytes), device.buffer(n * bytes)];
    queue.write(input, generate({ dtype, count: n, distribution: 'uniform', seed: 1n }));
    await queue.finish();

    /** Enqueues a walk once. @returns what it has made, to be asked after the wait */
    const enqueue = async (walk: Walk, tuning: WalkTuning): Promise<() => unknown> => {
      if (walk === 'scan') {
        const scan = await PrefixScan.create(device, { dtype, op: 'sum', tuning });
        scan.enqueue({ input, output, n, inclusive: false });
        return () => undefined;
      }
      if (walk === 'compact') {
        const compaction = await Compaction.create(device, { dtype, by: 'range', tuning });
        const choice = { low: 0n, high: 1n << BigInt(8 * bytes - 1), not: false };
        return compaction.enqueue({ keys: input, n, choice, to: output });
      }
      if (walk === 'reduce') return enqueueReduceOnce(device, { keys: input, n, dtype, op: 'sum', tuning });
      const binning = { bits: [8 * bytes - 8, 8 * bytes] } as const;
      return enqueueHistogramColumns(device, { keys: input, n, dtype, binning, tuning });
    };

    /** All that a walk makes, as text and bytes. */
    const made = async (walk: Walk, tuning: WalkTuning): Promise<string> => {
      queue.fill(output, 0);
      const told = await enqueue(walk, tuning);
      const view = new Uint8Array(n * bytes);
      queue.read(output, view);
      await queue.finish();
      const { createHash } = await import('node:crypto');
      return `${told()} ${createHash('sha256').update(view).digest('hex')}`;
    };

    for (const walk of WALKS) {
      if (walk === 'reduce' && !reducesOnce(device)) continue;
      const start = walkTuningFor(device, walk, dtype, n);
      const right = await made(walk, start);
      const ends = performance.now() + (Number(values.seconds) * 1000) / (2 * WALKS.length);
      const attempt = async (tuning: Tuning): Promise<Tried> => {
        const own = tuning as unknown as WalkTuning;
        try {
          if ((await made(walk, own)) !== right) return { result: 'wrong', reason: 'other bytes' };
        } catch (error) {
          return { result: 'unsupported', reason: String(error) };
        }
        const times: number[] = [];
        for (let i = 0; i < REPEATS; i++) {
          const before = performance.now();
          for (let j = 0; j < 8; j++) await enqueue(walk, own);
          await queue.finish();
          times.push((performance.now() - before) / 8000);
        }
        times.sort((a, b) => a - b);
        const median = times[REPEATS >> 1] as number;
        const deviations = times.map((time) => Math.abs(time - median)).sort((a, b) => a - b);
        return { result: 'ok', time: { median, mad: deviations[REPEATS >> 1] as number } };
      };
      const found = await search(axes, { ...start }, { attempt, more: () => performance.now() < ends });
      if (!found) continue;
      const { before, after, tuning } = found;
      console.log(
        `${walk} ${dtype}: ${(before.median * 1e3).toFixed(3)} ms, then ${(after.median * 1e3).toFixed(3)} by ${JSON.stringify(tuning)}`,
      );
      rows.push({ algorithm: walk, which: { keyBits: 8 * bytes }, tuning });
    }
    input.release();
    output.release();
  }
  const stored = storedTuning(device);
  const others = stored.rows.filter(({ algorithm }) => !(WALKS as readonly string[]).includes(algorithm));
  if (!values['dry-run'] && !storeTuning(device.info, { ...stored, rows: [...others, ...rows] })) {
    console.error('parameters could not be kept: there is no cache folder to write to');
    process.exitCode = 5;
  }
} finally {
  await device.close();
}
