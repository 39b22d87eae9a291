/**
 * Segments of up to 64 keys, which rows of work-items sort: each dtype and order, every width of values, and windows of
 * bits.
 */
import test from 'ava';
import { segmentedSort } from '../../src/algorithms/segmented.js';
import { DTYPES, type Dtype, dtypeInfo } from '../../src/keys/dtype.js';
import type { Order } from '../../src/keys/key-codec.js';
import { Random } from '../../src/util/random.js';
import { bitWindows, dtypesOn, keysOf, SEED } from '../distributions.js';
import { forEachOpened } from '../each-device.js';
import { FULL } from '../pairwise.js';
import { pick, referenceArgsort } from '../reference.js';
import { bytesOf, positionBytes, type SortCase, sortBytes } from './sorts.js';

const ORDERS: readonly Order[] = [{}, { descending: true }, { descending: true, nan: 'first' }];
/** Bytes of values. */
const WIDTHS = [1, 2, 4, 8];
/** Maximum number of keys in a segment. A few segments are too long for a row and need the smallest tile. */
const MAX_LENGTH = 70;
const TILE = 128;

/** Positions in the array of the sorted keys, segment by segment. */
function expectedPositions(
  keys: Uint8Array,
  dtype: Dtype,
  lengths: readonly number[],
  order: Parameters<typeof referenceArgsort>[2],
): number[] {
  const unit = dtypeInfo(dtype).bytes;
  let first = 0;
  return lengths.flatMap((length) => {
    const begin = first;
    first += length;
    return referenceArgsort(keys.subarray(begin * unit, first * unit), dtype, order).map((i) => begin + i);
  });
}

await forEachOpened((title, device, small) => {
  const random = new Random(SEED);
  const lengths = Array.from({ length: small ? 16 : 200 }, () => random.below(MAX_LENGTH + 1));
  const n = lengths.reduce((sum, length) => sum + length, 0);
  const starts = lengths.map((_, s) => lengths.slice(0, s).reduce((sum, length) => sum + length, 0));
  const own = lengths.flatMap((length, s) => Array<number>(length).fill(starts[s] ?? 0));

  for (const dtype of dtypesOn(small)) {
    const unit = dtypeInfo(dtype).bytes;
    test.serial(title(`rows of work-items sort short segments of ${dtype}`), async (t) => {
      for (const [o, order] of ORDERS.entries()) {
        // A third of the windows, a different third for each dtype.
        const some = bitWindows(dtype).filter((_, i) => FULL || (i + DTYPES.indexOf(dtype)) % 3 === 0);
        const windows = o === 0 ? [undefined, ...some.slice(0, small ? 2 : undefined)] : [undefined];
        for (const [w, bits] of windows.entries()) {
          const keys = bytesOf(keysOf(dtype, (['uniform', 'and9'] as const)[w % 2] ?? 'uniform', n));
          const positions = expectedPositions(keys, dtype, lengths, { ...order, ...(bits && { bits }) });
          const sorted = pick(keys, unit, positions);
          const sort = async ({ rows = 'counts', ...more }: SortCase & { rows?: string }) => {
            const inPlace = more.inPlace ?? false;
            const what = JSON.stringify({ order, bits, inPlace, width: more.values?.width });
            const tuning = { form: 'groups', rows, longest: TILE };
            const segments = { lengths, known: true, ...more.segments };
            const all = { dtype, order, tuning, ...(bits && { bits }), ...more, segments };
            const result = await sortBytes(device, segmentedSort, keys, all);
            t.deepEqual(result.keys, sorted, `keys of ${what}`);
            return result.values;
          };
          for (const rows of ['counts', 'network'])
            for (const inPlace of [false, true]) await sort({ inPlace, rows });
          for (const width of w === 0 ? WIDTHS : [4]) {
            const bytes = Uint8Array.from({ length: n * width }, () => random.below(256));
            const moved = await sort({ values: { bytes, width }, inPlace: width !== 4 });
            t.deepEqual(moved, pick(bytes, width, positions), `values of ${width} bytes`);
          }
          for (const indices of [4, 8] as const) {
            const all = await sort({ indices });
            t.deepEqual(all, positionBytes(positions, indices), `positions of ${indices} bytes`);
            const inEach = await sort({ indices, segments: { lengths, fromSegment: true } });
            const relative = positions.map((position, i) => position - (own[i] ?? 0));
            t.deepEqual(inEach, positionBytes(relative, indices), `positions in segments`);
          }
        }
      }
    });
  }
});
