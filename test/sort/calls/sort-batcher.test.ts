import test from 'ava';
import {
  AbortedError,
  BuildError,
  type ClsortError,
  DeviceLostError,
  InputError,
  MemoryError,
} from '../../../src/index.js';
import { newArray } from '../../../src/keys/array.js';
import type { PendingSort } from '../../../src/sort/backend/backend.js';
import { completedSort, HostBackend, sortOnHost } from '../../../src/sort/backend/host-backend.js';
import { CallScheduler } from '../../../src/sort/calls/call-scheduler.js';
import { BackgroundCompiler, SortBatcher } from '../../../src/sort/calls/sort-batcher.js';
import { column } from '../../../src/sort/model/column.js';
import type { HostJob, SortJob } from '../../../src/sort/model/job.js';
import type { SortOptions } from '../../../src/sort/model/options.js';
import { parseSortOptions } from '../../../src/sort/model/parse-options.js';
import { hostPlan, type Plan, type PlanRequest } from '../../../src/sort/model/plan.js';
import { drainMicrotasks } from '../../../src/util/microtasks.js';

/** A fake device that sorts on the host and records its sorts. */
class FakeDevice extends HostBackend {
  /** Number of segments of each sort. */
  readonly sorts: number[] = [];
  prepared = 0;
  ready = true;
  stagingBlocks = 0;
  /** Runs in place of a sort. */
  instead: (() => Promise<PendingSort>) | undefined;

  override plans(request: PlanRequest): Plan[] {
    return [{ ...hostPlan(request, 'played'), engine: 'device' }];
  }

  override isReady(): boolean {
    return this.ready;
  }

  override async prepare(): Promise<void> {
    this.prepared++;
    this.ready = true;
  }

  override async sort(plan: Plan, job: SortJob): Promise<PendingSort> {
    this.sorts.push((job.segments?.offsets.n ?? 1) - 1);
    if (this.instead) return this.instead();
    return completedSort(await sortOnHost(plan, job as HostJob));
  }
}

function fakeBatcher() {
  const backend = new FakeDevice();
  const allocateStaging = backend.memory.allocateStaging.bind(backend.memory);
  backend.memory.allocateStaging = (bytes) => {
    backend.stagingBlocks++;
    return allocateStaging(bytes);
  };
  const scheduler = new CallScheduler();
  const warnings: ClsortError[] = [];
  const batcher = new SortBatcher(backend, new BackgroundCompiler(backend, scheduler), (warning) =>
    warnings.push(warning),
  );
  /** Sorts that ran one by one. */
  const alone: SortJob[] = [];
  const join = (job: SortJob) =>
    batcher.join(job, 'together', async () => {
      alone.push(job);
      return 'alone';
    });
  return { backend, scheduler, warnings, alone, join };
}

const words = (n: number, seed: number): Uint32Array =>
  Uint32Array.from({ length: n }, (_, i) => Math.imul(i + 1, 2654435761 + 2 * seed) >>> 4);

/** A sort of u32 keys. */
function sortOf(keys: Uint32Array, options: SortOptions = {}) {
  const sorted = new Uint32Array(keys.length);
  return { keys: column('u32', keys.length, keys), settings: parseSortOptions(options), sorted };
}

const sorts = (count: number, n = 100) => Array.from({ length: count }, (_, i) => sortOf(words(n + i, i)));

test('sorts requested at once are combined into one, each with its own result array', async (t) => {
  const { backend, join, alone } = fakeBatcher();
  const jobs = sorts(10);
  t.deepEqual(new Set(await Promise.all(jobs.map(join))), new Set(['together']));
  for (const { keys, sorted } of jobs) t.deepEqual(sorted, (keys.place as Uint32Array).toSorted());
  t.deepEqual(backend.sorts, [10]);
  t.is(alone.length, 0);
  t.deepEqual(await Promise.all(sorts(5).map(join)), new Array(5).fill('together'));
  t.deepEqual(backend.sorts, [10, 5]);
  t.is(backend.stagingBlocks, 1, 'the same memory again');
});

test('only sorts with the same options are combined, and few of a kind run one by one', async (t) => {
  const { backend, join, alone } = fakeBatcher();
  const positionsOf = (keys: Uint32Array) => {
    const { sorted: _, ...job } = sortOf(keys);
    return { ...job, moved: new Uint32Array(keys.length) };
  };
  const jobs: SortJob[] = [];
  for (let i = 0; i < 6; i++) {
    const keys = words(50 + i, i);
    jobs.push(sortOf(keys), sortOf(keys, { descending: true }), positionsOf(keys));
    jobs.push({ ...sortOf(keys), keys: column('i32', keys.length, keys) });
    jobs.push({
      ...sortOf(keys),
      values: { place: Float64Array.from(keys), bytes: 8 },
      moved: new Float64Array(keys.length),
    });
    if (i < 3) jobs.push(sortOf(keys, { nan: 'first' }));
  }
  const outcomes = await Promise.all(jobs.map(join));
  t.is(outcomes.filter((outcome) => outcome === 'alone').length, 3);
  t.deepEqual(new Set(alone.map(({ settings }) => settings.nan)), new Set(['first']));
  t.deepEqual(backend.sorts, [6, 6, 6, 6, 6]);
  for (const { keys, settings, sorted, values, moved } of jobs.filter((job) => !alone.includes(job))) {
    const own = keys.place as Uint32Array;
    const expected = (keys.dtype === 'i32' ? new Int32Array(own.buffer) : own).toSorted();
    if (settings.descending) expected.reverse();
    if (sorted) t.deepEqual(sorted, new Uint32Array(expected.buffer));
    if (values) t.deepEqual(moved, Float64Array.from(expected));
    else if (moved) {
      const byKey = Uint32Array.from(moved as Uint32Array, (at) => own[at] as number);
      t.deepEqual(byKey, expected, 'positions are counted from the beginning of each');
    }
  }
});

test('sorts with other options than the order, of large arrays and of empty arrays are not combined', (t) => {
  const { join } = fakeBatcher();
  const asks: SortOptions[] = [
    { algorithm: 'merge' },
    { advanced: { scan: 3 } },
    { advanced: { radixBits: 4 } },
    { bitRange: [0, 8] },
    { advanced: { tuning: { chunk: 2 } } },
    { verify: true },
    { onMismatch: 'throw' },
    { timeout: 1 },
    { onProgress: () => undefined },
    { onReport: () => undefined },
    { onWarning: () => undefined },
  ];
  for (const options of asks) t.is(join(sortOf(words(9, 1), options)), undefined, JSON.stringify(options));
  t.is(join(sortOf(new Uint32Array(2 ** 15 + 1))), undefined);
  t.is(join(sortOf(new Uint32Array(0))), undefined);
  t.not(join(sortOf(words(9, 1))), undefined);
});

test('sorts run one by one while the combined sort is compiled once in the background', async (t) => {
  const { backend, scheduler, join, warnings } = fakeBatcher();
  backend.ready = false;
  t.deepEqual(new Set(await Promise.all(sorts(10).map(join))), new Set(['alone']));
  await scheduler.waitForAll();
  t.is(backend.prepared, 1);
  t.deepEqual(new Set(await Promise.all(sorts(10).map(join))), new Set(['together']));
  const broken = fakeBatcher();
  broken.backend.ready = false;
  broken.backend.prepare = async () => {
    broken.backend.prepared++;
    throw new BuildError('no');
  };
  for (let i = 0; i < 3; i++) {
    t.deepEqual(new Set(await Promise.all(sorts(10).map(broken.join))), new Set(['alone']));
    await broken.scheduler.waitForAll();
  }
  t.is(broken.backend.prepared, 1);
  t.deepEqual(
    broken.warnings.map(({ code }) => code),
    ['ERR_CLSORT_BUILD'],
  );
  t.is(warnings.length, 0);
});

test('a failed combined sort falls back to single sorts and warns', async (t) => {
  const { backend, join, alone, warnings } = fakeBatcher();
  const released: string[] = [];
  backend.instead = async () => ({ outcome: async () => 'gave up', release: () => released.push('yes') });
  t.deepEqual(new Set(await Promise.all(sorts(10).map(join))), new Set(['alone']));
  t.is(alone.length, 10);
  t.true(released.length > 0);
  backend.instead = async () => {
    throw new DeviceLostError('gone');
  };
  t.deepEqual(new Set(await Promise.all(sorts(10).map(join))), new Set(['alone']));
  t.deepEqual(
    warnings.map(({ code }) => code),
    ['ERR_CLSORT_MISMATCH', 'ERR_CLSORT_DEVICE_LOST'],
  );
  backend.instead = async () => {
    throw new TypeError('a fault of ours');
  };
  const { plans } = backend;
  for (const made of sorts(10).map(join)) {
    await t.throwsAsync(made as Promise<unknown>, { instanceOf: TypeError });
  }
  backend.plans = () => {
    throw new TypeError('another one');
  };
  for (const made of sorts(10).map(join))
    await t.throwsAsync(made as Promise<unknown>, { instanceOf: TypeError });
  Object.assign(backend, { instead: undefined, plans });
  t.deepEqual(new Set(await Promise.all(sorts(10).map(join))), new Set(['together']));
});

test('without staging memory sorts run one by one, with one warning', async (t) => {
  const { backend, join, warnings } = fakeBatcher();
  backend.memory.allocateStaging = () => {
    throw new MemoryError('none');
  };
  for (let i = 0; i < 3; i++) {
    t.deepEqual(new Set(await Promise.all(sorts(10).map(join))), new Set(['alone']));
  }
  t.deepEqual(
    warnings.map(({ code }) => code),
    ['ERR_CLSORT_MEMORY'],
  );
});

test('memory of a lost device is not read', async (t) => {
  const { backend, join } = fakeBatcher();
  const jobs = sorts(10);
  const made = jobs.map(join);
  backend.instead = async () => {
    Object.assign(backend, { lost: true });
    return {
      outcome: async () => ({ plan: hostPlan({} as PlanRequest, ''), stages: [] }),
      release: () => undefined,
    };
  };
  t.deepEqual(new Set(await Promise.all(made)), new Set(['alone']));
  for (const { sorted } of jobs) t.true(sorted.every((key) => key === 0));
});

for (const [which, when] of ['during the upload', 'during the download'].entries()) {
  test(`arrays are sorted one by one if the device is lost ${when}`, async (t) => {
    const { backend, join } = fakeBatcher();
    const stagingBlocks: ArrayBuffer[] = [];
    const { allocateStaging } = backend.memory;
    backend.memory.allocateStaging = (bytes) => {
      const memory = allocateStaging.call(backend.memory, bytes);
      stagingBlocks.push(memory);
      return memory;
    };
    let copies = 0;
    const { copyArrays } = backend.memory;
    backend.memory.copyArrays = async (from, to) => {
      copyArrays.call(backend.memory, from, to);
      await Promise.resolve();
      if (copies++ < which) return;
      Object.assign(backend, { lost: true });
      structuredClone(0, { transfer: stagingBlocks });
    };
    t.deepEqual(new Set(await Promise.all(sorts(10).map(join))), new Set(['alone']));
    t.is(copies, which + 1);
    t.is(backend.sorts.length, which);
  });
}

test('an array that is detached meanwhile rejects only its own call', async (t) => {
  const { backend, join } = fakeBatcher();
  const jobs = sorts(10);
  const take = (view: unknown): void => {
    structuredClone(0, { transfer: [(view as Uint32Array<ArrayBuffer>).buffer] });
  };
  const made = jobs.map(join);
  take(jobs[3]?.keys.place); // before it is copied
  const { sort } = backend;
  backend.sort = async (plan, job) => {
    take(jobs[5]?.keys.place); // and behind that
    take(jobs[7]?.sorted);
    return sort.call(backend, plan, job);
  };
  for (const [i, call] of made.entries()) {
    if ([3, 5, 7].includes(i)) await t.throwsAsync(call as Promise<unknown>, { instanceOf: InputError });
    else {
      t.is(await call, 'together');
      const { keys, sorted } = jobs[i] as SortJob;
      t.deepEqual(sorted, (keys.place as Uint32Array).toSorted());
    }
  }
});

test('a signal aborts only its own call, before and during a combined sort', async (t) => {
  const { backend, join } = fakeBatcher();
  const [before, meanwhile, never] = [new AbortController(), new AbortController(), new AbortController()];
  before.abort();
  const signals = [meanwhile.signal, undefined, never.signal, undefined, undefined];
  const jobs = signals.map((signal, i) => sortOf(words(100 + i, i), signal ? { signal } : {}));
  t.throws(() => join(sortOf(words(9, 1), { signal: before.signal })), { instanceOf: AbortedError });
  const made = jobs.map(join);
  const { sort } = backend;
  backend.sort = (plan, job) => {
    meanwhile.abort();
    return sort.call(backend, plan, job);
  };
  await t.throwsAsync(made[0] as Promise<unknown>, { instanceOf: AbortedError });
  t.deepEqual(await Promise.all(made.slice(1)), new Array(4).fill('together'));
  t.deepEqual(backend.sorts, [5]);
});

test('a combined sort holds at most 1023 tiny sorts', async (t) => {
  const { backend, join } = fakeBatcher();
  const jobs = Array.from({ length: 1030 }, (_, i) => sortOf(words(1 + (i % 3), i)));
  t.deepEqual(new Set(await Promise.all(jobs.map(join))), new Set(['together']));
  t.deepEqual(backend.sorts, [1023, 7]);
  for (const { keys, sorted } of jobs) t.deepEqual(sorted, (keys.place as Uint32Array).toSorted());
});

test('combined sorts start in the turn of their calls, and at most 8 run at once', async (t) => {
  const { backend, join } = fakeBatcher();
  let underWay = 0;
  let maxSorts = 0;
  const { sort } = backend;
  backend.sort = async (plan, job) => {
    maxSorts = Math.max(maxSorts, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    const pending = await sort.call(backend, plan, job);
    underWay--;
    return pending;
  };
  const jobs = Array.from({ length: 600 }, (_, i) => sortOf(words(2 ** 14 - (i % 7), i)));
  const made = jobs.map(join);
  await drainMicrotasks();
  t.true(backend.sorts.length === 0 && maxSorts > 0, 'the first have started');
  t.deepEqual(new Set(await Promise.all(made)), new Set(['together']));
  t.is(maxSorts, 8);
  t.is(backend.stagingBlocks, 1);
  t.is(
    backend.sorts.reduce((sum, count) => sum + count, 0),
    600,
  );
  for (const { keys, sorted } of jobs) t.deepEqual(sorted, (keys.place as Uint32Array).toSorted());
});

for (const dtype of ['u8', 'f32', 'f64', 'u64'] as const) {
  test(`keys of ${dtype} fill a combined sort to its last byte, and further arrays start another`, async (t) => {
    const { backend, join } = fakeBatcher();
    const n = 2 ** 14;
    const made = (): SortJob => {
      const [keys, sorted] = [newArray(dtype, n), newArray(dtype, n)];
      return { keys: column(dtype, n, keys), settings: parseSortOptions(), sorted };
    };
    const maxSorts = 2 ** 22 / (2 * n * made().keys.info.bytes);
    t.deepEqual(
      new Set(await Promise.all(Array.from({ length: maxSorts + 4 }, made).map(join))),
      new Set(['together']),
    );
    t.deepEqual(backend.sorts, [maxSorts, 4]);
  });
}
