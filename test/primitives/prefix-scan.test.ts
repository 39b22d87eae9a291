/** Scans by every operation, of every dtype, against a loop of BigInts and plain numbers. */
import test from 'ava';
import type { Device } from '../../src/device/device.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../src/keys/dtype.js';
import { SCAN_OPS, type ScanOp } from '../../src/primitives/possible.js';
import { PrefixScan } from '../../src/primitives/prefix-scan.js';
import { defaultPrimitiveTuning, type PrimitiveTuning } from '../../src/primitives/primitive-program.js';
import { UnsupportedError } from '../../src/util/errors.js';
import { keysOf, SEED } from '../distributions.js';
import { forEachDevice } from '../each-device.js';
import { FULL } from '../pairwise.js';
import { patterns, referenceCode } from '../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const isFloat = (dtype: Dtype) => dtypeInfo(dtype).kind === 'float';

/** Bit patterns of the smallest and the largest number, including infinities. */
const ENDS: Readonly<Record<string, readonly [bigint, bigint]>> = {
  u: [0n, -1n],
  i8: [0x80n, 0x7fn],
  i16: [0x8000n, 0x7fffn],
  i32: [0x8000_0000n, 0x7fff_ffffn],
  i64: [1n << 63n, (1n << 63n) - 1n],
  f16: [0xfc00n, 0x7c00n],
  bf16: [0xff80n, 0x7f80n],
  f32: [0xff80_0000n, 0x7f80_0000n],
  f64: [0xfff0n << 48n, 0x7ff0n << 48n],
};

/** Results as bit patterns, for operations with exact results. */
function expectedOf(keys: KeyArray, dtype: Dtype, op: ScanOp, inclusive: boolean): bigint[] {
  const { width } = dtypeInfo(dtype);
  const ends = (ENDS[dtype] ?? ENDS.u) as readonly [bigint, bigint];
  const begin = { sum: 0n, product: 1n, min: BigInt.asUintN(width, ends[1]), max: ends[0] }[op];
  const code = (bits: bigint) => referenceCode(dtype, { nan: op === 'min' ? 'first' : 'last' }, bits);
  const combine = (a: bigint, b: bigint): bigint => {
    if (op === 'sum') return BigInt.asUintN(width, a + b);
    if (op === 'product') return BigInt.asUintN(width, a * b);
    return (op === 'min' ? code(b) < code(a) : code(b) > code(a)) ? b : a;
  };
  let value = begin;
  return patterns(bytesOf(keys), dtype).map((key) => {
    const before = value;
    value = combine(value, key);
    return inclusive ? value : before;
  });
}

async function scanned(
  device: Device,
  shape: { readonly dtype: Dtype; readonly op: ScanOp; readonly tuning?: PrimitiveTuning },
  keys: KeyArray,
  { inclusive, inPlace = false }: { inclusive: boolean; inPlace?: boolean },
): Promise<{ readonly bits: bigint[]; readonly once: boolean; readonly result: Uint8Array }> {
  const scan = await PrefixScan.create(device, { ...shape, inParts: inPlace });
  const result = new Uint8Array(keys.byteLength);
  const [input, output] = [device.buffer(keys.byteLength), device.buffer(keys.byteLength)];
  try {
    device.queue.write(input, keys);
    scan.enqueue({ input, output: inPlace ? input : output, n: keys.length, inclusive });
    device.queue.read(inPlace ? input : output, result);
    await device.queue.finish();
    return { bits: patterns(result, shape.dtype), once: scan.once, result };
  } finally {
    input.release();
    output.release();
  }
}

/**
 * Forms of the scan: the device's default, in parts, by look-back, and by look-back with tiles that publish nothing.
 */
const forms = (device: Device, dtype: Dtype, small: boolean): Record<string, PrimitiveTuning> => {
  const own = defaultPrimitiveTuning(device, dtype);
  const groups = { ...own, groupSize: small ? 4 : 16, rounds: 2, groupsPerUnit: 3 };
  const waits = Number.isFinite(device.capabilities.quirks.maxLoopIterations);
  return {
    own,
    items: { ...own, groupSize: 1, rounds: 1, lookBack: 0 },
    parts: { ...groups, lookBack: 0 },
    ...(!waits && {
      once: { ...groups, lookBack: 4, spinLimit: 100_000 },
      held: { ...groups, lookBack: 4, spinLimit: 100_000, held: true },
      'held and mute': { ...groups, lookBack: 3, spinLimit: 2, mute: 2, held: true },
      // Waiting groups compute the sums that other groups do not publish.
      mute: { ...groups, lookBack: 3, spinLimit: 2, mute: 2 },
      deaf: { ...groups, lookBack: 1, spinLimit: 1, mute: 1 },
    }),
  };
};

forEachDevice((title, device, small) => {
  for (const dtype of DTYPES) {
    const exact = SCAN_OPS.filter((op) => !isFloat(dtype) || op === 'min' || op === 'max');
    test.serial(
      title(`scans of ${dtype} compute ${exact.join(', ')} in several kernel forms, for any n`),
      async (t) => {
        const opened = await device();
        const maxKeys = small ? 700 : 20_001;
        for (const [i, [form, tuning]] of Object.entries(forms(opened, dtype, small)).entries()) {
          // Each form has a program for each operation, which some drivers compile for seconds. Forms that the device
          // does not use by default are tested with one operation, and only with every second dtype.
          const turn = i + DTYPES.indexOf(dtype);
          if (!FULL && form !== 'own' && turn % 2 === 0) continue;
          const ops = form === 'own' ? exact : [exact[(turn >> 1) % exact.length] as ScanOp];
          const tile = tuning.groupSize * tuning.rounds * (16 / dtypeInfo(dtype).bytes);
          const sizes = new Set([1, 2, 15, 16, 17, tile - 1, tile, tile + 1, 5 * tile + 3, maxKeys]);
          for (const n of [...sizes].filter((size) => size > 0 && size <= maxKeys)) {
            for (const op of ops) {
              const keys = keysOf(dtype, n % 2 ? 'special' : 'uniform', n);
              const inclusive = (n + op.length) % 2 === 0;
              const what = `${form} ${op} ${n} inclusive ${inclusive}, seed ${SEED}`;
              const made = await scanned(opened, { dtype, op, tuning }, keys, { inclusive });
              t.deepEqual(made.bits, expectedOf(keys, dtype, op, inclusive), what);
              t.is(made.once, tuning.lookBack > 0, what);
            }
          }
        }
      },
    );
  }

  test.serial(title('an in-place scan is correct, exclusive and inclusive'), async (t) => {
    const opened = await device();
    const keys = keysOf('u32', 'uniform', small ? 500 : 9001);
    for (const tuning of Object.values(forms(opened, 'u32', small))) {
      for (const inclusive of [false, true]) {
        const shape = { dtype: 'u32', op: 'sum', tuning } as const;
        const { bits } = await scanned(opened, shape, keys, { inclusive, inPlace: true });
        t.deepEqual(bits, expectedOf(keys, 'u32', 'sum', inclusive));
      }
    }
  });

  test.serial(title('float sums and products take two launches where other scans take one'), async (t) => {
    const opened = await device();
    const tuning = { ...defaultPrimitiveTuning(opened, 'f32'), lookBack: 8 };
    const keys = Float32Array.from({ length: 600 }, (_, i) => i % 7);
    for (const op of ['sum', 'product'] as const) {
      t.false((await PrefixScan.create(opened, { dtype: 'f32', op, tuning })).once);
    }
    const { result } = await scanned(opened, { dtype: 'f32', op: 'sum', tuning }, keys, { inclusive: true });
    let sum = 0;
    const expected = keys.map((key) => (sum += key));
    t.deepEqual(new Float32Array(result.buffer as ArrayBuffer), expected);
  });

  for (const dtype of ['f32', 'f64'] as const) {
    test.serial(
      title(
        `sums and products of ${dtype} stay within the documented error and are reproducible bit for bit`,
      ),
      async (t) => {
        const opened = await device();
        if (dtype === 'f64' && !opened.capabilities.fp64) {
          await t.throwsAsync(async () => PrefixScan.create(opened, { dtype, op: 'sum' }), {
            instanceOf: UnsupportedError,
          });
          return;
        }
        const n = small ? 600 : 70_001;
        const Floats = (dtype === 'f32' ? Float32Array : Float64Array) as Float64ArrayConstructor;
        const epsilon = dtype === 'f32' ? 2 ** -24 : 2 ** -53;
        const summands = Floats.from({ length: n }, (_, i) => ((i * 7919) % 4001) / 64 - 20);
        // Powers of two, whose product stays small and is exact.
        const factors = Floats.from({ length: n }, (_, i) => (i % 4 < 2 ? 2 : 0.5) * (i % 3 ? 1 : -1));
        for (const tuning of Object.values(forms(opened, dtype, small)).slice(0, 3)) {
          const shape = { dtype, op: 'sum', tuning } as const;
          const { result } = await scanned(opened, shape, summands, { inclusive: true });
          const again = await scanned(opened, shape, summands, { inclusive: true });
          t.deepEqual(result, again.result);
          const sums = new Floats(result.buffer as ArrayBuffer);
          let [sum, magnitude, worst] = [0, 0, 0];
          summands.forEach((key, i) => {
            sum += key;
            magnitude += Math.abs(key);
            worst = Math.max(worst, Math.abs((sums[i] as number) - sum) / magnitude);
          });
          t.true(worst <= 4 * Math.log2(n) * epsilon, `${worst}`);
          const products = await scanned(opened, { dtype, op: 'product', tuning }, factors, {
            inclusive: false,
          });
          let product = 1;
          const expected = factors.map((factor) => {
            const before = product;
            product *= factor;
            return before;
          });
          t.deepEqual(new Floats(products.result.buffer as ArrayBuffer), expected);
        }
      },
    );
  }

  test.serial(title('a scan by look-back stays correct after its launch numbers wrap around'), async (t) => {
    const opened = await device();
    const tuning = forms(opened, 'u32', small).once ?? defaultPrimitiveTuning(opened, 'u32');
    const scan = await PrefixScan.create(opened, { dtype: 'u32', op: 'sum', tuning });
    const keys = keysOf('u32', 'uniform', 300);
    const [input, output] = [opened.buffer(1200), opened.buffer(1200)];
    opened.queue.write(input, keys);
    for (let i = 0; i < (small ? 9 : 2 ** 14 + 3); i++) {
      scan.enqueue({ input, output, n: 300, inclusive: true });
      if (i % 1000 === 0) await opened.queue.finish();
    }
    const result = new Uint32Array(300);
    opened.queue.read(output, result);
    await opened.queue.finish();
    t.deepEqual(patterns(bytesOf(result), 'u32'), expectedOf(keys, 'u32', 'sum', true));
    input.release();
    output.release();
  });
});
