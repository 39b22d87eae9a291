import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { tunedShape } from '../../../src/algorithms/algorithm.js';
import { algorithmNamed } from '../../../src/algorithms/registry.js';
import { fitTile, tileBytes } from '../../../src/algorithms/tile.js';
import { basisFor, tuningFor } from '../../../src/algorithms/tuning.js';
import { packageRoot } from '../../../src/util/paths.js';
import { knownDevice, profileNamed } from '../../device/profiles.js';

process.env.CLSORT_TUNING = 'off';

/** By algorithm and bytes of keys and values: the number of keys from which parameters were measured as best. */
const MEASURED: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync(join(packageRoot, 'test/algorithms/tunings/hopper.json'), 'utf8'),
);

const h200 = knownDevice(profileNamed('h200'));
const NAMED = ['histogramSize', 'lookBack', 'checkedLanes', 'groupsPerUnit', 'spinLimit'];

/** The parameters of a sort as text, with the bytes of local memory of its tile, or the reason why there are none. */
function inWords(name: string, keyBits: 8 | 16 | 32 | 64, valueBytes: number, n: number): string {
  const factory = algorithmNamed(name);
  const shape = tunedShape(factory, h200, { keyBits, valueBytes }, n);
  if (typeof shape === 'string') return shape;
  const tuning = tuningFor(factory, h200, shape);
  const tile = {
    ...fitTile(h200, shape, tuning),
    ...(name === 'single-workgroup' && { valuesAfter: false }),
  };
  const columns = tuning.histogramColumns ?? tuning.countColumns;
  return [
    `${tile.groupSize} x ${tile.keysPerItem}`,
    `rank ${tile.rank}`,
    `registers ${tile.maxRegisters}`,
    `offsets ${tile.offsetBits}`,
    `bins ${2 ** tile.radixBits}`,
    tile.valuesAfter ? 'values after' : 'values beside',
    ...(columns ? [`columns ${columns}`] : []),
    ...NAMED.filter((name) => tuning[name] !== undefined).map((name) => `${name} ${tuning[name]}`),
    `local ${tileBytes(shape, tile)}`,
  ].join(', ');
}

const SIZES = [256, 1000, ...[12, 16, 17, 18, 19, 20, 21, 22, 24, 26, 31].map((bits) => 2 ** bits)];

test('an H200 uses the tile, bins, registers and local memory that were measured on it', (t) => {
  for (const [sort, parameters] of Object.entries(MEASURED)) {
    const [, name = '', bits, bytes] = /^(\S+) (\d+)\+(\d+)$/.exec(sort) ?? [];
    for (const n of SIZES) {
      const from = Object.keys(parameters).filter((least) => Number(least) <= n);
      const expected = parameters[from.at(-1) ?? ''];
      t.is(inWords(name, Number(bits) as 8, Number(bytes), n), expected ?? '', `${n} keys with ${sort}`);
    }
  }
});

test('a Hopper device of any name uses the parameters measured on the H200', (t) => {
  const { info, capabilities } = h200;
  const renamed = { info: { ...info, name: 'NVIDIA Something' }, capabilities };
  const shape = { keyBits: 32, valueBytes: 0 } as const;
  for (const name of ['onesweep', 'tiled', 'single-workgroup', 'persistent']) {
    const factory = algorithmNamed(name);
    t.deepEqual(tuningFor(factory, renamed, shape, 2 ** 20), tuningFor(factory, h200, shape, 2 ** 20));
    t.is(basisFor(factory, renamed, shape), 'measured');
  }
});
