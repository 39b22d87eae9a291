import test from 'ava';
import { DTYPES, dtypeInfo } from '../../../src/keys/dtype.js';
import { keyCodec } from '../../../src/keys/key-codec.js';
import { cutBytes, MAX_RUNS, RunCutter } from '../../../src/sort/transfer/run-cutter.js';
import { keysOf } from '../../distributions.js';
import { forEachDevice } from '../../each-device.js';
import { pick, referenceArgsort } from '../../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

forEachDevice((title, open) => {
  for (const dtype of DTYPES) {
    test.serial(title(`${dtype}: runs are cut where a stable merge reaches each rank`), async (t) => {
      const device = await open();
      const { width, bytes: unit } = dtypeInfo(dtype);
      const cutter = await RunCutter.create(device, { keyBits: width, valueBytes: 0 });
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
        const cuts = device.buffer(cutBytes({ n, runKeys }));
        const found = new BigUint64Array(cuts.bytes / 8);
        cutter.cut({ runs, n, runKeys, codec: keyCodec(dtype, order), bits }, cuts);
        device.queue.read(cuts, found);
        const parts = starts.map((start, part) => {
          const count = Math.min(runKeys, n - start);
          const slices = device.buffer(runKeys * unit);
          cutter.take(runs, { bytes: unit, cuts, slices }, { part, count });
          const keysOfPart = new Uint8Array(count * unit);
          device.queue.read(slices, keysOfPart);
          return { slices, keysOfPart };
        });
        await device.queue.finish();
        // The position in the input identifies the run of each element of the merged whole.
        const runOf = (i: number) => Math.floor(i / runKeys);
        const from = referenceArgsort(keys, dtype, { ...order, bits }).map(runOf);
        const expected = starts.map((start) => {
          const first = from.slice(0, Math.min(start + runKeys, n));
          return starts.map((_, r) => first.filter((run) => run === r).length);
        });
        const got = starts.map((_, rank) =>
          Array.from(found.subarray(rank * MAX_RUNS, rank * MAX_RUNS + runs.length), Number),
        );
        t.deepEqual(got, expected, `${distribution} ${n}`);
        // Each part holds the keys of its range of the merged whole, run by run.
        const positions = referenceArgsort(keys, dtype, { ...order, bits });
        for (const [p, { keysOfPart }] of parts.entries()) {
          const own = positions.slice(p * runKeys, (p + 1) * runKeys);
          const runByRun = own.toSorted((a, b) => runOf(a) - runOf(b) || own.indexOf(a) - own.indexOf(b));
          t.is(Buffer.compare(keysOfPart, pick(keys, unit, runByRun)), 0, `${distribution} ${n}, part ${p}`);
        }
        for (const buffer of [...runs, cuts, ...parts.map(({ slices }) => slices)]) buffer.release();
      }
    });
  }

  for (const valueBytes of [1, 2, 4, 8, 16]) {
    test.serial(title(`values of ${valueBytes} bytes are taken with their keys`), async (t) => {
      const device = await open();
      const cutter = await RunCutter.create(device, { keyBits: 16, valueBytes });
      const [n, runKeys] = [100, 30];
      const keys = bytesOf(keysOf('u16', 'and15', n));
      const values = bytesOf(keysOf('u8', 'uniform', n * valueBytes));
      const starts = [0, 30, 60, 90];
      const upload = (bytes: Uint8Array, unit: number) => {
        const buffer = device.buffer(runKeys * unit);
        device.queue.write(buffer, bytes);
        return buffer;
      };
      // The runs of keys are sorted, and their values go with them.
      const positions = starts.map((start) => {
        const run = keys.subarray(2 * start, 2 * Math.min(start + runKeys, n));
        return referenceArgsort(run, 'u16', {}).map((position) => start + position);
      });
      const runs = positions.map((own) => upload(pick(keys, 2, own), 2));
      const valueRuns = positions.map((own) => upload(pick(values, valueBytes, own), valueBytes));
      const cuts = device.buffer(cutBytes({ n, runKeys }));
      cutter.cut({ runs, n, runKeys, codec: keyCodec('u16', {}), bits: [0, 16] }, cuts);
      const slices = device.buffer(runKeys * valueBytes);
      const merged = referenceArgsort(keys, 'u16', {});
      const ofRun = new Map(positions.flatMap((own, r) => own.map((position) => [position, r] as const)));
      for (const [part, start] of starts.entries()) {
        const count = Math.min(runKeys, n - start);
        cutter.take(valueRuns, { bytes: valueBytes, cuts, slices }, { part, count });
        const taken = new Uint8Array(count * valueBytes);
        device.queue.read(slices, taken);
        await device.queue.finish();
        const own = merged.slice(start, start + count);
        const runByRun = starts.flatMap((_, r) => own.filter((position) => ofRun.get(position) === r));
        t.is(Buffer.compare(taken, pick(values, valueBytes, runByRun)), 0, `part ${part}`);
      }
      for (const buffer of [...runs, ...valueRuns, cuts, slices]) buffer.release();
    });
  }
});
