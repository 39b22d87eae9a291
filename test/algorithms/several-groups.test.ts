/**
 * Communication between work-groups, with few enough keys for every device: tiles of 16 keys, groups that wait for each
 * other, and the look-back alone on states that no run on a CPU produces.
 */
import type { ExecutionContext } from 'ava';
import type { AlgorithmFactory } from '../../src/algorithms/algorithm.js';
import { amdRadix } from '../../src/algorithms/amd-radix.js';
import { onesweep } from '../../src/algorithms/onesweep.js';
import type { Tuning } from '../../src/algorithms/parameters.js';
import { persistentRadix } from '../../src/algorithms/persistent-radix.js';
import { buildTile, fitTile, tileBytes, tileDefines } from '../../src/algorithms/tile.js';
import { tiledRadix } from '../../src/algorithms/tiled-radix.js';
import type { Device } from '../../src/device/device.js';
import { Program } from '../../src/device/programs/program.js';
import { defineOptions, programSource } from '../../src/device/programs/program-source.js';
import { u32 } from '../../src/device/queue/queue.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import { keysOf } from '../distributions.js';
import { deviceNames, forEachOpened, PLATFORMS, testIf } from '../each-device.js';
import { pick, referenceArgsort } from '../reference.js';
import { reportsLocalMemory } from '../reports-local-memory.js';
import { bytesOf, positionBytes, type SortCase, sortBytes } from './sorts.js';

const SHAPE = { keyBits: 32, valueBytes: 4 } as const;
/** Iterations of a wait: the maximum, since the machine may be busy. */
const PATIENT = 2 ** 32 - 1;

/** Keys with many equal ones. */
const keysWithTies = (n: number): Uint32Array =>
  (keysOf('u32', 'uniform', n) as Uint32Array).map((key, i) => (i % 3 === 0 ? key & 0x0f00_00ff : key));

/**
 * Sorts keys with their positions, and compares both.
 * @returns the status word
 */
async function sorted(
  t: ExecutionContext,
  device: Device,
  factory: AlgorithmFactory,
  n: number,
  options: SortCase,
): Promise<number> {
  const keys = bytesOf(keysWithTies(n));
  const { keys: made, values, status } = await sortBytes(device, factory, keys, { indices: 4, ...options });
  if (status !== 0) return status;
  const positions = referenceArgsort(keys, 'u32', options.bits ? { bits: options.bits } : {});
  const what = JSON.stringify({ n, ...options });
  t.deepEqual(values, positionBytes(positions, 4), `positions of ${what}`);
  t.deepEqual(made, pick(keys, 4, positions), `keys of ${what}`);
  return 0;
}

/**
 * Runs the look-back on rows of states: one work-item per bin, whose tile follows the last row. `reached` receives -1,
 * or the row after that for which it waited too long.
 */
const PROBE = `
__kernel void look_back_probe(__global state_t *state, __global uint *control, __global offset_t *before,
                              __global int *reached, uint row)
{
    const uint bin = (uint)get_global_id(0);
    __global state_t *at = state + row * BINS + bin;
    offset_t sum = 0;
    const bool found = look_back(&at, control, &sum);
    before[bin] = sum;
    reached[bin] = found ? -1 : (int)((at - state) / BINS);
}
`;
const BINS = 256;
const COUNT = 0x4000_0000;
const SUM = 0x8000_0000;

/** Published states of tiles, the earliest first, and the prefix that the next tile has to compute from them. */
const HISTORIES: readonly {
  readonly history: readonly number[];
  readonly before: number;
  readonly claim: string;
}[] = [
  { claim: 'a single sum is the prefix', history: [SUM + 77], before: 77 },
  {
    claim: 'counts are added to the sum before them',
    history: [SUM + 100, COUNT + 5, COUNT + 7],
    before: 112,
  },
  {
    claim: 'states before a sum are ignored',
    history: [SUM + 9, COUNT + 3, SUM + 40, COUNT + 2],
    before: 42,
  },
  { claim: 'a count may be zero', history: [SUM + 1, COUNT, COUNT, COUNT + 6, COUNT], before: 7 },
  {
    claim: 'the look-back extends to the last sum',
    history: [SUM + 1000, ...Array.from({ length: 20 }, (_, i) => COUNT + i)],
    before: 1190,
  },
];

/** Of each device, before any test is declared. */
const localMemoryReports = new Map<string, true | string>();
for (const name of deviceNames())
  localMemoryReports.set(name, await reportsLocalMemory(PLATFORMS[name] ?? name));

await forEachOpened((title, device, small, name) => {
  const computeUnits = device.capabilities.computeUnits;
  const tile = { groupSize: 16, keysPerItem: 1, countColumns: 1 };

  testIf(true, title('tiled sorts with more work-groups than the spine scans at once'), async (t) => {
    // 64 for each compute unit, or one for each tile: always more than 16.
    for (const n of [16 * 33 + 5, small ? 700 : 3001]) {
      t.is(await sorted(t, device, tiledRadix, n, { tuning: { ...tile, groupsPerUnit: 64 } }), 0);
    }
  });

  const maxKeys = small ? 1500 : 100_000;
  for (const tiles of [2, 3, 12, 13]) {
    const n = 16 * tiles * computeUnits - 3;
    const able = n <= maxKeys || `the device has ${computeUnits} units: ${n} keys are too many`;
    testIf(
      able,
      title(`tiled sorts in work-groups of ${tiles} tiles each, one after the other`),
      async (t) => {
        // The same number of tiles for each group and a few more, so that the last group has fewer.
        for (const more of [0, 4, 20]) {
          t.is(await sorted(t, device, tiledRadix, n + more, { tuning: { ...tile, groupsPerUnit: 1 } }), 0);
        }
      },
    );
  }

  for (const factory of [tiledRadix, onesweep]) {
    testIf(
      factory.available(device, SHAPE),
      title(`${factory.name} moves values after keys through the same local memory`),
      async (t) => {
        const tuning = { groupSize: 16, keysPerItem: 3, valuesAfter: true };
        t.is(await sorted(t, device, factory, 150, { bits: [4, 12], tuning }), 0);
      },
    );
  }

  testIf(
    !small || 'scans of so many totals take 140,000 keys',
    title('amd sorts with more run totals than prefixSum scans at once'),
    async (t) => {
      // One work-item scans eight totals at a time; a run has 2^14 keys.
      const options = { bits: [3, 11], tuning: { localSize: 1, scan: 5 } } as const;
      t.is(await sorted(t, device, amdRadix, 8 * 2 ** 14 + 70_001, options), 0);
    },
  );

  testIf(
    localMemoryReports.get(name) ?? true,
    title('the tiled downsweep uses exactly the local memory that tileBytes computes'),
    async (t) => {
      for (const shape of [
        { keyBits: 32, valueBytes: 0 },
        { keyBits: 64, valueBytes: 4 },
        { keyBits: 8, valueBytes: 8 },
      ] as const) {
        for (const own of [{}, { valuesAfter: true }, { offsetBits: 64 }, { radixBits: 4 }]) {
          const tuning = { rank: 'masks', groupSize: 64, keysPerItem: 5, ...own };
          const fitted = fitTile(device, shape, tuning);
          const kernels = ['tiled_downsweep'];
          const { program } = await buildTile(device, 'tiled_radix.cl', shape, fitted, kernels, {
            COUNT_COLUMNS: 1,
          });
          const { localBytes } = program.kernel('tiled_downsweep');
          t.is(localBytes, tileBytes(shape, fitted), JSON.stringify({ ...shape, ...own }));
        }
      }
    },
  );

  // --- onesweep

  /** For drivers that silently end long loops, where the planner does not choose onesweep: a wait ends before that. */
  const loops = device.capabilities.quirks.maxLoopIterations;
  const patience: Tuning = { spinLimit: Math.min(PATIENT, loops / 8) };

  /** It is correct on rusticl 22. With other parameters, its self-test rejects it on rusticl 25. */
  const miscompiled = name === 'rusticl' && Number.parseInt(device.info.driver, 10) >= 25;
  const compiles =
    !miscompiled || 'rusticl 25 makes code of the pass that sorts wrong and may end the process';
  const tiny = { groupSize: 16, keysPerItem: 2, histogramSize: 16, histogramColumns: 1, ...patience };
  testIf(compiles, title('onesweep sorts with many work-groups'), async (t) => {
    for (const lookBack of [1, 4]) {
      const tuning = { ...tiny, lookBack };
      const algorithm = await onesweep.create(device, { ...SHAPE, valueBytes: 0, tuning });
      const keys = keysWithTies(small ? 500 : 3001);
      const { status, made } = await sortedBy(device, algorithm, keys);
      t.is(status, 0);
      t.deepEqual(made, keys.toSorted());
    }
  });

  for (const [mute, which] of ['no', 'even', 'odd', 'all'].entries()) {
    if (mute === 0) continue;
    testIf(compiles, title(`onesweep counts itself what ${which} tiles do not publish`), async (t) => {
      for (const lookBack of small ? [2] : [1, 4]) {
        const tuning = { ...tiny, lookBack, mute, spinLimit: 10 };
        const algorithm = await onesweep.create(device, { ...SHAPE, valueBytes: 0, tuning });
        for (const n of small ? [33] : [33, 1201]) {
          const keys = keysWithTies(n);
          const { status, made } = await sortedBy(device, algorithm, keys);
          t.is(status, 0);
          t.deepEqual(made, keys.toSorted(), `${n} keys`);
        }
        if (small || onesweep.available(device, SHAPE) !== true) continue;
        t.is(await sorted(t, device, onesweep, 999, { tuning, bits: [4, 24] }), 0);
        const keys = keysOf('f64', 'uniform', 900);
        const order = { descending: true };
        const result = await sortBytes(device, onesweep, bytesOf(keys), { dtype: 'f64', order, tuning });
        t.is(result.status, 0);
        t.deepEqual(result.keys, bytesOf(keys.toSorted().reverse()));
      }
    });
  }

  for (const lookBack of [1, 3]) {
    testIf(
      true,
      title(`onesweep look-back by ${lookBack} tiles at a time adds up the published counts`),
      async (t) => {
        const probe = await probeOf(device, { lookBack, spinLimit: 100 });
        for (const { history, before, claim } of HISTORIES) {
          t.deepEqual(await probe(history), { before, missing: undefined }, claim);
        }
        probe.release();
      },
    );

    testIf(
      true,
      title(`onesweep look-back by ${lookBack} tiles at a time names the tile that published nothing`),
      async (t) => {
        const probe = await probeOf(device, { lookBack, spinLimit: 100 });
        t.deepEqual(await probe([0]), { before: 0, missing: 0 });
        t.deepEqual(await probe([SUM + 3, 0, COUNT + 5]), { before: 5, missing: 1 });
        probe.release();
      },
    );
  }

  testIf(compiles, title('onesweep passes write nothing after a pass that failed'), async (t) => {
    const keys = keysWithTies(300);
    const algorithm = await onesweep.create(device, { ...SHAPE, valueBytes: 0, tuning: tiny });
    const passes: number[] = [];
    const written: Uint32Array[] = [];
    const { status } = await sortedBy(device, algorithm, keys, ({ kernel, buffers }) => {
      if (kernel !== 'onesweep_pass' || !buffers.keys || !buffers.control) return;
      // As the first pass would: its status, and STOP_FAILED in CONTROL_STOP. Its own places are right in any case.
      if (passes.length === 0) device.queue.write(buffers.control, Uint32Array.of(1, 0, 8));
      const copy = new Uint32Array(keys.length);
      device.queue.read(buffers.keys, copy);
      written.push(copy);
      passes.push(written.length);
    });
    t.is(status & 1, 1);
    t.is(passes.length, 4);
    // Passes write to two arrays in turns.
    t.deepEqual(written[2], written[0], 'the third pass writes nothing');
    for (const at of [1, 3])
      t.true(
        written[at]?.every((word) => word === POISON),
        `pass ${at + 1} writes nothing`,
      );
  });

  // --- persistent

  const persistent = persistentRadix.available(device, SHAPE);
  const threads =
    persistent !== true
      ? persistent
      : name === 'pocl' && computeUnits >= 2
        ? true
        : 'groups run side by side only where there are threads for them';

  testIf(threads, title('persistent sorts with two concurrent work-groups'), async (t) => {
    const tuning = { groupSize: 64, keysPerItem: 4, groupsPerUnit: 1, spinLimit: PATIENT };
    for (const n of [257, 500, 512]) {
      t.is(await sorted(t, device, persistentRadix, n, { tuning }), 0);
      t.is(await sorted(t, device, persistentRadix, n, { tuning, inPlace: true }), 0);
      t.is(await sorted(t, device, persistentRadix, n, { bits: [5, 9], tuning }), 0);
    }
  });

  testIf(
    threads,
    title('persistent sorts with fewer work-items per group than a quarter of the bins'),
    async (t) => {
      const tuning = { groupSize: 32, keysPerItem: 8, groupsPerUnit: 1, spinLimit: PATIENT };
      for (const n of [31, 255, 257, 512]) t.is(await sorted(t, device, persistentRadix, n, { tuning }), 0);
      t.is(await sorted(t, device, persistentRadix, 500, { bits: [3, 21], tuning }), 0);
    },
  );

  testIf(
    threads,
    title('persistent gives up with too many work-groups, and the next sort is correct'),
    async (t) => {
      // Four groups per thread cannot all be resident at once.
      const tuning = { groupSize: 64, keysPerItem: 1, groupsPerUnit: 4, spinLimit: 10_000 };
      const algorithm = await persistentRadix.create(device, { ...SHAPE, valueBytes: 0, tuning });
      const [many, few] = [keysWithTies(4 * 64 * computeUnits), keysWithTies(50)];
      for (let round = 0; round < 2; round++) {
        t.is((await sortedBy(device, algorithm, many)).status, 1);
        const { status, made } = await sortedBy(device, algorithm, few);
        t.is(status, 0);
        t.deepEqual(made, few.toSorted());
      }
    },
  );
});

const POISON = 0xa5a5_a5a5;

/** Sorts with an existing algorithm. */
async function sortedBy(
  device: Device,
  algorithm: Awaited<ReturnType<AlgorithmFactory['create']>>,
  keys: Uint32Array,
  onStage?: SortCase['onStage'],
): Promise<{ status: number; made: Uint32Array }> {
  const { queue } = device;
  const bits = [0, 32] as const;
  const sizes = algorithm.scratch(keys.length, { inPlace: false, bits });
  const [input, output] = [device.buffer(keys.byteLength), device.buffer(keys.byteLength)];
  const scratch = Object.fromEntries(
    Object.entries(sizes).map(([name, bytes]) => [name, device.buffer(bytes)]),
  );
  const all = [input, output, ...Object.values(scratch)];
  for (const buffer of all.slice(1)) queue.fill(buffer, POISON);
  queue.write(input, keys);
  const enqueued = algorithm.enqueue(queue, {
    n: keys.length,
    input,
    output,
    codec: keyCodec('u32'),
    bits,
    scratch,
    ...(onStage && { onStage }),
  });
  const [made, status] = [new Uint32Array(keys.length), new Uint32Array(1)];
  queue.read(output, made);
  if (enqueued.status) queue.read(enqueued.status, status);
  await queue.finish();
  for (const buffer of all) buffer.release();
  return { status: status[0] ?? 0, made };
}

/**
 * Compiles the probe.
 * @returns a function that runs it on one history, the same for all bins
 */
async function probeOf(device: Device, { lookBack, spinLimit }: { lookBack: number; spinLimit: number }) {
  const defines = {
    ...tileDefines(
      { keyBits: 32, valueBytes: 0 },
      {
        rank: 'masks',
        hasBallot: false,
        groupSize: 16,
        keysPerItem: 1,
        radixBits: 8,
        offsetBits: 32,
        maxRegisters: 0,
        subGroupSize: 32,
        valuesAfter: false,
      },
    ),
    HISTOGRAM_SIZE: 16,
    HISTOGRAM_COLUMNS: 1,
    LOOK_BACK: lookBack,
    SPIN_LIMIT: spinLimit,
    FINDS_ORDER: 0,
  };
  const standard = device.capabilities.quirks.acceptsClStd ? ['-cl-std=CL1.2'] : [];
  const program = await Program.build(
    { context: device.context, device: device.handle },
    {
      source: `${programSource('onesweep.cl')}\n${PROBE}`,
      options: [...standard, ...defineOptions(defines)].join(' '),
    },
    'the probe of look-back',
  );
  const run = async (
    history: readonly number[],
  ): Promise<{ before: number; missing: number | undefined }> => {
    const { queue } = device;
    // Memory before the first row allows a poll of several states at once, as in a sort.
    const rows = [...Array<number>(lookBack).fill(0), ...history, 0];
    const states = Uint32Array.from(
      { length: rows.length * BINS },
      (_, i) => rows[Math.floor(i / BINS)] ?? 0,
    );
    const [state, control, before, reached] = [
      device.buffer(states.byteLength),
      device.buffer(80),
      device.buffer(BINS * 4),
      device.buffer(BINS * 4),
    ];
    queue.write(state, states);
    queue.fill(control, 0);
    queue.run(program.kernel('look_back_probe'), [state, control, before, reached, u32(rows.length - 1)], {
      global: BINS,
      local: 16,
    });
    const [sums, ends] = [new Uint32Array(BINS), new Int32Array(BINS)];
    queue.read(before, sums);
    queue.read(reached, ends);
    await queue.finish();
    for (const buffer of [state, control, before, reached]) buffer.release();
    for (const words of [sums, ends]) {
      if (words.some((word) => word !== words[0])) throw new Error('bins with the same history differ');
    }
    const [end = -1] = ends;
    return { before: sums[0] ?? 0, missing: end < 0 ? undefined : end - 1 - lookBack };
  };
  return Object.assign(run, { release: () => program.release() });
}
