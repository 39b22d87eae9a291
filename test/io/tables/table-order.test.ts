import test from 'ava';
import { distinctStrings } from '../../../src/io/tables/distinct-strings.js';
import { tablePositions, verifyOrder } from '../../../src/io/tables/table-order.js';
import { runSync } from '../../../src/sort/host/steps.js';
import { ByteStrings } from '../../../src/sort/operations/strings/byte-strings.js';
import { MismatchError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import { forEachSorter } from '../../each-sorter.js';

/** Strings in pieces of several lengths. */
function stringsOf(all: readonly Uint8Array[], piece = 100): ByteStrings {
  const strings = new ByteStrings();
  for (let at = 0; at < all.length; at += piece) {
    const some = all.slice(at, at + piece);
    const lengths = Uint32Array.from(some, ({ length }) => length);
    strings.add(new Uint8Array(lengths.buffer), Buffer.concat(some));
  }
  return strings;
}

/** Texts that end with a zero, so that none is a prefix of another. */
const code = (text: string): Buffer => Buffer.from(`${text}\0`);

function expected(all: readonly Uint8Array[]): number[] {
  return all.map((_, i) => i).sort((i, j) => Buffer.compare(all[i] as Buffer, all[j] as Buffer) || i - j);
}

const random = new Random(7);
const CASES: Readonly<Record<string, Buffer[]>> = {
  none: [],
  one: [code('a')],
  'all alike': Array.from({ length: 300 }, () => code('the same, longer than a word')),
  short: Array.from({ length: 2000 }, () => code(String.fromCharCode(97 + (random.u32() % 20)))),
  'a common beginning': Array.from({ length: 2000 }, () => code(`https://example.org/${random.u32() % 700}`)),
  'of all lengths': Array.from({ length: 500 }, () =>
    code('ab'.repeat(random.u32() % 40) + (random.u32() % 3)),
  ),
  'one is very long': [
    ...Array.from({ length: 200 }, (_, i) => code(`k${i % 5}`)),
    code('k'.repeat(100_000)),
  ],
};

forEachSorter((title, open) => {
  test(title('codes are sorted stably, all of them or the first ones'), async (t) => {
    const sorter = await open();
    for (const [name, all] of Object.entries(CASES)) {
      const codes = stringsOf(all);
      const order = expected(all);
      const whole = await tablePositions(sorter, codes, {}, {});
      t.deepEqual([...whole], order, name);
      for (const head of [0, 1, 7, 150, 5000]) {
        const first = await tablePositions(sorter, codes, { head }, {});
        t.deepEqual([...first], order.slice(0, head), `${name}, the first ${head}`);
      }
      t.deepEqual(verifyOrder(codes, whole), { order: true, permutation: true });
    }
  });

  test(title('of equal rows, the first one in sorted order is kept'), async (t) => {
    const sorter = await open();
    const all = CASES.short ?? [];
    const groups = all.map((_, i) => code(`g${i % 7}`));
    const best = new Map<number, number>();
    for (const i of expected(all)) if (!best.has(i % 7)) best.set(i % 7, i);
    const found = await tablePositions(sorter, stringsOf(all), { distinct: stringsOf(groups) }, {});
    t.deepEqual([...found], [...best.values()]);
    const two = await tablePositions(sorter, stringsOf(all), { distinct: stringsOf(groups), head: 2 }, {});
    t.deepEqual([...two], [...best.values()].slice(0, 2));
  });
});

test('distinctOf returns the first position of each distinct string', (t) => {
  const all = Array.from({ length: 5000 }, (_, i) => code(`${i % 1234}`));
  t.deepEqual(
    [...runSync(distinctStrings(stringsOf(all)))],
    Array.from({ length: 1234 }, (_, i) => i),
  );
});

test('a wrong or unstable order fails verification', (t) => {
  const codes = stringsOf(['a', 'b', 'a'].map(code));
  t.deepEqual(verifyOrder(codes, Uint32Array.of(0, 2, 1)), { order: true, permutation: true });
  for (const wrong of [
    [0, 1, 2],
    [2, 0, 1],
    [0, 0, 1],
    [0, 2, 3],
  ]) {
    t.throws(() => verifyOrder(codes, Uint32Array.from(wrong)), { instanceOf: MismatchError });
  }
});

test('a batch with fewer bytes than its lengths is refused', (t) => {
  const lengths = new Uint8Array(Uint32Array.of(3).buffer);
  t.throws(() => new ByteStrings().add(lengths, new Uint8Array(2)), { instanceOf: RangeError });
});
