/** Compaction, reduction, histogram and merge in the shapes of other kinds of devices, against plain loops. */
import test from 'ava';
import type { Device } from '../../src/device/device.js';
import type { Buffer as DeviceBuffer } from '../../src/device/memory/buffer.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../src/keys/dtype.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import { Compaction } from '../../src/primitives/compact.js';
import { enqueueHistogramColumns } from '../../src/primitives/histogram-columns.js';
import { enqueueMerge } from '../../src/primitives/merge-arrays.js';
import { defaultPrimitiveTuning, type PrimitiveTuning } from '../../src/primitives/primitive-program.js';
import { enqueueReduce, reducesOnce } from '../../src/primitives/reduce.js';
import { PRIMITIVES, primitiveTuningFor } from '../../src/sort/backend/primitive-tuning.js';
import { knownDevice, PROFILES } from '../device/profiles.js';
import { keysOf, SEED } from '../distributions.js';
import { forEachDevice } from '../each-device.js';
import { FULL } from '../pairwise.js';
import { patterns, pick, referenceCode, referenceSort } from '../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const WIDTHS = ['u8', 'f16', 'i32', 'f64'] as const;

/** Kernel shapes by name: groups of one or several work-items, with and without look-back. */
function shapes(device: Device, dtype: Dtype): Record<string, PrimitiveTuning> {
  const own = defaultPrimitiveTuning(device, dtype);
  const waits = reducesOnce(device);
  const group = { ...own, groupSize: 16, rounds: 2, groupsPerUnit: 3, lookBack: 0 };
  return {
    item: { ...own, groupSize: 1, rounds: 3, lookBack: 0 },
    parts: group,
    ...(waits
      ? {
          once: { ...group, lookBack: 8, spinLimit: 100_000 },
          mute: { ...group, rounds: 1, lookBack: 4, spinLimit: 3, mute: 3 },
          held: { ...group, lookBack: 8, spinLimit: 100_000, held: true },
          'held and mute': { ...group, lookBack: 4, spinLimit: 3, mute: 3, held: true },
        }
      : { held: { ...group, held: true } }),
  };
}

/** Runs `use` with buffers that hold the arrays, and others of the given sizes in bytes. */
async function withBuffers<T>(
  device: Device,
  arrays: readonly ArrayBufferView[],
  sizes: readonly number[],
  use: (...buffers: DeviceBuffer[]) => Promise<T>,
): Promise<T> {
  const buffers = [...arrays.map(({ byteLength }) => byteLength), ...sizes].map((size) =>
    device.buffer(size),
  );
  try {
    for (const [i, array] of arrays.entries()) device.queue.write(buffers[i] as DeviceBuffer, array);
    return await use(...buffers);
  } finally {
    await device.queue.finish();
    for (const buffer of buffers) buffer.release();
  }
}

test('work-groups pass results to each other on every GPU without a loop limit, and on no CPU', (t) => {
  for (const profile of PROFILES) {
    const known = knownDevice(profile);
    const { type, quirks } = known.capabilities;
    const waits =
      type !== 'cpu' && quirks.maxLoopIterations === Number.POSITIVE_INFINITY && !quirks.simulated;
    for (const primitive of PRIMITIVES) {
      for (const [dtype, n] of [
        ['u32', 2 ** 20],
        ['u64', 2 ** 26],
      ] as const) {
        const what = `${profile.key} ${primitive} ${dtype}`;
        const {
          held = false,
          maxRegisters = 0,
          mute = 0,
          ...all
        } = primitiveTuningFor(known, primitive, dtype, n);
        t.is(all.lookBack > 0, waits, what);
        // A measured tuning may leave some fields to the model.
        t.is(Object.keys(all).length, 5, what);
        t.true([...Object.values(all), maxRegisters, mute].every(Number.isInteger), what);
        t.is(
          held,
          known.capabilities.limitsRegisters && primitive !== 'reduce' && primitive !== 'histogram',
          what,
        );
      }
    }
  }
});

forEachDevice((title, device, small) => {
  const sizes = small ? [1, 63, 300] : [1, 64, 65, 3001];

  for (const dtype of WIDTHS) {
    const unit = dtypeInfo(dtype).bytes;

    test.serial(title(`compaction of ${dtype} is correct by range, by mask and by run heads`), async (t) => {
      const opened = await device();
      for (const [s, [shape, tuning]] of Object.entries(shapes(opened, dtype)).entries()) {
        // Some drivers compile these kernels for seconds: every second shape is tested with every second dtype.
        if (!FULL && (s + WIDTHS.indexOf(dtype)) % 2 === 1) continue;
        for (const n of sizes) {
          const keys = keysOf(dtype, 'special', n);
          const sorted = keys.slice();
          bytesOf(sorted).set(referenceSort(bytesOf(keys), dtype));
          const codes = patterns(bytesOf(keys), dtype).map((bits) => referenceCode(dtype, {}, bits));
          const mask = Uint8Array.from({ length: n }, (_, i) => ((i * 7919) % 5 < 2 ? 0 : i | 1));
          const places = Array.from(codes.keys());
          const half = codes.toSorted((a, b) => Number(a > b) - Number(a < b))[n >> 1] as bigint;
          const heads = patterns(bytesOf(sorted), dtype);
          const what = `${shape} ${n} seed ${SEED}`;
          await withBuffers(
            opened,
            [keys, mask, sorted],
            [n * 8, n * 8],
            async (input, flags, inOrder, out, beside) => {
              for (const by of ['range', 'mask'] as const) {
                const isChosen = (i: number) => (by === 'mask' ? mask[i] !== 0 : (codes[i] as bigint) > half);
                const chosen = places.filter(isChosen);
                for (const rest of [false, true]) {
                  const compaction = await Compaction.create(opened, { dtype, by, tuning, inParts: rest });
                  t.is(compaction.once, tuning.lookBack > 0 && !rest, what);
                  const selection = by === 'mask' ? { mask: flags } : { low: 0n, high: half, not: true };
                  const count = compaction.enqueue({ keys: input, n, choice: selection, to: out, rest });
                  const expected = rest ? [...chosen, ...places.filter((i) => !isChosen(i))] : chosen;
                  const made = new Uint8Array(expected.length * unit);
                  opened.queue.read(out, made);
                  await opened.queue.finish();
                  t.is(count(), chosen.length, what);
                  t.deepEqual(made, pick(bytesOf(keys), unit, expected), `${by} ${rest} ${what}`);
                }
              }
              const begins = places.filter((i) => i === 0 || heads[i] !== heads[i - 1]);
              const backwards = Uint32Array.from(places, (i) => n - 1 - i);
              await withBuffers(opened, [backwards], [], async (positions) => {
                for (const by of ['heads', 'moved heads'] as const) {
                  const compaction = await Compaction.create(opened, { dtype, by, tuning });
                  t.is(compaction.once, tuning.lookBack > 0, what);
                  const moved = by === 'moved heads' && { moved: { input, positions } };
                  const to = { keys: beside, places: out, ...moved };
                  const count = compaction.enqueue({ keys: inOrder, n, choice: 'heads', to });
                  const [found, made] = [
                    new Uint32Array(begins.length),
                    new Uint8Array(begins.length * unit),
                  ];
                  opened.queue.read(out, found);
                  opened.queue.read(beside, made);
                  await opened.queue.finish();
                  t.is(count(), begins.length, what);
                  t.deepEqual([...found], begins, `${by} ${what}`);
                  const expected = moved
                    ? pick(
                        bytesOf(keys),
                        unit,
                        begins.map((i) => n - 1 - i),
                      )
                    : pick(bytesOf(sorted), unit, begins);
                  t.deepEqual(made, expected, `${by} ${what}`);
                }
              });
            },
          );
        }
      }
    });

    test.serial(title(`reduction and histogram of ${dtype} are correct in every kernel shape`), async (t) => {
      const opened = await device();
      const { parts, item } = shapes(opened, dtype);
      for (const tuning of [parts, item] as PrimitiveTuning[]) {
        for (const n of sizes) {
          const keys = keysOf(dtype, 'uniform', n) as KeyArray;
          const codes = patterns(bytesOf(keys), dtype).map((bits) => referenceCode(dtype, {}, bits));
          const width = BigInt(dtypeInfo(dtype).width);
          const what = `${tuning.groupSize} ${n} seed ${SEED}`;
          await withBuffers(opened, [keys], [], async (input) => {
            const counted = async (binning: Parameters<typeof enqueueHistogramColumns>[1]['binning']) => {
              const counts = await enqueueHistogramColumns(opened, {
                keys: input,
                n,
                dtype,
                binning,
                tuning,
              });
              await opened.queue.finish();
              return [...counts()];
            };
            const between = (edges: readonly bigint[]) =>
              edges.slice(0, -1).map((edge, b) => {
                const isLast = b === edges.length - 2;
                const end = edges[b + 1] as bigint;
                return codes.filter((code) => code >= edge && (code < end || (isLast && code === end)))
                  .length;
              });
            const digits = codes.map((code) => Number((code >> 2n) & 31n));
            t.deepEqual(
              await counted({ bits: [2, 7] }),
              Array.from({ length: 32 }, (_, d) => digits.filter((digit) => digit === d).length),
              what,
            );
            const eighth = 1n << (width - 3n);
            const even = Array.from({ length: 6 }, (_, i) => eighth + BigInt(i) * eighth);
            const odd = [1n, 5n, eighth, eighth + 7n, 6n * eighth];
            for (const edges of [
              even,
              [...even.slice(0, -1), 6n * eighth - 1n],
              odd,
              [eighth, 5n * eighth + 1n],
            ]) {
              t.deepEqual(await counted({ edges }), between(edges), `${edges} ${what}`);
            }
            if (!reducesOnce(opened) || dtype.endsWith('f16') || dtype === 'f64') return;
            const result = await enqueueReduce(opened, { keys: input, n, dtype, op: 'sum', tuning });
            const minimum = await enqueueReduce(opened, { keys: input, n, dtype, op: 'min', tuning });
            await opened.queue.finish();
            t.is(
              result(),
              Array.from(keys as Int32Array).reduce((sum, key) => sum + BigInt(key), 0n),
              what,
            );
            t.is(minimum(), Math.min(...(keys as Int32Array)), what);
          });
        }
      }
    });

    test.serial(title(`merges of ${dtype} are correct by work-items and by work-groups`), async (t) => {
      const opened = await device();
      for (const [aLength, bLength] of small
        ? [[100, 33]]
        : [
            [1, 5000],
            [2048, 2049],
            [6000, 3],
            [9001, 9001],
          ]) {
        const [a, b] = [aLength as number, bLength as number].map((n, i) => {
          const keys = keysOf(dtype, 'special', n, BigInt(i));
          return referenceSort(bytesOf(keys), dtype, { descending: true });
        }) as [Uint8Array, Uint8Array];
        const expected = referenceSort(Buffer.concat([a, b]), dtype, { descending: true });
        for (const alone of [false, true]) {
          await withBuffers(opened, [a, b], [a.length + b.length], async (left, right, output) => {
            const lengths = { aLength: a.length / unit, bLength: b.length / unit };
            const codec = keyCodec(dtype, { descending: true });
            await enqueueMerge(opened, { a: left, b: right, ...lengths, output, codec, alone });
            const merged = new Uint8Array(expected.length);
            opened.queue.read(output, merged);
            await opened.queue.finish();
            t.deepEqual(merged, expected, `${aLength} ${bLength} ${alone} seed ${SEED}`);
          });
        }
      }
    });
  }

  test.serial(title('merges of unsorted arrays access no memory outside them'), async (t) => {
    const opened = await device();
    const [aLength, bLength] = small ? [2999, 2500] : [9001, 9003];
    // Sawtooth keys make merge paths cross. The keys beyond the arrays must not be read.
    const saw = (n: number, shift: number) =>
      Array.from({ length: n }, (_, i) => ((7 * i + shift) % 1000) * 9);
    const beyond = new Uint32Array(4096).fill(0xffff_ffff);
    const a = Uint32Array.from([...saw(aLength, 1), ...beyond]);
    const b = Uint32Array.from([...saw(bLength, 77), ...beyond]);
    const codec = keyCodec('u32');
    const behind = new Uint32Array(1024).fill(7);
    const n = aLength + bLength;
    for (const alone of [false, true]) {
      await withBuffers(opened, [a, b], [4 * (n + behind.length)], async (left, right, output) => {
        opened.queue.write(output, behind, 4 * n);
        await enqueueMerge(opened, { a: left, b: right, aLength, bLength, output, codec, alone });
        const merged = new Uint32Array(n + behind.length);
        opened.queue.read(output, merged);
        await opened.queue.finish();
        t.true(
          merged.subarray(0, n).every((key) => key < 9000),
          `alone: ${alone}`,
        );
        t.deepEqual(merged.subarray(n), behind, `alone: ${alone}`);
      });
    }
  });
});
