import test from 'ava';
import { takeSample } from '../../../src/io/external/sample.js';

const bytes = Uint8Array.from({ length: 3000 }, (_, i) => i >> 2);
const records = Uint32Array.from({ length: 1000 }, (_, i) => i);

const readFrom =
  (from: Uint8Array) =>
  async (into: Uint8Array, position: number): Promise<void> =>
    into.set(from.subarray(position, position + into.length));

test('the sample takes one record from each equal part of the input and repeats for a seed', async (t) => {
  const of = (seed: number) =>
    takeSample(readFrom(new Uint8Array(records.buffer)), { n: 1000, recordBytes: 4, count: 90, seed });
  const sample = await of(1);
  const taken = new Uint32Array(sample.buffer);
  t.is(taken.length, 90);
  taken.forEach((unit, i) => {
    t.true(unit >= Math.floor((i * 1000) / 90) && unit < Math.floor(((i + 1) * 1000) / 90));
  });
  t.deepEqual(await of(1), sample);
  t.notDeepEqual(await of(2), sample);
});

test('the sample of a small input is the whole input, and of an empty input is empty', async (t) => {
  t.deepEqual(await takeSample(readFrom(bytes), { n: 1000, recordBytes: 3, count: 5000, seed: 3 }), bytes);
  t.is((await takeSample(readFrom(bytes), { n: 0, recordBytes: 3, count: 50, seed: 3 })).length, 0);
});
