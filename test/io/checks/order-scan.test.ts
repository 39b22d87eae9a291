import test from 'ava';
import { OrderScan } from '../../../src/io/checks/order-scan.js';
import type { Lines } from '../../../src/io/formats/axis.js';
import { generate } from '../../../src/io/operations/gen.js';
import { DTYPES, type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import { encode, keyCodec, type Order } from '../../../src/keys/key-codec.js';
import { Random } from '../../../src/util/random.js';
import { patterns, referenceSort } from '../../reference.js';

interface Case extends Order {
  readonly dtype: Dtype;
  readonly bits: readonly [number, number];
}

/** Position of the first key out of order, computed in the simplest way. */
function firstFall(bytes: Uint8Array, order: Case, lines?: Lines): number | undefined {
  const [begin, end] = order.bits;
  const mask = (1n << BigInt(end - begin)) - 1n;
  const codec = keyCodec(order.dtype, order);
  const codes = patterns(bytes, order.dtype).map((key) => (encode(codec, key) >> BigInt(begin)) & mask);
  const columns = lines?.columns ?? codes.length;
  const fall = codes.findIndex((code, i) => {
    if (lines?.along === 'columns') return i >= columns && code < (codes[i - columns] ?? 0n);
    return i % columns > 0 && code < (codes[i - 1] ?? 0n);
  });
  return fall === -1 ? undefined : fall;
}

function scan(bytes: Uint8Array, order: Case, lines: Lines | undefined, random: Random): number | undefined {
  const found = new OrderScan(order, lines);
  const { bytes: keyBytes } = dtypeInfo(order.dtype);
  for (let at = 0; at < bytes.length; ) {
    const length = keyBytes * (1 + random.below(200));
    found.add(bytes.slice(at, at + length));
    at += length;
  }
  return found.descent?.at;
}

const SEED = 21;

test('OrderScan finds the descent of a plain search, for every dtype, order, window, distribution and shape', (t) => {
  const random = new Random(SEED);
  for (const dtype of DTYPES) {
    const { width, bytes: keyBytes } = dtypeInfo(dtype);
    for (const descending of [false, true]) {
      for (const nan of ['last', 'first'] as const) {
        for (const distribution of ['special', 'uniform', 'constant', 'low-byte'] as const) {
          const order = { descending, nan };
          for (const bits of [
            [0, width],
            [0, width - 3],
            [width >> 1, width],
          ] as const) {
            const keys = generate({ dtype, count: 600, distribution, seed: random.u32() });
            const whole = { dtype, bits, ...order };
            const sorted = referenceSort(keys, dtype, whole);
            const swapped = sorted.slice();
            const [a, b] = [random.below(600) * keyBytes, random.below(600) * keyBytes];
            swapped.copyWithin(a, b, b + keyBytes);
            for (const made of [keys, sorted, swapped]) {
              t.is(scan(made, whole, undefined, random), firstFall(made, whole), `${dtype} ${SEED}`);
            }
            for (const columns of [1, 7, 600]) {
              for (const along of ['rows', 'columns'] as const) {
                const lines = { rows: 600 / columns, columns, along };
                t.is(
                  scan(swapped, whole, lines, random),
                  firstFall(swapped, whole, lines),
                  `${dtype} ${SEED} ${columns} ${along}`,
                );
              }
            }
          }
        }
      }
    }
  }
});

test('a descent reports both keys, in a row, across pieces and in a column', (t) => {
  const order = { dtype: 'f64', bits: [0, 64] } as const;
  const bytes = (...keys: number[]) => new Uint8Array(Float64Array.from(keys).buffer);
  const row = new OrderScan(order);
  row.add(bytes(1, 2, 5));
  row.add(bytes(4.5, 6));
  t.deepEqual([row.descent, row.n], [{ at: 3, before: 5, key: 4.5 }, 5]);
  const column = new OrderScan(order, { rows: 3, columns: 2, along: 'columns' });
  column.add(bytes(1, -0, 1, 7, 3, 6.5));
  t.deepEqual(column.descent, { at: 5, before: 7, key: 6.5 });
  const zeros = new OrderScan(order);
  zeros.add(bytes(0, -0));
  t.is(zeros.descent?.at, 1);
});
