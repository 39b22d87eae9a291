import test from 'ava';
import { DTYPES, dtypeInfo } from '../../../src/keys/dtype.js';
import type { SortReport } from '../../../src/sort/model/report.js';
import { bitWindows, keysOf, SEED } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';
import { pick, referenceArgsort } from '../../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

const ORDERS = [{}, { descending: true, nan: 'first' }] as const;

forEachSorter((title, open, small) => {
  for (const dtype of small ? (['u8', 'f32', 'i64'] as const) : DTYPES) {
    test.serial(title(`${dtype} in streamed parts gives the keys and values of a whole sort`), async (t) => {
      const sorter = await open();
      for (const [n, parts] of small
        ? [[257, 3]]
        : ([
            [9, 8],
            [257, 3],
            [1000, 8],
            [5001, 7],
          ] as const)) {
        for (const distribution of ['special', 'two', 'and3'] as const) {
          const keys = keysOf(dtype, distribution, n);
          const values = keysOf('u64', 'uniform', n);
          for (const order of ORDERS) {
            const onWarning = ({ message }: Error) => t.fail(message);
            const options = { dtype, ...order, advanced: { tuning: { parts } }, onWarning };
            const positions = referenceArgsort(bytesOf(keys), dtype, order);
            const what = `${n} ${distribution} in ${parts}, seed ${SEED}`;
            const sorted = await sorter.sort(keys, options);
            t.true(same(sorted, pick(bytesOf(keys), dtypeInfo(dtype).bytes, positions)), what);
            const pairs = await sorter.sortPairs(keys, values, options);
            t.true(same(pairs.keys, sorted), what);
            t.true(same(pairs.values, pick(bytesOf(values), 8, positions)), what);
          }
        }
      }
    });
  }

  test.serial(title('bit windows are sorted stably across parts'), async (t) => {
    const sorter = await open();
    const keys = keysOf('i16', 'uniform', 300);
    const values = Uint32Array.from({ length: 300 }, (_, i) => i);
    for (const bits of small ? [[3, 9] as [number, number]] : bitWindows('i16')) {
      const positions = Uint32Array.from(referenceArgsort(bytesOf(keys), 'i16', { bits }));
      const pairs = await sorter.sortPairs(keys, values, {
        bitRange: bits,
        advanced: { tuning: { parts: 4 } },
      });
      t.deepEqual(pairs.values, positions, String(bits));
    }
  });

  test.serial(
    title('the report names the parts, and results are written into the given arrays'),
    async (t) => {
      const sorter = await open();
      const reports: SortReport[] = [];
      const keys = keysOf('u32', 'uniform', 2000) as Uint32Array;
      const into = new Uint32Array(2000);
      const options = {
        advanced: { tuning: { parts: 5 } },
        onReport: (report: SortReport) => reports.push(report),
        onWarning: (warning: Error) => t.fail(warning.message),
      };
      for (let round = 0; round < 3; round++) {
        into.fill(0);
        t.is(await sorter.sort(keys, { ...options, into }), into);
        t.deepEqual(into, keys.toSorted());
      }
      t.is(reports.length, 3);
      for (const { n, chunks, reason, device } of reports) {
        t.is(n, 2000);
        // Drivers that accept calls from one thread only get no second queue.
        if (/host|Clover|Oclgrind/.test(device.platform ?? device.name)) continue;
        t.is(chunks, 5);
        t.regex(reason, /in parts while the data are on the way/);
      }
    },
  );

  test.serial(title('sorts that cannot be divided into parts run as a whole'), async (t) => {
    const sorter = await open();
    const keys = keysOf('f32', 'special', 500);
    const tuning = { parts: 3 };
    const positions = referenceArgsort(bytesOf(keys), 'f32');
    t.deepEqual([...(await sorter.argsort(keys, { advanced: { tuning } }))], positions);
    const sorted = pick(bytesOf(keys), 4, positions);
    t.true(same(await sorter.sort(keys, { advanced: { tuning }, verify: true }), sorted));
    const onDevice = await sorter.upload(keys);
    t.true(same(await (await sorter.sort(onDevice, { advanced: { tuning } })).read(), sorted));
    onDevice.dispose();
    const odd = keysOf('u8', 'uniform', 500 * 3);
    t.true(
      same(
        (await sorter.sortPairs(keys, odd, { advanced: { tuning } })).values,
        pick(bytesOf(odd), 3, positions),
      ),
    );
  });
});
