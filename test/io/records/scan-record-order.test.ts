import { Readable } from 'node:stream';
import test from 'ava';
import { scanOrder } from '../../../src/io/checks/check.js';
import { layoutOrdering } from '../../../src/io/records/layout-ordering.js';
import { keyOrdering, type RecordOrdering } from '../../../src/io/records/record-ordering.js';
import { findDescent, RecordOrderChecker } from '../../../src/io/records/scan-record-order.js';
import { openSource } from '../../../src/io/streams/raw.js';
import { bytesOf } from '../../../src/keys/array.js';
import { DTYPES } from '../../../src/keys/dtype.js';
import { keysOf } from '../../distributions.js';
import { referenceSort } from '../../reference.js';
import { orderOf, TEN_OF_TWELVE } from '../external/small.js';

const record = 12;
const records = (texts: readonly string[]): Buffer =>
  Buffer.from(texts.map((text) => text.padEnd(record)).join(''));
const byName = layoutOrdering({ record, keys: ['0:10'] });

function descentOf(order: RecordOrdering, pieces: readonly Uint8Array[]) {
  const check = new RecordOrderChecker(order);
  for (const piece of pieces) check.add(piece);
  return check.descent;
}

test('the first record out of order is found within pieces and at their edges', (t) => {
  const names = ['anna', 'anna', 'annabelle1', 'annabelle2', 'bob', 'bob', 'carl'];
  for (let at = 1; at < names.length; at++) {
    const wrong = names.toSpliced(at, 0, 'aaa');
    for (let cut = 0; cut <= wrong.length; cut++) {
      const pieces = [wrong.slice(0, cut), wrong.slice(cut)].map(records);
      t.is(descentOf(byName, pieces), at, `${at}, cut at ${cut}`);
    }
  }
  t.is(descentOf(byName, [records(names)]), undefined);
  t.is(
    descentOf(
      byName,
      names.map((name) => records([name])),
    ),
    undefined,
  );
  // These differ only after the first eight bytes.
  t.is(descentOf(byName, [records(['annabelle2', 'annabelle1'])]), 1);
  t.is(descentOf(byName, [records(['annabelle2']), records(['annabelle1'])]), 1);
  t.is(descentOf(byName, []), undefined);
});

test('plain keys are checked in any order and in any bit window', (t) => {
  const bytes = bytesOf(Float64Array.of(Number.NaN, -1, -0, 0, 2));
  const f64 = { dtype: 'f64', bits: [0, 64] } as const;
  t.is(descentOf(keyOrdering({ ...f64, nan: 'first' }), [bytes]), undefined);
  t.is(descentOf(keyOrdering(f64), [bytes]), 1);
  t.is(descentOf(keyOrdering({ ...f64, nan: 'first', descending: true }), [bytes]), 2);
  const words = bytesOf(Uint16Array.of(0x01ff, 0x0200, 0x0103));
  t.is(descentOf(keyOrdering({ dtype: 'u16', bits: [0, 16] }), [words]), 2);
  t.is(descentOf(keyOrdering({ dtype: 'u16', bits: [0, 8] }), [words]), 1);
  t.is(descentOf(keyOrdering({ dtype: 'u16', bits: [0, 2] }), [words.subarray(2)]), undefined);
});

test('keyOrder compares single keys as their prefixes do', (t) => {
  const order = keyOrdering({ dtype: 'i32', bits: [0, 32], descending: true });
  const bytes = bytesOf(Int32Array.of(-5, 7, 7));
  t.true(order.compare(bytes, 0, bytes, 1) > 0);
  t.true(order.compare(bytes, 1, bytes, 0) < 0);
  t.is(order.compare(bytes, 1, bytes, 2), 0);
  const [x = 0n, y = 0n, z = 0n] = order.prefix(bytes);
  t.true(x > y && y === z);
});

test('a pipe with chunks of any length is checked in one pass', async (t) => {
  const bytes = records(['b', 'c', 'd', 'a', 'b']);
  const chunks = [bytes.subarray(0, 5), bytes.subarray(5, 30), bytes.subarray(30)];
  const { n, descent } = await scanOrder(
    (await openSource('-', Readable.from(chunks))).pieces(record),
    new RecordOrderChecker(byName),
  );
  t.deepEqual([n, descent], [5, 3]);
});

test('findDescent finds the first record out of order at any position', (t) => {
  for (const dtype of ['u8', 'f32', 'f64'] as const) {
    const order = orderOf(dtype, { descending: true });
    const sorted = referenceSort(bytesOf(keysOf(dtype, 'uniform', 900)), dtype, { descending: true });
    t.is(findDescent(order, sorted), -1);
    t.is(findDescent(order, sorted.subarray(0, order.recordBytes)), -1);
    t.is(findDescent(order, new Uint8Array(0)), -1);
    const wrong = sorted.slice();
    wrong.copyWithin(500 * order.recordBytes, 0, order.recordBytes);
    t.is(findDescent(order, wrong), 500);
  }
  const many = new Uint8Array(2 ** 20).fill(1);
  for (const at of [2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1, 2 ** 20 - 1]) {
    const wrong = many.slice();
    wrong[at] = 0;
    t.is(findDescent(orderOf('u8'), wrong), at);
  }
});

test('records with equal prefixes are compared in full', (t) => {
  const recordPair = new Uint8Array(24).fill(9);
  t.is(findDescent(TEN_OF_TWELVE, recordPair), -1);
  recordPair[21] = 8; // the last byte of the second key
  t.is(findDescent(TEN_OF_TWELVE, recordPair), 1);
});

for (const dtype of DTYPES) {
  test(`${dtype}: sorted keys pass, and the first key out of order is found`, (t) => {
    for (const given of [{}, { descending: true }, { nan: 'first' }] as const) {
      const order = orderOf(dtype, given);
      for (const distribution of ['uniform', 'special', 'constant', 'two'] as const) {
        const sorted = referenceSort(bytesOf(keysOf(dtype, distribution, 3000)), dtype, given);
        t.is(findDescent(order, sorted), -1, distribution);
        const [first, last] = [sorted.slice(0, order.recordBytes), sorted.slice(-order.recordBytes)];
        if (Buffer.compare(first, last) === 0) continue;
        // The smallest key again, after the first larger one.
        const other = sorted.findIndex((byte, i) => byte !== first[i % order.recordBytes]);
        const at = Math.floor(other / order.recordBytes) + 1;
        sorted.set(first, at * order.recordBytes);
        t.is(findDescent(order, sorted), at, distribution);
      }
    }
  });
}
