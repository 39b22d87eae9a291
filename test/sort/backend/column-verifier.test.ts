/** Verification of results on devices and on the host: correct results pass, and wrong ones are found. */

import ava, { type ExecutionContext } from 'ava';
import type { Device } from '../../../src/device/device.js';
import { bytesOf, newArray } from '../../../src/keys/array.js';
import { DTYPES, type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import { keyCodec } from '../../../src/keys/key-codec.js';
import { SCAN_OPS, type ScanOp } from '../../../src/primitives/possible.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import type { Backend } from '../../../src/sort/backend/backend.js';
import type { ColumnKernels, TopShort } from '../../../src/sort/backend/column-kernels.js';
import type { ColumnVerifier, DeferredVerdict } from '../../../src/sort/backend/column-verifier.js';
import { DeviceBackend } from '../../../src/sort/backend/device-session.js';
import { HostBackend } from '../../../src/sort/backend/host-backend.js';
import { HostColumnKernels } from '../../../src/sort/backend/host-column-kernels.js';
import { HostColumnVerifier } from '../../../src/sort/backend/host-column-verifier.js';
import { NativeColumnVerifier } from '../../../src/sort/backend/native-column-verifier.js';
import type { Call } from '../../../src/sort/calls/call.js';
import { Execution } from '../../../src/sort/calls/call-scheduler.js';
import { type Column, column, isOnDevice, viewOf } from '../../../src/sort/model/column.js';
import { parseSortOptions } from '../../../src/sort/model/parse-options.js';
import { enqueueJoin, JOIN_PLACES, type JoinKind } from '../../../src/sort/operations/join/join.js';
import type { TopColumns } from '../../../src/sort/operations/operation.js';
import { enqueueScan } from '../../../src/sort/operations/scan/scan.js';
import { segmentColumn } from '../../../src/sort/operations/segments/segment-column.js';
import { enqueueTopSegments } from '../../../src/sort/operations/segments/top-segments.js';
import { enqueueFilter } from '../../../src/sort/operations/select/filter.js';
import { enqueuePartition } from '../../../src/sort/operations/select/partition.js';
import { COMPACT } from '../../../src/sort/operations/select/selection.js';
import { markMembers, sortedKeys } from '../../../src/sort/operations/sets/contains.js';
import { joinParts } from '../../../src/sort/operations/sets/sets.js';
import { enqueueTopK } from '../../../src/sort/operations/top-k/top-k.js';
import { enqueueUnique } from '../../../src/sort/operations/unique/unique.js';
import { MismatchError } from '../../../src/util/errors.js';
import type { MaybePromise } from '../../../src/util/maybe-promise.js';
import { keysOf } from '../../distributions.js';
import { forEachDevice } from '../../each-device.js';

type Step = keyof ColumnKernels;
type Spoil = (result: Column) => Promise<void>;

/** Changes one key of a column: the result of one step, as if the step had been wrong. */
async function changeKey(device: Device | undefined, { place, n, info }: Column, at: number): Promise<void> {
  const { bytes } = info;
  if (!isOnDevice(place)) {
    const view = bytesOf(place, at * bytes, at * bytes + 1);
    view[0] = (view[0] as number) ^ 1;
    return;
  }
  const all = new Uint8Array(n * bytes);
  device?.queue.read(place, all);
  await device?.queue.finish();
  all[at * bytes] = (all[at * bytes] as number) ^ 1;
  device?.queue.write(place, all);
  await device?.queue.finish();
}

/** The same object with another property. */
const replacing = <T extends object>(target: T, property: string, by: unknown): T =>
  new Proxy(target, {
    get: (_, name) => {
      if (name === property) return by;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

/** A backend in which `spoil` follows one step, with the column that the step writes. */
function faulty(backend: Backend, step: Step, resultOf: (args: unknown[]) => Column, spoil: Spoil): Backend {
  const columnsOf: Backend['columns'] = (by) => {
    const columns = backend.columns(by);
    const { kernels } = columns;
    const wrong = async (...args: unknown[]) => {
      const result = await (kernels[step] as (...all: unknown[]) => Promise<unknown>).apply(kernels, args);
      await spoil(resultOf(args));
      return result;
    };
    return replacing(columns, 'kernels', replacing(kernels, step, wrong));
  };
  return replacing(backend, 'columns', columnsOf);
}

/** More keys than the selection accepts. */
const SELECT = 100;

async function run<T>(backend: Backend, use: (call: Call) => MaybePromise<T>, select = SELECT): Promise<T> {
  const onWarning = () => undefined;
  const settings = parseSortOptions({ verify: true, advanced: { tuning: { select } } });
  return Execution.run({ backend, settings, onWarning }, async (call) => {
    const made = await use(call);
    return () => made;
  });
}

const newColumn = (dtype: Dtype, n: number): Column => column(dtype, n, newArray(dtype, n));

/**
 * An operation on keys, the step whose result is spoiled, and the position of that result among the step's arguments.
 */
interface Checked {
  readonly what: string;
  readonly step: Step;
  readonly result: (args: unknown[]) => Column;
  readonly use: (call: Call, keys: Column) => unknown;
  readonly select?: number;
}

const selection = (dtype: Dtype) => {
  const { width } = dtypeInfo(dtype);
  return { low: 0n, high: (1n << BigInt(width - 1)) + 5n, not: false };
};

const scanned = (op: ScanOp, inclusive: boolean): Checked => ({
  what: `${inclusive ? 'inclusive' : 'exclusive'} scan by ${op}`,
  step: 'scan',
  result: (args) => args[1] as Column,
  use: (call, keys) => enqueueScan(call, keys, newColumn(keys.dtype, keys.n), { op, inclusive }),
});

const joined = (kind: JoinKind, columns: number) => (call: Call, keys: Column) =>
  enqueueJoin(
    call,
    keys,
    { ...keys, n: kind === 'inner' ? keys.n : 3 },
    {
      kind,
      make: (pairs) => ({ columns: Array.from({ length: columns }, () => newColumn('u32', pairs)) }),
    },
  );

const results = (dtype: Dtype, n: number, second: 'counts' | 'positions') => ({
  keys: newColumn(dtype, n),
  [second]: newColumn('u32', n),
});

function checkedOf(dtype: Dtype): Checked[] {
  const isScanned = (op: ScanOp) => !dtype.endsWith('f16') || op === 'min' || op === 'max';
  return [
    ...SCAN_OPS.filter(isScanned).flatMap((op) => [scanned(op, false), scanned(op, true)]),
    {
      what: 'filter',
      step: 'run',
      result: (args) => args[3] as Column,
      use: (call, keys) =>
        enqueueFilter(call, keys, selection(dtype), (chosen) => ({ keys: newColumn(dtype, chosen) })),
    },
    {
      what: 'filter by mask',
      step: 'run',
      result: (args) => args[3] as Column,
      use: (call, keys) => {
        const mask = column(
          'u8',
          keys.n,
          Uint8Array.from({ length: keys.n }, (_, i) => (i % 3 === 0 ? 0 : 7)),
        );
        return enqueueFilter(call, keys, { mask }, (chosen) => ({ keys: newColumn(dtype, chosen) }));
      },
    },
    {
      what: 'partition',
      step: 'run',
      result: (args) => args[3] as Column,
      use: (call, keys) => enqueuePartition(call, keys, selection(dtype), newColumn(dtype, keys.n)),
    },
    {
      what: 'unique, its keys',
      step: 'distinct',
      result: (args) => (args[1] as { keys: Column }).keys,
      use: (call, keys) =>
        enqueueUnique(call, keys, (n) => results(dtype, n, 'counts') as { keys: Column; counts: Column }),
    },
    {
      what: 'unique, its counts',
      step: 'counts',
      result: (args) => args[2] as Column,
      use: (call, keys) =>
        enqueueUnique(call, keys, (n) => results(dtype, n, 'counts') as { keys: Column; counts: Column }),
    },
    {
      what: 'marks of members',
      step: 'run',
      result: (args) => args[4] as Column,
      use: async (call, keys) => {
        const from = { others: { ...keys, n: keys.n >> 1 }, areSorted: false };
        return markMembers(
          call,
          from,
          await call.bindInput(keys),
          false,
          call.columns.temporary('u8', keys.n),
        );
      },
    },
    {
      what: 'union, its merge',
      step: 'run',
      result: (args) => args[4] as Column,
      use: async (call, keys) => {
        const parts = [keys, { ...keys, n: keys.n >> 1 }].map(async (part) =>
          sortedKeys(call, await call.bindInput(part), false),
        );
        const both = await Promise.all(parts);
        return joinParts(
          call,
          both,
          newColumn(
            dtype,
            both.reduce((sum, { n }) => sum + n, 0),
          ),
        );
      },
    },
    {
      what: 'join, its right positions',
      step: 'run',
      result: ([kernel, , , , right]) => (kernel === JOIN_PLACES ? (right as Column) : newColumn('u32', 3)),
      use: joined('inner', 2),
    },
    {
      what: 'join, its left positions',
      step: 'segmentIds',
      result: (args) => args[1] as Column,
      use: joined('anti', 1),
    },
    ...(['select', 'selectSorted'] as const).flatMap((step) =>
      (['keys', 'positions'] as const).map((which) => ({
        what: `topK, its ${which} by ${step}`,
        step,
        result: (args: unknown[]) => (args[2] as TopColumns)[which],
        use: (call: Call, keys: Column) =>
          enqueueTopK(call, keys, results(dtype, 9, 'positions') as unknown as TopColumns),
      })),
    ),
    ...[false, true].flatMap((fromSegment) => {
      const top = (share: number, isShort: boolean) => (call: Call, keys: Column) => {
        const { n } = keys;
        const where = segmentColumn([0, 0, 7, 7, isShort ? Math.floor(n / 2) : 8, n - 1, n, n], n);
        return enqueueTopSegments(
          call,
          keys,
          { ...where, k: Math.ceil(n * share), fromSegment },
          (total) => ({
            ...(results(dtype, total, 'positions') as { keys: Column; positions: Column }),
            offsets: newColumn('u32', 8),
          }),
        );
      };
      const positions = `positions ${fromSegment ? 'of segments' : 'of all'}`;
      return [
        {
          what: `topSegments of most, ${positions}`,
          step: 'topPositions' as const,
          result: (args: unknown[]) => args[3] as Column,
          use: top(1 / 3, false),
          select: 2 ** 20, // short ones would use the selection as well
        },
        {
          what: `topSegments of few, ${positions}`,
          step: 'selectSegments' as const,
          result: (args: unknown[]) => (args[3] as { positions: Column }).positions,
          use: top(1 / 1000, false),
        },
        {
          what: `topSegments of few short ones, ${positions}`,
          step: 'topShort' as const,
          result: (args: unknown[]) => (args[0] as TopShort).to.positions,
          use: top(1 / 1000, true),
        },
      ];
    }),
  ];
}

async function passesAndFinds(
  t: ExecutionContext,
  backend: Backend,
  device: Device | undefined,
  { dtypes, n }: { readonly dtypes: readonly Dtype[]; readonly n: number },
) {
  for (const dtype of dtypes) {
    for (const { what, step, result, use, select } of checkedOf(dtype)) {
      if (step === 'selectSegments' && n < 4200) continue; // short segments take another path
      if (step === 'topShort' && !device) continue; // or use the selection like any others
      if (step === (device ? 'select' : 'selectSorted')) continue; // a device selects few keys in order
      const keys = column(dtype, n, keysOf(dtype, 'uniform', n));
      await t.notThrowsAsync(
        run(backend, (call) => use(call, keys), select),
        `${dtype} ${what}`,
      );
      const isRounded = dtypeInfo(dtype).kind === 'float' && /sum|product/.test(what);
      if (isRounded) continue; // one bit is within the bounds
      const spoil: Spoil = (made) => changeKey(device, made, Math.min(made.n - 1, 2));
      const error = await t.throwsAsync(
        run(faulty(backend, step, result, spoil), (call) => use(call, keys), select),
        { instanceOf: MismatchError },
        `${dtype} ${what}`,
      );
      t.regex(error?.message ?? '', /cannot use the result|lost or changed|is wrong/, what);
    }
  }
}

ava.serial('the host engine: correct results pass, and wrong ones are found', async (t) => {
  await passesAndFinds(t, new HostBackend(), undefined, { dtypes: DTYPES, n: 5000 });
});

forEachDevice((title, open, small) => {
  ava.serial(title('correct results pass, and wrong ones are found'), async (t) => {
    const device = await open();
    const dtypes: readonly Dtype[] = small ? ['f32'] : ['u16', 'f32', 'i64'];
    const request = { dtypes, n: small ? 300 : 5000 };
    await passesAndFinds(t, new DeviceBackend(device), device, request);
  });
});

ava.serial('float sums and products outside of their error bounds are found', async (t) => {
  const verifiers = [new HostColumnVerifier(undefined), new NativeColumnVerifier(undefined)];
  const n = 20_000; // enough for the addon
  for (const [checks, dtype] of verifiers.flatMap((by) => [[by, 'f32'] as const, [by, 'f64'] as const])) {
    const Floats = dtype === 'f32' ? Float32Array : Float64Array;
    const near = new Floats(Array.from({ length: n }, (_, i) => 1 + ((i * 7919) % 1000) * 1e-6 - 5e-4));
    const special = near.slice();
    special[50] = Number.POSITIVE_INFINITY;
    for (const op of ['sum', 'product'] as const) {
      for (const keys of [near, special]) {
        let value = op === 'sum' ? 0 : 1;
        const right = new Floats(n);
        for (const [i, key] of keys.entries()) {
          value = op === 'sum' ? value + key : value * key;
          right[i] = value;
        }
        const check = async (to: Float32Array | Float64Array) =>
          (await checks.scan(column(dtype, n, keys), column(dtype, n, to), op, true))();
        t.is(await check(right), undefined, `${dtype} ${op}`);
        const wrong = right.slice();
        wrong[20] = (wrong[20] as number) * 1.01;
        t.regex((await check(wrong)) ?? '', /result 20 of 20000/, `${dtype} ${op}`);
        if (op === 'product' || keys === near) continue;
        const finite = right.slice().fill(0, 60);
        t.regex((await check(finite)) ?? '', /result 60 of 20000/, `${dtype} ${op}`);
      }
    }
    // Neither an overflow nor the results after it are errors.
    const largest = dtype === 'f32' ? 3e38 : 1.7e308;
    const [large, infinite] = [new Floats(n), new Floats(n).fill(Number.NaN)];
    large.set([largest, largest, -largest]);
    infinite.set([largest, Number.POSITIVE_INFINITY]);
    const sums = checks.scan(column(dtype, n, large), column(dtype, n, infinite), 'sum', true);
    t.is((await sums)(), undefined);
  }
});

ava.serial('missing keys are found, not only changed ones', async (t) => {
  const checks = new HostColumnVerifier(undefined);
  const u32 = (...keys: number[]) => column('u32', keys.length, Uint32Array.from(keys));
  const keys = u32(5, 1, 5, 9, 1);
  const codec = keyCodec('u32');
  const all = { low: 0n, high: 4n, not: true };
  t.is((await checks.compact(keys, all, u32(5, 5, 9), false, () => 3))(), undefined);
  t.regex(
    (await checks.compact(keys, all, u32(5, 9), false, () => 2))() ?? '',
    /2 keys were selected instead of 3/,
  );
  t.regex((await checks.compact(keys, all, u32(5, 9, 5), false, () => 3))() ?? '', /selected keys are wrong/);
  t.is((await checks.unique(keys, u32(1, 5, 9), u32(2, 2, 1), codec))(), undefined);
  t.regex((await checks.unique(keys, u32(1, 9), u32(2, 1), codec))() ?? '', /differ from the input/);
  t.regex((await checks.unique(keys, u32(5, 1, 9), u32(2, 2, 1), codec))() ?? '', /out of order/);
  const top = (found: Column, positions: Column) =>
    checks.top(keys, { keys: found, positions, k: 2, codec, bits: [0, 32] });
  t.is((await top(u32(1, 1), u32(1, 4)))(), undefined);
  t.regex((await top(u32(1, 5), u32(1, 0)))() ?? '', /3 keys precede or equal the last of 2/);
  t.regex((await top(u32(1, 1), u32(4, 1)))() ?? '', /out of order/);
  t.regex((await top(u32(1, 1), u32(1, 1)))() ?? '', /out of order/);
});

ava.serial('the addon and the reference of the host engine find the same', async (t) => {
  const verifiers = [new HostColumnVerifier(undefined), new NativeColumnVerifier(undefined)];
  const n = 3 * 2 ** 16 + 7; // several slices
  const places = [0, 1, 2 ** 16 - 1, 2 ** 16, 2 ** 17 + 5, n - 1];
  let found = 0;
  for (const dtype of ['u8', 'i16', 'u32', 'f32', 'i64', 'f64'] as const) {
    const keys = column(dtype, n, keysOf(dtype, 'uniform', n));
    const codec = keyCodec(dtype, { descending: true });
    const bits = [0, dtypeInfo(dtype).width] as const;
    const u32 = (all: Iterable<number>) => {
      const array = Uint32Array.from(all);
      return column('u32', array.length, array);
    };
    const range = selection(dtype);
    const mask = {
      mask: column(
        'u8',
        n,
        Uint8Array.from({ length: n }, (_, i) => (i % 3) % 2),
      ),
    };
    const offsets = u32([0, 0, 70_000, 70_001, n, n]);
    await using sorter = await Sorter.open({ device: 'host' });
    const view = viewOf(keys) as Uint32Array;
    const sums = newColumn(dtype, n);
    const chosen = newColumn(dtype, n);
    const kernels = new HostColumnKernels(undefined);
    await kernels.scan(keys, sums, 'max', false);
    const selected = await kernels.run(COMPACT, keys, range, chosen, true);
    const parted = newColumn(dtype, n);
    const masked = await kernels.run(COMPACT, keys, mask, parted, true);
    const { keys: distinct, counts } = await sorter.unique(view, { counts: true, descending: true });
    const once = column(dtype, distinct.length, distinct as Uint32Array);
    const k = 1000;
    const top = await sorter.topKSegments(view, viewOf(offsets) as Uint32Array, k, { largest: true });
    const segments = { offsets, begins: u32(top.offsets), fromSegment: false };
    const [best, positions] = [column(dtype, top.keys.length, top.keys), u32(top.indices)];
    const result = { keys: best, positions, segments, k, codec, bits };
    const checks: readonly [string, readonly Column[], (by: ColumnVerifier) => Promise<DeferredVerdict>][] = [
      ['scan', [sums], (by) => by.scan(keys, sums, 'max', false)],
      ['range', [chosen], (by) => by.compact(keys, range, chosen, true, () => selected())],
      ['mask', [parted], (by) => by.compact(keys, mask, parted, true, () => masked())],
      ['reported', [], (by) => by.compact(keys, mask, parted, true, () => masked() + 1)],
      ['unique', [once, u32([])], (by) => by.unique(keys, once, u32(counts), codec)],
      ['top', [best, positions], (by) => by.top(keys, result)],
      ['k', [], (by) => by.top(keys, { ...result, k: k + 1 })],
    ];
    for (const [what, columns, check] of checks) {
      const verdicts = () => Promise.all(verifiers.map(async (by) => (await check(by))()));
      const compare = async (isRight: boolean, how: string) => {
        const [reference, addon] = await verdicts();
        t.is(addon, reference, `${dtype} ${what} ${how}`);
        if (isRight) t.is(reference, undefined, `${dtype} ${what}`);
        if (reference !== undefined) found++;
      };
      await compare(columns.length > 0, 'as it is');
      for (const one of columns) {
        for (const at of places) {
          if (at >= one.n) continue;
          await changeKey(undefined, one, at);
          await compare(false, `changed at ${at}`);
          await changeKey(undefined, one, at);
        }
      }
    }
  }
  t.true(found > 100, `${found} wrong results`);
});
