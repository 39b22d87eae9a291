import test from 'ava';
import { Checksums, hostChecksum } from '../../../src/sort/verification/checksum.js';
import { forEachDevice } from '../../each-device.js';

const bytes = (n: number): Uint8Array =>
  Uint8Array.from({ length: n }, (_, i) => Math.imul(i + 1, 2654435761) >>> 13);

/** The sum as cl/checksum.cl describes it. */
function model(data: Uint8Array): bigint {
  let sum = 0n;
  for (let at = 0; at < data.length; at += 4) {
    const word = data.subarray(at, at + 4).reduceRight((high, byte) => (high << 8n) | BigInt(byte), 0n);
    sum += word * BigInt(at / 2 + 1);
  }
  return BigInt.asUintN(64, sum);
}

for (const n of [0, 1, 3, 4, 5, 4099, 9_000_001]) {
  test(`the host sums ${n} bytes to the same checksum as the model`, async (t) => {
    const data = bytes(n);
    t.is(await hostChecksum(data), model(data));
  });
}

test('a change of any single word changes the checksum', async (t) => {
  const data = new Uint32Array(1000);
  const before = await hostChecksum(data);
  for (const [at, bit] of [
    [0, 0],
    [1, 31],
    [998, 31],
    [999, 17],
  ] as const) {
    data[at] = (1 << bit) >>> 0;
    t.not(await hostChecksum(data), before);
    data[at] = 0;
  }
});

forEachDevice((title, open, small) => {
  for (const n of small ? [1, 4, 7, 1021] : [1, 4, 7, 1021, 1_000_003]) {
    test(title(`the device and the host compute the same checksum of ${n} bytes`), async (t) => {
      const device = await open();
      const checksums = await Checksums.create(device);
      const data = bytes(n);
      const buffer = device.buffer(n);
      device.queue.write(buffer, data);
      const same = checksums.enqueueComparison([{ buffer, copy: data }]);
      await device.queue.finish();
      t.true(await same());
      data[n - 1] = (data[n - 1] ?? 0) ^ 1;
      t.false(await same());
      buffer.release();
    });
  }
});
