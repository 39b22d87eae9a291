import test from 'ava';
import * as fc from 'fast-check';
import {
  type Frame,
  framesOf,
  PATIENCE,
  type Setup,
  waitsOf,
} from '../../docs/.vitepress/theme/look-back.js';

const EVEN: Setup = {
  ...{ counts: Array.from({ length: 9 }, (_, i) => i + 1), ticks: Array.from({ length: 9 }, () => 2) },
  ...{ groups: 9, rule: 'look-back', mute: null },
};

/** Ticks after which each tile has its prefix. */
const known = (frames: readonly Frame[]): number[] =>
  EVEN.counts.map((_, i) => frames.findIndex(({ tiles }) => tiles[i]?.prefix !== null));

test('every tile gets its prefix after a bounded wait, even if tiles are slow or one never publishes', (t) => {
  const setups = fc.integer({ min: 1, max: 12 }).chain((n) =>
    fc.record({
      counts: fc.array(fc.nat(9), { minLength: n, maxLength: n }),
      ticks: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: n, maxLength: n }),
      groups: fc.integer({ min: 1, max: n + 1 }),
      rule: fc.constantFrom<Setup['rule']>('look-back', 'chain'),
      mute: fc.option(fc.nat(n - 1)),
    }),
  );
  fc.assert(
    fc.property(setups, (setup) => {
      const frames = framesOf(setup);
      let sum = 0;
      const prefixes = setup.counts.map((count) => {
        sum += count;
        return sum;
      });
      t.deepEqual(
        frames.at(-1)?.tiles.map(({ prefix }) => prefix),
        prefixes,
      );
      for (const { tiles } of frames) {
        const busy = tiles.filter(({ doing }) => doing !== 'idle' && doing !== 'done');
        t.true(busy.length <= setup.groups);
        t.is(new Set(busy.map(({ group }) => group)).size, busy.length, 'a group has one tile at a time');
        t.true(tiles.every(({ waited }) => waited < PATIENCE));
        if (setup.mute !== null) t.is(tiles[setup.mute]?.published, 'nothing');
      }
    }),
    { seed: 22, numRuns: 200 },
  );
});

test('look-back reaches prefixes in logarithmic time, and a chain one tile after the other', (t) => {
  const [decoupled, chain] = (['look-back', 'chain'] as const).map((rule) => framesOf({ ...EVEN, rule }));
  const start = known(decoupled ?? [])[0] as number;
  t.deepEqual(
    known(decoupled ?? []).map((tick) => tick - start),
    [0, 1, 2, 2, 3, 3, 3, 4, 4],
  );
  t.deepEqual(
    known(chain ?? []).map((tick) => tick - start),
    [0, 1, 2, 3, 4, 5, 6, 7, 8],
  );
  t.is(waitsOf(decoupled ?? []), 0);
  t.true(waitsOf(chain ?? []) > 0);
});

test('a tile that never publishes is recounted by a tile that waited long enough', (t) => {
  const frames = framesOf({ ...EVEN, mute: 3 });
  t.true(frames.some(({ tiles }) => tiles[4]?.doing === 'recounts' && tiles[4].looksAt === 3));
  t.false(framesOf(EVEN).some(({ tiles }) => tiles.some(({ doing }) => doing === 'recounts')));
});
