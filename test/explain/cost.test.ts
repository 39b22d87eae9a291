import test from 'ava';
import { costOf, firstOf, sideBySide } from '../../src/explain/cost.js';

test('a row with both active and idle work-items counts as divergent', (t) => {
  const every = costOf({ active: Array.from({ length: 64 }, (_, i) => i % 2 === 0) });
  t.deepEqual([every.active, every.idle, every.divergent], [32, 32, 2]);
  const front = costOf({ active: firstOf(32, 64) });
  t.deepEqual([front.active, front.idle, front.divergent], [32, 32, 0]);
  t.deepEqual(front.banks, []);
});

test('bank conflicts are those of the worst access, for 16 and for 32 banks', (t) => {
  const strided = Array.from({ length: 32 }, (_, i) => i * 16);
  const { banks, sectors } = costOf({
    active: firstOf(32, 32),
    local: { accesses: [sideBySide(32), strided], bytes: 4 },
    global: [
      { access: sideBySide(32), bytes: 4 },
      { access: strided, bytes: 4 },
    ],
  });
  t.deepEqual(banks, [
    { banks: 16, plain: 16, padded: 1 },
    { banks: 32, plain: 16, padded: 1 },
  ]);
  t.is(sectors, 4 + 32);
});
