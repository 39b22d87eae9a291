/** Digits of a chosen width, through the library: every width sorts in the expected number of passes. */
import test from 'ava';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import type { SortReport } from '../../../src/sort/model/report.js';
import { UnsupportedError, UsageError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';
import { referenceArgsort } from '../../reference.js';

const WIDTHS = [
  { algorithm: 'split', kernel: 'split_move', widths: [1, 2, 3, 4] },
  { algorithm: 'tiled', kernel: 'tiled_downsweep', widths: [1, 2, 3, 4, 8] },
  { algorithm: 'serial', kernel: 'serial_scatter', widths: [1, 2, 3, 4, 8, 11] },
] as const;

/** The host engine has its own digits, and returns the same result. */
const onHost = (sorter: Sorter): boolean => sorter.plan(1).engine === 'host';

forEachSorter((title, open) => {
  for (const { algorithm, kernel, widths } of WIDTHS) {
    for (const radixBits of widths) {
      test.serial(
        title(`${algorithm} sorts by digits of ${radixBits} bits, whole keys and windows`),
        async (t) => {
          const sorter = await open();
          const keys = keysOf('f32', 'uniform', 1003) as Float32Array;
          const bytes = new Uint8Array(keys.buffer);
          for (const bits of [
            [0, 32],
            [5, 21],
          ] as const) {
            const reports: SortReport[] = [];
            const onReport = (report: SortReport) => reports.push(report);
            const options = { advanced: { radixBits }, bitRange: bits, profile: true, onReport };
            const order = await sorter.argsort(keys, { ...options, ...(!onHost(sorter) && { algorithm }) });
            t.deepEqual([...order], referenceArgsort(bytes, 'f32', { bits }));
            const moves = reports[0]?.stages.find(({ stage }) => stage === kernel);
            t.is(moves?.launches, onHost(sorter) ? undefined : Math.ceil((bits[1] - bits[0]) / radixBits));
          }
        },
      );
    }
  }

  test.serial(
    title('a digit width that an algorithm lacks is an error, and auto chooses one that has it'),
    async (t) => {
      const sorter = await open();
      const keys = Uint32Array.of(3, 1, 2);
      await t.throwsAsync(sorter.sort(keys, { advanced: { radixBits: 13 } }), {
        instanceOf: UsageError,
        message: /1 to 12/,
      });
      await t.throwsAsync(sorter.sort(keys, { advanced: { radixBits: 2.5 } }), { instanceOf: UsageError });
      if (sorter.device?.type === 'gpu') {
        // GPU algorithms with a choice of digit width accept at most 8 bits.
        await t.throwsAsync(sorter.sort(keys, { advanced: { radixBits: 11 } }), {
          instanceOf: UnsupportedError,
        });
        t.is(sorter.plan(1000, { advanced: { radixBits: 4 } }).algorithm, 'tiled');
      } else {
        t.deepEqual(await sorter.sort(keys, { advanced: { radixBits: 11 } }), Uint32Array.of(1, 2, 3));
        if (onHost(sorter)) return;
        t.is(sorter.plan(1000, { advanced: { radixBits: 11 } }).algorithm, 'serial');
      }
      for (const [algorithm, radixBits] of [
        ['tiled', 11],
        ['split', 8],
        ['amd', 4],
      ] as const) {
        const named = sorter.sort(keys, { algorithm, advanced: { radixBits } });
        await t.throwsAsync(named, {
          instanceOf: UsageError,
          message: new RegExp(
            `radixBits of algorithm '${algorithm}'|algorithm '${algorithm}' with radixBits`,
          ),
        });
      }
    },
  );
});
