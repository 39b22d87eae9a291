import test from 'ava';
import { Sorter, type SortOptions, type SortReport } from '../../../src/index.js';
import { keyColumn } from '../../../src/keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import { keyCodec } from '../../../src/keys/key-codec.js';
import { KeyRangeProbe, narrowBits } from '../../../src/sort/backend/key-range-probe.js';
import { forEachDevice } from '../../each-device.js';
import { forEachSorter } from '../../each-sorter.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

test('a bit window is narrowed by constant bits at both ends, never in between', (t) => {
  t.deepEqual(narrowBits([0, 32], 0x0000_0ff0n), [4, 12]);
  t.deepEqual(narrowBits([0, 32], 0x8000_0001n), [0, 32]);
  t.deepEqual(narrowBits([0, 64], 1n << 63n), [63, 64]);
  t.deepEqual(narrowBits([8, 16], 0xff_00ffn), [8, 8]);
  t.deepEqual(narrowBits([8, 16], 0xff_10ffn), [12, 13]);
  const [begin, end] = narrowBits([0, 32], 0n);
  t.is(begin, end);
});

const N = 2 ** 17 + 5;
/** Numbers without pattern below 2^bits. */
const words = (bits: number) =>
  Uint32Array.from({ length: N }, (_, i) => Math.imul(i + 1, 0x9e3779b9) >>> (32 - bits));

const CASES: readonly (readonly [
  claim: string,
  Dtype,
  KeyArray,
  SortOptions,
  bits: readonly [number, number],
])[] = [
  ['small u32', 'u32', words(11), {}, [0, 11]],
  ['high bits of u32', 'u32', words(9).map((w) => (w << 23) >>> 0), { descending: true }, [23, 32]],
  ['equal keys', 'u32', new Uint32Array(N).fill(77), {}, [0, 0]],
  ['small i64', 'i64', BigInt64Array.from(words(20), (w) => BigInt(w)), {}, [0, 20]],
  ['whole f32 from 1024 to 2047', 'f32', Float32Array.from(words(10), (w) => 1024 + w), {}, [13, 23]],
  ['random u32', 'u32', words(32), {}, [0, 32]],
  ['a window of small u32', 'u32', words(11), { bitRange: [4, 32] }, [4, 11]],
];

forEachDevice((title, device, small) => {
  for (const [claim, dtype, keys, options, bits] of small ? CASES.slice(0, 1) : CASES) {
    test.serial(title(`the probe of many keys finds the bits that differ: ${claim}`), async (t) => {
      const opened = await device();
      const column = { ...keyColumn(keys), place: keys };
      const buffer = opened.buffer(keys.byteLength);
      opened.queue.write(buffer, keys);
      const asked = options.bitRange ?? ([0, dtypeInfo(dtype).width] as const);
      const found = await new KeyRangeProbe(opened).narrow(column, buffer, {
        bits: asked,
        codec: keyCodec(dtype, options),
        radixBits: 8,
      });
      buffer.release();
      // A GPU does not probe so few keys.
      t.deepEqual(found, opened.capabilities.type === 'cpu' ? bits : asked);
    });
  }
});

forEachSorter((title, open, small) => {
  for (const [claim, dtype, keys, options, bits] of small ? CASES.slice(0, 1) : CASES) {
    test.serial(title(`constant digits need no pass: ${claim}`), async (t) => {
      const sorter = await open();
      await using host = await Sorter.open({ device: 'host' });
      let report: SortReport | undefined;
      const sorted = await sorter.sort(keys, {
        ...options,
        verify: true,
        onReport: (made) => {
          report = made;
        },
      });
      t.true(same(sorted, await host.sort(keys, options)));
      t.deepEqual(await sorter.argsort(keys, options), await host.argsort(keys, options));
      // A GPU does not probe so few keys, and `serial` finds constant digits itself.
      const [begin, end] = options.bitRange ?? [0, dtypeInfo(dtype).width];
      const asks = report?.device.type === 'cpu' && report.algorithm !== 'serial';
      if (report?.device.type !== 'host') t.deepEqual(report?.bitRange, asks ? bits : [begin, end], dtype);
      using array = await sorter.upload(keys);
      using moved = await sorter.sort(array, options);
      t.true(same(await moved.read(), sorted));
    });
  }

  test.serial(title('an outlier that a sample misses is sorted correctly'), async (t) => {
    const sorter = await open();
    // 'serial' finds constant digits itself; other algorithms use the probe.
    for (const algorithm of sorter.device ? (['auto', 'tiled'] as const) : (['auto'] as const)) {
      for (const at of [1, N - 2, N - 1]) {
        const keys = words(8);
        keys[at] = 0xdead_beef;
        const sorted = await sorter.sort(keys, { algorithm });
        t.is(sorted[N - 1], 0xdead_beef, `${algorithm}, ${at}`);
        t.true(same(sorted, keys.toSorted()));
      }
    }
  });
});
