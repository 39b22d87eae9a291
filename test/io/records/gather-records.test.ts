import test from 'ava';
import { gatherRecords } from '../../../src/io/records/gather-records.js';
import { runSync } from '../../../src/sort/host/steps.js';
import { Random } from '../../../src/util/random.js';
import { pick } from '../../reference.js';

test('records of any size and alignment are gathered by position', (t) => {
  const random = new Random(4);
  const n = 77;
  for (const recordBytes of [...Array(70).keys()].slice(1).concat(100, 256, 257, 300, 1000, 4099)) {
    const positions = Uint32Array.from({ length: n }, () => random.below(n));
    for (const offset of [0, 1, 4]) {
      const memory = random.bytes(offset + n * recordBytes);
      const from = memory.subarray(offset);
      const buffer = new Uint8Array(offset + n * recordBytes + 5).fill(0xee);
      const to = buffer.subarray(offset, offset + n * recordBytes);
      runSync(gatherRecords(from, recordBytes, positions, to));
      t.deepEqual(to, pick(from, recordBytes, [...positions]), `${recordBytes} bytes from ${offset} on`);
      t.deepEqual([...buffer.subarray(0, offset), ...buffer.subarray(-5)], Array(offset + 5).fill(0xee));
    }
  }
});

test('gatherRecords accepts fewer or more positions than records', (t) => {
  const from = Uint8Array.of(1, 2, 3, 4);
  const to = new Uint8Array(12);
  runSync(gatherRecords(from, 2, Uint32Array.of(1, 0, 1, 1, 0, 0), to));
  t.deepEqual([...to], [3, 4, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2]);
  t.notThrows(() => runSync(gatherRecords(from, 2, new Uint32Array(0), new Uint8Array(0))));
});
