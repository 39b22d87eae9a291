import test from 'ava';
import { DTYPES, dtypeInfo } from '../../src/keys/dtype.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import { CutRuns, MAX_RUNS } from '../../src/sort/cut-runs.js';
import { keysOf } from '../distributions.js';
import { forEachDevice } from '../each-device.js';
import { pick, referenceArgsort } from '../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

forEachDevice((title, open) => {
  for (const dtype of DTYPES) {
    test.serial(title(`${dtype}: runs are cut where a stable merge would be at that rank`), async (t) => {
      const device = await open();
      const { width, bytes: unit } = dtypeInfo(dtype);
      const cutter = await CutRuns.create(device, width);
      for (const [distribution, n, count] of [
        ['special', 300, 8],
        ['two', 77, 4],
        ['constant', 50, 3],
        ['uniform', 9, 2],
        ['uniform', 8, 8],
      ] as const) {
        const bits = distribution === 'special' ? ([0, width] as const) : ([1, width - 2] as const);
        const order = { descending: distribution === 'two' };
        const keys = bytesOf(keysOf(dtype, distribution, n));
        const runKeys = Math.ceil(n / count);
        const starts = Array.from({ length: Math.ceil(n / runKeys) }, (_, i) => i * runKeys);
        const runs = starts.map((start) => {
          const run = keys.subarray(start * unit, Math.min(start + runKeys, n) * unit);
          const sorted = pick(run, unit, referenceArgsort(run, dtype, { ...order, bits }));
          const buffer = device.buffer(runKeys * unit);
          device.queue.write(buffer, sorted);
          return buffer;
        });
        const cuts = cutter.enqueue({ runs, n, runKeys, codec: keyCodec(dtype, order), bits });
        await device.queue.finish();
        // Which run each place of the merged whole comes from: its position in the input tells.
        const from = referenceArgsort(keys, dtype, { ...order, bits }).map((i) => Math.floor(i / runKeys));
        const expected = starts.map((start) => {
          const first = from.slice(0, Math.min(start + runKeys, n));
          return starts.map((_, r) => first.filter((run) => run === r).length);
        });
        t.deepEqual(cuts(), expected, `${distribution} ${n}`);
        t.true(runs.length <= MAX_RUNS);
        for (const run of runs) run.release();
      }
    });
  }
});
