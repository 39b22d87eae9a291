/**
 * A round of random calls on several devices, on arrays sharded over them and on host arrays. Each result must equal
 * that of the host engine bit for bit; a call may fail only for a fault that the round injected.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { ClsortError, devices, type ShardedArray, Sorter } from '../../../../src/index.js';
import { byteRange, bytesOf, newArray } from '../../../../src/keys/array.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../../../src/keys/dtype.js';
import { DeviceGroup } from '../../../../src/sort/multi-device/device-group.js';
import type { Random } from '../../../../src/util/random.js';
import type { LayerControl } from '../../../layer/layer.js';

/** Statuses that report a lack of memory, and a lost device. */
const STATUSES = [-4, -5, -6, -36, -61];
/** One of the next OpenCL calls, up to this number, fails or is delayed. */
const CHOSEN_CALLS = 300;
const OPERATIONS = ['min', 'max', 'sum'] as const;
const WIDE = 40_000;
/** Number of times that a round restarts with its open devices. */
const BOUTS = 12;

/** Error codes of a call in addition to those of the host engine. */
type Allowed = readonly string[];

/** Elements on the devices, and their expected values. */
interface Held {
  readonly dtype: Dtype;
  readonly data: KeyArray;
  readonly array: Promise<ShardedArray>;
  /** The array, once it is resolved. */
  ready?: ShardedArray;
  /** Calls that received the promise, and may not have read its outcome yet. */
  waiting: number;
}

/** Record of the actions, to check that nothing is left out. */
export type Tally = Record<string, number>;

export class Round {
  readonly #random: Random;
  readonly #control: LayerControl;
  readonly #host: Sorter;
  readonly #tally: Tally;
  #sorter!: Sorter;
  #held: Held[] = [];
  readonly #pending = new Set<Promise<void>>();
  readonly #wrong: string[] = [];
  readonly #inputs: (readonly [KeyArray, Uint8Array])[] = [];
  #allowed: Allowed = [];
  /** A device was abandoned because a busy machine delayed it; the consequences are not a fault. */
  #isLate = false;
  /** How often OpenCL is made to fail. */
  #faults = 0;
  /** The random choices, in order. */
  readonly #log: string[] = [];

  /**
   * @param control of the layer, which all devices of PoCL, at least three, are under
   * @param host a Sorter of the host engine
   */
  constructor(random: Random, control: LayerControl, host: Sorter, tally: Tally) {
    this.#random = random;
    this.#control = control;
    this.#host = host;
    this.#tally = tally;
  }

  /**
   * @param end when no further call starts, in milliseconds of `performance.now`
   * @throws Error that describes the fault and the actions until then
   */
  async play(end: number): Promise<void> {
    const { weigh } = DeviceGroup.prototype;
    const isSeparate = this.#chance(2);
    const before = this.#control.live;
    try {
      this.#control.clear();
      this.#control.spoof({ ownMemory: isSeparate });
      await this.#open(isSeparate);
      await this.#play(isSeparate, end);
    } catch (error) {
      this.#wrong.push(`${(error as Error)?.stack ?? error}`);
    } finally {
      this.#control.clear();
      DeviceGroup.prototype.weigh = weigh;
      await this.#sorter?.close();
    }
    const left = await this.#left(before);
    // A failed creation or release may leave one object that the driver did not report.
    if (left.length > this.#faults) this.#wrong.push(`left when all is closed: ${left}`);
    if (this.#isLate) this.#count('rounds on a machine that is too busy');
    else if (this.#wrong.length > 0) throw new Error(`${this.#wrong.join('\n')}\n${this.log}`);
  }

  /** Kinds of objects with more instances than before, each as often as its surplus; releases take place on threads. */
  async #left(before: LayerControl['live']): Promise<string[]> {
    const end = performance.now() + 5000;
    for (let tries = 0; ; tries++) {
      if (tries === 10) (globalThis as { gc?: () => void }).gc?.(); // arrays lost with their device are left to it
      const left = Object.entries(this.#control.live).flatMap(([kind, count]) =>
        Array<string>(Math.max(0, count - (before[kind as keyof typeof before] ?? 0))).fill(kind),
      );
      if (left.length === 0 || performance.now() > end) return left;
      await sleep(5);
    }
  }

  /** The actions until now, one per line. */
  get log(): string {
    return this.#log.join('\n');
  }

  async #open(isSeparate: boolean): Promise<void> {
    const ids = devices().flatMap(({ id, platform }) => (/portable/i.test(platform) ? id : []));
    const chosen = ids.slice(0, 2 + this.#random.below(2));
    const poolBytes = this.#one([undefined, undefined, 0, 2 ** 16, 2 ** 20]);
    this.#tell(
      `${chosen.length} devices${isSeparate ? ' with memory of their own' : ''}, a pool of ${poolBytes}`,
    );
    this.#sorter = await Sorter.open({
      devices: chosen,
      ...(poolBytes !== undefined && { poolBytes }),
      onWarning: () => undefined,
    });
    if (this.#chance(4)) return; // weighted by their speeds, which a first array measures
    const weights = chosen.map(() => this.#one([0, 1, 1, 2, 100]));
    if (!weights.some((weight) => weight > 0)) weights[this.#random.below(weights.length)] = 1;
    this.#tell(`weights ${weights}`);
    DeviceGroup.prototype.weigh = async () => weights;
  }

  async #play(isSeparate: boolean, end: number): Promise<void> {
    for (let bouts = 1 + this.#random.below(BOUTS); bouts > 0; bouts--) {
      await this.#bout(isSeparate, bouts === 1);
      if (performance.now() > end) return;
    }
  }

  /** Makes some calls, after which nothing remains and all devices work again. */
  async #bout(isSeparate: boolean, isLast: boolean): Promise<void> {
    const faults = this.#one([0, 0, 0, 1, 2]);
    const steps = 6 + this.#random.below(14);
    const faulty = new Set(Array.from({ length: faults }, () => this.#random.below(steps)));
    this.#faults += faults;
    this.#allowed = faults > 0 ? ['ERR_CLSORT_DEVICE_LOST', 'ERR_CLSORT_MEMORY', 'ERR_CLSORT_INPUT'] : [];
    for (let step = 0; step < steps; step++) {
      if (faulty.has(step)) this.#fault();
      await this.#step();
      if (this.#chance(3)) await this.#quiet();
    }
    if (isLast && this.#chance(2)) return this.#closeAmidst();
    await this.#quiet();
    if (this.#control.failed !== '') this.#tell(`${this.#control.failed} failed`);
    this.#control.clear();
    this.#control.spoof({ ownMemory: isSeparate });
    for (const one of this.#held.splice(0)) (await one.array.catch(() => undefined))?.dispose();
    // After any failure the next call is right.
    if (faults > 0) {
      this.#tell('all is well again');
      this.#allowed = [];
      await this.#upload();
      await this.#quiet();
      await this.#shardedCall();
      await this.#hostCall();
      await this.#quiet();
      for (const one of this.#held.splice(0)) (await one.array).dispose();
    }
    this.#checkInputs();
    await turn();
    const { used } = this.#sorter.memory();
    if (this.#faults === 0 && used > 0) this.#wrong.push(`${used} bytes are in use when all is disposed of`);
  }

  /** Pending calls complete although the Sorter is closed, and no call is accepted afterwards. */
  async #closeAmidst(): Promise<void> {
    this.#tell('close');
    this.#allowed = [...this.#allowed, 'ERR_CLSORT_USAGE']; // a call that reads or waits rejects later
    const closed = this.#sorter.close();
    await this.#sorter.sort(Uint32Array.of(2, 1)).then(
      () => this.#wrong.push('a closed Sorter sorts'),
      ({ code }) => code === 'ERR_CLSORT_USAGE' || this.#wrong.push(`a closed Sorter says ${code}`),
    );
    await closed;
    await this.#quiet();
    this.#held = [];
    this.#checkInputs();
  }

  #fault(): void {
    const [at, status] = [1 + this.#random.below(CHOSEN_CALLS), this.#one(STATUSES)];
    this.#tell(`call ${at} from here on fails with ${status}`);
    this.#control.fail({ at }, status);
  }

  async #step(): Promise<void> {
    const kind = this.#random.below(20);
    if (this.#held.length === 0 || kind < 4) await this.#upload();
    else if (kind < 11) await this.#shardedCall();
    else if (kind < 16) await this.#hostCall();
    else if (kind === 16) this.#sorter.trim();
    else if (kind === 17) this.#refused();
    else if (kind === 18)
      this.#control.delay({ at: 1 + this.#random.below(CHOSEN_CALLS) }, 1 + this.#random.below(20));
    else this.#dispose();
  }

  /** Waits for all calls of the round. */
  async #quiet(): Promise<void> {
    await Promise.all(this.#pending);
    for (const one of this.#held) one.ready ??= (await one.array.catch(() => undefined)) as ShardedArray;
    this.#held = this.#held.filter(({ ready }) => ready);
  }

  async #upload(): Promise<void> {
    const dtype = this.#one(DTYPES);
    const like = this.#chance(3) && this.#held.length > 0 ? this.#one(this.#held).data.length : undefined;
    const data = this.#keys(dtype, like);
    this.#hold(
      dtype,
      data,
      this.#sorter.upload(data, { dtype, sharded: true }),
      `upload ${data.length} ${dtype}`,
    );
    if (this.#chance(6)) await this.#quiet();
  }

  /** Keeps the result of a call, and compares it with the expected one. */
  #hold(
    dtype: Dtype,
    data: KeyArray,
    array: Promise<ShardedArray>,
    what: string,
    allowed: Allowed = [],
  ): Held {
    const one: Held = { dtype, data, array, waiting: 0 };
    if (allowed.length === 0) this.#held.push(one); // otherwise it may fail
    this.#expect(
      what,
      async () => {
        const made = await array;
        const read = made.read();
        if (allowed.length > 0) made.dispose();
        return read;
      },
      { value: data },
      allowed,
    );
    array.then(
      (made) => {
        one.ready = made;
      },
      () => {
        this.#held = this.#held.filter((other) => other !== one);
      },
    );
    return one;
  }

  /**
   * The array itself if it is resolved, or a promise of it.
   * @param beside another argument of the same call, which waits for it as well
   */
  #use(one: Held, beside = one): ShardedArray | Promise<ShardedArray> {
    if (one.ready && beside.ready) return one.ready;
    one.waiting++;
    const done = () => void one.waiting--;
    Promise.allSettled([one.array, beside.array])
      .then(() => turn())
      .then(done);
    return one.ready ?? one.array;
  }

  /** While calls are pending, which keep their arguments. */
  #dispose(): void {
    const one = this.#one(this.#held);
    if (!one.ready || one.waiting > 0) return;
    this.#tell(`dispose of ${one.data.length} ${one.dtype}`);
    one.ready.dispose();
    this.#held = this.#held.filter((other) => other !== one);
  }

  /** Calls that do not accept sharded arrays, or not in this form. */
  #refused(): void {
    const array = this.#use(this.#one(this.#held)) as never;
    const ways: readonly (() => Promise<unknown>)[] = [
      () => this.#sorter.unique(array),
      () => this.#sorter.scan(array),
      () => this.#sorter.gather(array, Uint32Array.of(0)),
      () => this.#sorter.sortPairs(array, Uint32Array.of(0) as never),
      () => this.#sorter.sortPairs(array, array),
      () => this.#sorter.sort(array, { into: Uint32Array.of(0) as never }),
      () => this.#sorter.sortInPlace(array),
      () => this.#sorter.segmentedSort(array, [0, 1]),
    ];
    const way = this.#one(ways);
    this.#expect(`refused: ${way}`, way, { code: 'ERR_CLSORT_' });
  }

  async #shardedCall(): Promise<void> {
    const one = this.#one(this.#held);
    const { dtype, data } = one;
    const options = this.#options(dtype);
    const { signal, allowed } = this.#ended();
    const own = { ...options, ...signal };
    const ordered = { dtype, ...options };
    const name = this.#one(['sort', 'argsort', 'sortPairs', 'topK', 'reduce', 'read', 'readInto']);
    const what = `${name} of ${data.length} spread ${dtype} ${JSON.stringify(options)}${signal.signal ? ' aborted' : ''}`;
    this.#count(name);
    if (name === 'sort') {
      const sorted = await this.#host.sort(data, ordered);
      this.#hold(dtype, sorted, this.#sorter.sort(this.#use(one), own), what, allowed);
    } else if (name === 'argsort') {
      const order = await this.#host.argsort(data, ordered);
      this.#hold('u32', order, this.#sorter.argsort(this.#use(one), own), what, allowed);
    } else if (name === 'sortPairs') {
      const beside = this.#held.filter((other) => other !== one && other.data.length === data.length);
      if (beside.length === 0) return;
      const values = this.#one(beside);
      const pairs = await this.#host.sortPairs(data, values.data, ordered);
      const made = this.#sorter.sortPairs(this.#use(one, values), this.#use(values, one), own);
      made.catch(() => undefined);
      this.#hold(
        dtype,
        pairs.keys,
        made.then(({ keys }) => keys),
        what,
        allowed,
      ); // prettier-ignore
      this.#hold(
        values.dtype,
        pairs.values,
        made.then((both) => both.values),
        what,
        allowed,
      );
    } else if (name === 'topK') {
      const k = this.#random.below(this.#one([2, 20, data.length + 2]));
      const { bitRange: _, verify: __, ...order } = own;
      const top = { dtype, largest: options.descending ?? true, nan: options.nan ?? 'last' } as const;
      const { descending: ___, ...rest } = order;
      const wanted = await this.#host.topK(data, k, top);
      const made = this.#sorter
        .topK(this.#use(one), k, { ...rest, largest: top.largest })
        .then((both) => [both.keys, both.indices]);
      this.#expect(`${what} ${k}`, () => made, { value: [wanted.keys, wanted.indices] }, allowed);
    } else if (name === 'reduce') {
      const op = this.#one(OPERATIONS);
      if (op === 'sum' && dtypeInfo(dtype).kind === 'float') return; // depends on the order of additions
      const wanted = await outcomeOf(() => this.#host.reduce(data, op, { dtype }));
      const made = this.#sorter.reduce(this.#use(one), op, signal);
      this.#expect(`${what} ${op}`, () => made, wanted, allowed);
    } else if (one.ready) {
      const start = this.#random.below(data.length + 1);
      const end = start + this.#random.below(data.length - start + 1);
      const { bytes } = dtypeInfo(dtype);
      const value = bytesOf(data, start * bytes, end * bytes).slice();
      if (name === 'read') {
        const read = one.ready.read(start, end - start);
        this.#expect(what, () => read, { value });
      } else {
        const view = newArray(dtype, end - start) as KeyArray;
        const read = one.ready.readInto(view, start);
        this.#expect(what, async () => read.then(() => view), { value });
      }
    }
  }

  async #hostCall(): Promise<void> {
    const dtype = this.#one(DTYPES);
    const data = this.#keys(dtype);
    const options = this.#options(dtype);
    const devices = 1 + this.#random.below(3);
    const { signal, allowed } = this.#ended();
    const ordered = { dtype, ...options };
    const own = { ...ordered, advanced: { tuning: { deviceCount: devices } }, ...signal };
    const name = this.#one([
      'sort',
      'sort',
      'sortInPlace',
      'into',
      'argsort',
      'sortPairs',
      'topK',
      'reduce',
      'unique',
    ]);
    const what = `${name} of ${data.length} ${dtype} by ${devices} ${JSON.stringify(options)}${signal.signal ? ' aborted' : ''}`;
    this.#count(`${name} on the host`);
    const sorter = this.#sorter;
    if (name === 'sort') {
      const made = sorter.sort(data, own);
      this.#expect(what, () => made, await outcomeOf(() => this.#host.sort(data, ordered)), allowed);
    } else if (name === 'sortInPlace') {
      const copy = data.slice();
      const made = sorter.sortInPlace(copy, own);
      this.#expect(what, () => made, await outcomeOf(() => this.#host.sort(data, ordered)), allowed);
    } else if (name === 'into') {
      const into = sorter.allocPinned(dtype, data.length) as KeyArray;
      const made = sorter.sort(data, { ...own, into: into as never }).then((sorted) => sorted.slice());
      const free = () => sorter.freePinned(into); // a Sorter that is closed meanwhile has released it
      made.then(free, free);
      this.#expect(what, () => made, await outcomeOf(() => this.#host.sort(data, ordered)), allowed);
    } else if (name === 'argsort') {
      const made = sorter.argsort(data, own);
      this.#expect(what, () => made, await outcomeOf(() => this.#host.argsort(data, ordered)), allowed);
    } else if (name === 'sortPairs') {
      const values = this.#bytes(data.length * this.#one([1, 2, 3, 4, 7, 8, 16]));
      const made = sorter.sortPairs(data, values, own).then((pairs) => [pairs.keys, pairs.values]);
      const wanted = await outcomeOf(async () => {
        const pairs = await this.#host.sortPairs(data, values, ordered);
        return [pairs.keys, pairs.values];
      });
      this.#expect(what, () => made, wanted, allowed);
    } else if (name === 'topK') {
      const k = this.#random.below(this.#one([2, 20, data.length + 2]));
      const top = { dtype, largest: options.descending ?? true, nan: options.nan ?? 'last' } as const;
      const both = async (by: Sorter, more = {}) => {
        const made = await by.topK(data, k, { ...top, ...more });
        return [made.keys, made.indices];
      };
      const made = both(sorter, { advanced: { tuning: { deviceCount: devices } }, ...signal });
      this.#expect(`${what} ${k}`, () => made, await outcomeOf(() => both(this.#host)), allowed);
    } else if (name === 'reduce') {
      const op = this.#one(OPERATIONS);
      if (op === 'sum' && dtypeInfo(dtype).kind === 'float') return;
      const made = sorter.reduce(data, op, { dtype, ...signal });
      this.#expect(
        `${what} ${op}`,
        () => made,
        await outcomeOf(() => this.#host.reduce(data, op, { dtype })),
        allowed,
      );
    } else {
      const both = async (by: Sorter, more = {}) => {
        const made = await by.unique(data, { dtype, ...more });
        return [made.keys, made.counts];
      };
      const made = both(sorter, signal);
      this.#expect(what, () => made, await outcomeOf(() => both(this.#host)), allowed);
    }
  }

  /** Compares the outcome of a call with the expected one. */
  #expect(
    what: string,
    call: () => Promise<unknown>,
    wanted: { readonly value?: unknown; readonly code?: string },
    allowed: Allowed = [],
  ): void {
    this.#tell(what);
    const check = async () => {
      const made = await outcomeOf(call);
      this.#count(made.code ?? 'right');
      if (/did not finish within/.test(made.error?.message ?? '')) this.#isLate = true;
      if (made.code !== undefined) {
        const known = [...allowed, ...this.#allowed];
        const isKnown = known.includes(made.code) || (wanted.code && made.code.startsWith(wanted.code));
        if (!isKnown) this.#wrong.push(`${what}: ${made.error?.stack}`);
      } else if (wanted.code !== undefined) this.#wrong.push(`${what}: should fail with ${wanted.code}`);
      else if (!isSame(made.value, wanted.value)) this.#wrong.push(`${what}: wrong`);
    };
    const pending = check().finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
  }

  /** Aborts a call now and then. */
  #ended(): { readonly signal: { readonly signal?: AbortSignal }; readonly allowed: Allowed } {
    if (!this.#chance(8)) return { signal: {}, allowed: [] };
    const controller = new AbortController();
    const iterations = this.#random.below(40);
    const late = async () => {
      for (let i = 0; i < iterations; i++) await turn();
      controller.abort();
    };
    void late();
    return { signal: { signal: controller.signal }, allowed: ['ERR_CLSORT_ABORTED'] };
  }

  #options(dtype: Dtype): {
    descending?: boolean;
    nan?: 'first' | 'last';
    bitRange?: [number, number];
    verify?: boolean;
  } {
    const width = 8 * dtypeInfo(dtype).bytes;
    const [a, b] = [this.#random.below(width + 1), this.#random.below(width + 1)];
    return {
      ...(this.#chance(2) && { descending: this.#chance(2) }),
      ...(this.#chance(4) && { nan: this.#one(['first', 'last'] as const) }),
      ...(this.#chance(4) && { bitRange: [Math.min(a, b), Math.max(a, b)] as [number, number] }),
      ...(this.#chance(5) && { verify: true }),
    };
  }

  /** Few keys and many: random bits, few values, or sorted; they may begin anywhere in their memory. */
  #keys(dtype: Dtype, n = this.#random.below(this.#one([2, 4, 40, 3000, WIDE]) + 1)): KeyArray {
    const { bytes } = dtypeInfo(dtype);
    const offset = this.#random.below(3);
    const memory = newArray(dtype, n + offset) as KeyArray;
    const all = bytesOf(memory);
    all.set(this.#bytes(all.length));
    const kind = this.#random.below(4);
    if (kind === 1)
      for (let i = 0; i < all.length; i++) all[i] = [0, 1, 0x7f, 0x80, 0xff][(all[i] ?? 0) % 5] ?? 0;
    if (kind === 2) all.fill(this.#random.below(256));
    if (kind === 3)
      for (let i = 0; i < all.length; i++) all[i] = i % bytes === bytes - 1 ? 0 : (i / all.length) * 256;
    const keys = memory.subarray(offset) as KeyArray;
    if (keys.length < 5000) this.#inputs.push([keys, bytesOf(keys).slice()]);
    return keys;
  }

  #bytes(length: number): Uint8Array {
    return this.#random.bytes(length);
  }

  #checkInputs(): void {
    for (const [keys, before] of this.#inputs.splice(0)) {
      if (!isSame(keys, before)) this.#wrong.push(`an input of ${before.length} bytes was changed`);
    }
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)] as T;
  }

  #chance(of: number): boolean {
    return this.#random.below(of) === 0;
  }

  #tell(what: string): void {
    this.#log.push(what);
  }

  #count(what: string): void {
    this.#tally[what] = (this.#tally[what] ?? 0) + 1;
  }
}

interface Outcome {
  readonly value?: unknown;
  readonly code?: string;
  readonly error?: Error;
}

async function outcomeOf(call: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { value: await call() };
  } catch (error) {
    const code = error instanceof ClsortError ? error.code : `${(error as Error)?.name}`;
    return { code, error: error as Error };
  }
}

const isSame = (a: unknown, b: unknown): boolean => {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((one, i) => isSame(one, b[i]));
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return Object.is(a, b);
  return Buffer.compare(byteRange(a) as Uint8Array, byteRange(b) as Uint8Array) === 0;
};
