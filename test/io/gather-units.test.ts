import test from 'ava';
import { gatherUnits } from '../../src/io/gather-units.js';
import { runSync } from '../../src/sort/host/steps.js';
import { Random } from '../../src/util/random.js';
import { pick } from '../reference.js';

test('units of any size and alignment are gathered by position', (t) => {
  const random = new Random(4);
  const n = 77;
  for (const unit of [...Array(70).keys()].slice(1).concat(100, 256, 257, 300, 1000, 4099)) {
    const positions = Uint32Array.from({ length: n }, () => random.below(n));
    for (const offset of [0, 1, 4]) {
      const memory = random.bytes(offset + n * unit);
      const from = memory.subarray(offset);
      const room = new Uint8Array(offset + n * unit + 5).fill(0xee);
      const to = room.subarray(offset, offset + n * unit);
      runSync(gatherUnits(from, unit, positions, to));
      t.deepEqual(to, pick(from, unit, [...positions]), `${unit} bytes from ${offset} on`);
      t.deepEqual([...room.subarray(0, offset), ...room.subarray(-5)], Array(offset + 5).fill(0xee));
    }
  }
});

test('gatherUnits accepts fewer or more positions than units', (t) => {
  const from = Uint8Array.of(1, 2, 3, 4);
  const to = new Uint8Array(12);
  runSync(gatherUnits(from, 2, Uint32Array.of(1, 0, 1, 1, 0, 0), to));
  t.deepEqual([...to], [3, 4, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2]);
  t.notThrows(() => runSync(gatherUnits(from, 2, new Uint32Array(0), new Uint8Array(0))));
});
