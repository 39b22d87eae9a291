import test from 'ava';
import { HISTOGRAM_LAB_STEPS, HistogramLab } from '../../src/lab/histogram.js';
import { UnsupportedError } from '../../src/util/errors.js';
import { Random } from '../../src/util/random.js';
import { forEachDevice } from '../each-device.js';

const seed = BigInt(Date.now());

forEachDevice((title, device) => {
  for (const step of HISTOGRAM_LAB_STEPS) {
    test.serial(
      title(
        `histogram lab: ${step} gives every work-item and bin a counter, and both merges count correctly`,
      ),
      async (t) => {
        const opened = await device();
        const { queue } = opened;
        const lab = await HistogramLab.create(opened, {
          dtype: 'u8',
          step,
          lab: { groupSize: 32 },
          keysPerItem: 8,
        });
        const { groupSize, counters, maxBins } = lab;
        const own = new Set<number>();
        const perItem = counters.bytes === 1;
        for (let item = 0; item < groupSize; item++) {
          for (let bin = 0; bin < Math.min(maxBins, 64); bin++) {
            const at = lab.counterOf(item, bin);
            t.true(at >= 0 && at < counters.length);
            own.add(at);
          }
        }
        t.is(own.size, (perItem ? groupSize : Math.ceil(groupSize / 32)) * 64);
        const random = new Random(seed);
        const keys = Uint8Array.from({ length: 1003 }, () => random.below(256));
        const n = keys.length;
        const bins = 32;
        const expected = Array.from(
          { length: bins },
          (_, bin) => keys.filter((key) => ((key >> 2) & 31) === bin).length,
        );
        using input = opened.buffer(1024);
        using partials = opened.buffer(lab.groups(n) * bins * 4);
        using counts = opened.buffer(bins * 4);
        queue.write(input, keys);
        for (const merge of ['serial', 'parallel'] as const) {
          const read = new Uint32Array(bins);
          lab.enqueue(queue, { keys: input, n, bits: [2, 7], partials, counts, merge });
          queue.read(counts, read);
          await queue.finish();
          t.deepEqual([...read], expected, `${merge}, seed ${seed}`);
        }
        if (maxBins === 64) {
          const tooMany = { keys: input, n, bits: [0, 8], partials, counts } as const;
          t.throws(() => lab.enqueue(queue, tooMany), {
            instanceOf: UnsupportedError,
            message: /at most 64/,
          });
        }
      },
    );
  }
});
