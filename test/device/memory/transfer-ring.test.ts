import test from 'ava';
import { TransferRing } from '../../../src/device/memory/transfer-ring.js';

test('a single small transfer uses several threads, concurrent ones use one each, and a large one uses the whole ring', async (t) => {
  const pinned = { memory: new ArrayBuffer(1024), buffer: { released: false } };
  const ring = new TransferRing(pinned as never, 4);
  const ends: (() => void)[] = [];
  const seen: [bytes: number, threads: number, crowded: boolean][] = [];
  const run = (bytes: number): Promise<unknown> =>
    ring.run(bytes, ({ memory, threads, isContended }) => {
      seen.push([memory.length, threads, isContended]);
      return new Promise<void>((resolve) => {
        ends.push(resolve);
      });
    });
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  const small = Array.from({ length: 5 }, () => run(256));
  const large = run(257);
  await nextTurn();
  t.deepEqual(seen.splice(0), [
    [256, 4, false],
    [256, 2, false],
    [256, 1, true],
    [256, 1, true],
  ]);
  ends.shift()?.();
  await nextTurn();
  t.deepEqual(seen.splice(0), [[256, 1, true]]);
  for (const end of ends.splice(0)) end();
  await Promise.all(small);
  await nextTurn();
  t.deepEqual(seen.splice(0), [[1024, 8, false]]);
  for (const end of ends.splice(0)) end();
  await large;
  const alone = run(1);
  await nextTurn();
  t.deepEqual(seen, [[256, 4, false]]);
  for (const end of ends) end();
  await alone;
});
