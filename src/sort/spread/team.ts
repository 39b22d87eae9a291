import { copyBytes, type HostColumn, part, room } from '../../keys/array.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { type ClsortError, errorOfCode } from '../../util/errors.js';
import { type SortSettings, throwIfAborted } from '../api/options.js';
import { type SortReport, sharedReport } from '../api/report.js';
import { type Column, column } from '../backend/column.js';
import { verifyOnHost } from '../backend/host-backend.js';
import { type HostJob, hostJob, type SortJob, sortJob } from '../backend/job.js';
import { runWhileAttached, spansOf } from '../calls/assert-not-detached.js';
import { better } from '../host/host-primitives.js';
import { topK } from '../operations/top-k.js';
import { reduce } from '../operations/walks.js';
import type { MemoryUsage } from '../transfer/column-memory.js';
import type { Member } from './member.js';
import { isMovable } from './movable.js';
import { type Division, divide, PROBE_KEYS, STREAMED_PROBE_KEYS } from './rates.js';
import { allSettled } from './settled.js';
import { HostSink, type Share, type ShareSink, sinkFor } from './sinks.js';
import { type Kind, type Measured, measure, sortKind } from './speeds.js';
import { carriedBytes, Split } from './split.js';

/** Of fewer bytes of keys and values no share is worth a device of its own. */
const SPREAD_BYTES = 2 ** 22;

/** Part of all keys that a share may have beyond what is expected of it. */
const SLACK = 0.02;

/** Of a larger part of the keys, topK takes all in order. */
const TOP_PART = 1 / 4;

/** Where results of topK go. */
export interface Top {
  readonly keys: Column;
  readonly positions: Column;
}

/** Several devices that share what is in arrays of the host. */
export class Team {
  readonly members: readonly Member[];
  readonly #onWarning: (warning: ClsortError) => void;
  readonly #measured = new Map<string, Promise<Measured>>();

  /** @param members two or more, the one that does what is not shared first */
  constructor(members: readonly Member[], onWarning: (warning: ClsortError) => void) {
    this.members = members;
    this.#onWarning = onWarning;
  }

  /** Is so much worth asking who is to do it? */
  takes(bytes: number, { tuning, algorithm }: SortSettings): boolean {
    if (algorithm === 'host') return false;
    return tuning.spread !== undefined || bytes >= SPREAD_BYTES;
  }

  /** Does the team sort this, and not one device that nobody else need be asked for? @returns the job if so */
  jobOf(job: SortJob): HostJob | undefined {
    const { keys, values, moved, settings } = job;
    const bytes = keys.n * (keys.info.bytes + (moved ? (values?.bytes ?? 4) : 0));
    return keys.n > 0 && this.takes(bytes, settings) ? hostJob(job) : undefined;
  }

  /** Sorts by as many members as it takes least time with. @throws as `Sorter.sort` */
  sort(job: HostJob): Promise<void> {
    return runWhileAttached(spansOf(sortJob(job)), () => this.#sort(job));
  }

  async #sort(job: HostJob): Promise<void> {
    const { keys, settings } = job;
    const started = performance.now();
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: 0, total: keys.n });
    const kind = sortKind(job, this.members);
    const division = await this.#division(kind, keys.n, settings);
    const begun = performance.now();
    const shares = await this.#sortDivided(job, division, kind);
    const spread = division.members.length > 1;
    if (spread) await this.#learn(kind, (performance.now() - begun) / 1000 / division.seconds);
    const verified = settings.verify && spread ? await verifyOnHost(job, 'the sort by shares') : undefined;
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: keys.n, total: keys.n });
    if (!settings.onReport) return;
    const seconds = (performance.now() - started) / 1000;
    const whole = { n: keys.n, seconds, reason: division.reason, ...(verified && { verified }) };
    settings.onReport(
      sharedReport(
        shares.flatMap((report) => report ?? []),
        whole,
      ),
    );
  }

  /** Notes how many times as long as expected several members took. */
  async #learn(kind: Kind, times: number): Promise<void> {
    const measured = await this.#measured.get(kind.name);
    if (measured) measured.overrun *= (1 + times) / 2;
  }

  async #sortDivided(
    job: HostJob,
    { members, weights }: Division<Member>,
    kind: Kind,
  ): Promise<(SortReport | undefined)[]> {
    const { keys, settings } = job;
    const [first] = members;
    if (!first || members.length === 1) {
      const whole = { job: sortJob(job), kind, count: keys.n, alone: true };
      const attempts = this.#inOrder(first).map(
        (member) => [member, () => this.#sortShare(member, whole)] as const,
      );
      return [await this.#byOneOf(attempts, settings)];
    }
    const split = new Split(job, weights);
    const sinks: (ShareSink | undefined)[] = [];
    try {
      members.forEach((member, s) => {
        const most = Math.min(keys.n, Math.ceil(keys.n * ((weights[s] as number) + SLACK)));
        sinks.push(this.#sinkFor(member, job, most));
      });
      const counts = await split.into(sinks);
      let start = 0;
      const shares = members.map((member, s) => {
        const at = start;
        start += counts[s] as number;
        return { member, s, at, count: counts[s] as number };
      });
      const sorted = await allSettled(
        shares
          .filter(({ count }) => count > 0)
          .map((share) => this.#sortSplit(job, { split, sink: sinks[share.s], kind, ...share })),
      );
      return sorted;
    } finally {
      for (const sink of sinks) sink?.release();
    }
  }

  /** Where a member gathers its share; undefined where it has no room for it, and takes it later as it can. */
  #sinkFor(member: Member, job: HostJob, most: number): ShareSink | undefined {
    try {
      return sinkFor(member, job, most);
    } catch (error) {
      if (!isMovable(error, job.settings)) throw error;
      return undefined;
    }
  }

  /** Sorts a share by its member, or if that fails by another one, which takes it from the input again. */
  async #sortSplit(
    job: HostJob,
    {
      split,
      sink,
      member,
      s,
      at,
      count,
      kind,
    }: {
      split: Split;
      sink: ShareSink | undefined;
      member: Member;
      s: number;
      at: number;
      count: number;
      kind: Kind;
    },
  ): Promise<SortReport | undefined> {
    const { keys, sorted, moved, settings } = job;
    const carried = carriedBytes(job);
    const end = at + count;
    const jobFor = (share: Share): SortJob => ({
      ...share,
      settings,
      ...(sorted && { sorted: part(sorted, at * keys.info.bytes, end * keys.info.bytes) }),
      ...(moved && { moved: part(moved, at * carried, end * carried) }),
    });
    const sort = (by: Member, share: Share) =>
      this.#sortShare(by, { job: jobFor(share), kind, count, alone: false });
    const attempts: (readonly [Member, () => Promise<SortReport | undefined>])[] = [];
    if (sink) {
      attempts.push([member, async () => sort(member, await sink.share())]);
    }
    let taken: Promise<Share> | undefined;
    const take = async (by: Member): Promise<Share> => {
      const again = new HostSink(by, job, count);
      await split.into(Array.from({ length: split.shares }, (_, i) => (i === s ? again : undefined)));
      return again.share();
    };
    const [own, ...others] = this.#inOrder(member) as [Member, ...Member[]];
    for (const by of sink ? [...others, own] : [own, ...others]) {
      attempts.push([
        by,
        async () => {
          taken ??= take(by);
          return sort(by, await taken);
        },
      ]);
    }
    return this.#byOneOf(attempts, settings);
  }

  async #sortShare(
    member: Member,
    { job, kind, count, alone }: { job: SortJob; kind: Kind; count: number; alone: boolean },
  ): Promise<SortReport | undefined> {
    let report: SortReport | undefined;
    const { onProgress: _, onReport, ...settings } = job.settings;
    const started = performance.now();
    await member.sort({
      ...job,
      settings: {
        ...settings,
        ...(onReport && {
          onReport: (made: SortReport) => {
            report = made;
          },
        }),
      },
    });
    const seconds = (performance.now() - started) / 1000;
    const measured = await this.#measured.get(kind.name);
    // A share of a device with memory of its own was there before; what another one took, it took with all at work.
    const slowdown = alone ? 1 : (measured?.slowdown.get(member) ?? 1);
    if (alone || !member.streams) measured?.rates.get(member)?.observe(count, seconds / slowdown);
    return report;
  }

  /**
   * Reduces slices of the keys, each on its member; undefined where one device is to do it: sums of floats depend on the
   * order in which they are made.
   */
  reduce(keys: Column, op: ReduceOp, settings: SortSettings): (() => Promise<number | bigint>) | undefined {
    const { n, info, dtype, place } = keys;
    const summed = op === 'sum' && info.kind === 'float';
    if (n < this.members.length || summed || !ArrayBuffer.isView(place)) return undefined;
    if (!this.takes(n * info.bytes, settings)) return undefined;
    const one = (member: Member, start: number, count: number) => {
      const slice = column(dtype, count, part(place, start * info.bytes, (start + count) * info.bytes));
      return member.operate({ n: count, settings, onHost: true, again: true }, (call) =>
        reduce(call, slice, op),
      );
    };
    const kind: Kind = { name: `reduce ${dtype} ${op}`, probe: (member, count) => one(member, 0, count) };
    return async () => {
      const found = await this.#bySlices(kind, n, settings, one);
      if (op !== 'sum') return found.reduce((a, b) => better(op, a as bigint, b as bigint));
      const sum = found.reduce<bigint>((a, b) => a + BigInt(b), 0n);
      return info.kind === 'signed' ? BigInt.asIntN(64, sum) : BigInt.asUintN(64, sum);
    };
  }

  /** The first keys of the order, from those of slices; undefined where one device is to do it. */
  topK(keys: Column, out: Top, settings: SortSettings): (() => Promise<void>) | undefined {
    const { n, info, dtype, place } = keys;
    const k = out.keys.n;
    if (!ArrayBuffer.isView(place) || !this.takes(n * info.bytes, settings)) return undefined;
    if (k > (n * TOP_PART) / this.members.length) return () => this.#topOfAll(keys, out, settings);
    const one = async (member: Member, start: number, count: number) => {
      const slice = column(dtype, count, part(place, start * info.bytes, (start + count) * info.bytes));
      const few = Math.min(k, count);
      const top = { keys: room(few * info.bytes), positions: new Uint32Array(few) };
      const { onProgress: _, onReport: __, ...own } = settings;
      await member.operate({ n: count, settings: own, onHost: true, again: true }, async (call) => {
        await topK(call, slice, {
          keys: column(dtype, few, top.keys),
          positions: column('u32', few, top.positions),
        });
        return () => undefined;
      });
      for (let i = 0; i < few; i++) top.positions[i] = (top.positions[i] as number) + start;
      return top;
    };
    const kind: Kind = {
      name: `topK ${info.bytes} ${Math.ceil(Math.log2(k + 1))}`,
      probe: (member, count) => one(member, 0, count),
    };
    return async () => {
      const tops = await this.#bySlices(kind, n, settings, one);
      const candidates = tops.reduce((sum, { positions }) => sum + positions.length, 0);
      const all = { keys: room(candidates * info.bytes), positions: new Uint32Array(candidates) };
      let at = 0;
      for (const top of tops) {
        copyBytes(top.keys, part(all.keys, at * info.bytes));
        all.positions.set(top.positions, at);
        at += top.positions.length;
      }
      await this.#firstOf({ ...keys, n: candidates, place: all.keys }, all.positions, out, settings);
    };
  }

  /** Sorts them all, for the first ones. */
  #topOfAll(keys: Column, out: Top, settings: SortSettings): Promise<void> {
    return this.#firstOf(keys, undefined, out, settings);
  }

  /** The first of a sort of keys with their positions, or of those that are given. */
  async #firstOf(
    keys: Column,
    positions: Uint32Array | undefined,
    out: Top,
    settings: SortSettings,
  ): Promise<void> {
    const sorted = room(keys.n * keys.info.bytes);
    const moved = new Uint32Array(keys.n);
    const values = positions && { place: positions, bytes: 4 };
    const job = { keys, settings, sorted, moved, ...(values && { values }) };
    const shared = this.jobOf(job);
    if (shared) await this.#sort(shared);
    else {
      const attempts = this.#inOrder().map((member) => [member, () => member.sort(job)] as const);
      await this.#byOneOf(attempts, settings);
    }
    const [bytes, k] = [keys.info.bytes, out.keys.n];
    copyBytes(part(sorted, 0, k * bytes), out.keys.place as ArrayBufferView);
    copyBytes(part(moved, 0, k * 4), out.positions.place as ArrayBufferView);
  }

  /** Has slices of the keys worked on, each where its turn is, and gives what comes of them in order. */
  async #bySlices<T>(
    kind: Kind,
    n: number,
    settings: SortSettings,
    one: (member: Member, start: number, count: number) => Promise<T>,
  ): Promise<T[]> {
    throwIfAborted(settings.signal);
    const { members, weights } = await this.#division(kind, n, settings);
    let [weight, start] = [0, 0];
    const slices = members.map((member, i) => {
      weight += weights[i] as number;
      const end = i === members.length - 1 ? n : Math.min(n, Math.round(weight * n));
      const slice = { member, start, count: end - start };
      start = end;
      return slice;
    });
    return allSettled(
      slices
        .filter(({ count }) => count > 0)
        .map(({ member, start: from, count }) => {
          const attempts = this.#inOrder(member).map((by) => [by, () => one(by, from, count)] as const);
          return this.#byOneOf(attempts, settings);
        }),
    );
  }

  /** Members that there are, the given one first. */
  #inOrder(first?: Member): Member[] {
    const there = this.members.filter((member) => !member.lost);
    const all = there.length > 0 ? there : this.members; // which are opened again, or tell why not
    return first ? [first, ...all.filter((member) => member !== first)] : [...all];
  }

  /** Until one succeeds. @throws what the first failed with, when none does; what another member would fail with, too */
  async #byOneOf<T>(
    attempts: readonly (readonly [Member, () => Promise<T>])[],
    settings: SortSettings,
  ): Promise<T> {
    let failure: unknown;
    for (const [i, [member, attempt]] of attempts.entries()) {
      try {
        return await attempt();
      } catch (error) {
        if (!isMovable(error, settings)) throw error;
        failure ??= error;
        if (i === attempts.length - 1) break;
        throwIfAborted(settings.signal);
        const next = attempts[i + 1]?.[0];
        const who = next === member ? 'is tried again' : `goes to ${next?.info.name}`;
        const message = `${member.info.name} failed: ${error.message}; its share ${who}`;
        (settings.onWarning ?? this.#onWarning)(errorOfCode(error.code, message, { cause: error }));
      }
    }
    throw failure;
  }

  get #probeKeys(): number {
    return this.members.every(({ streams }) => streams) ? STREAMED_PROBE_KEYS : PROBE_KEYS;
  }

  /** Who does what part of n keys. */
  async #division(kind: Kind, n: number, settings: SortSettings): Promise<Division<Member>> {
    let measured = this.#measured.get(kind.name);
    if (!measured) {
      const warn = settings.onWarning ?? this.#onWarning;
      measured = measure(this.#inOrder(), kind, { n: Math.min(n, this.#probeKeys), settings, warn });
      this.#measured.set(kind.name, measured);
      measured.catch(() => this.#measured.delete(kind.name));
    }
    const { rates, slowdown, splitSecondsPerKey, overrun } = await measured;
    const speeds = [...rates]
      .filter(([member]) => !member.lost)
      .map(([member, own]) => ({ member, rates: own, slowdown: slowdown.get(member) ?? 1 }));
    if (speeds.length === 0)
      return { members: this.#inOrder().slice(0, 1), weights: [1], seconds: 0, reason: 'all are lost' };
    // Transfers hide behind it rather than it behind them: two H100 take 4 GiB in 40 ms, which take the host 240 to split.
    const splitSeconds = splitSecondsPerKey * n;
    return divide(speeds, n, { splitSeconds, overrun, exactly: settings.tuning.spread });
  }

  /** What part of keys like these each member is to have where all take part, by what it takes them to sort. */
  async weigh(keys: HostColumn, settings: SortSettings): Promise<number[]> {
    const job = { keys, settings, sorted: keys.view };
    const all = { ...settings, tuning: { spread: this.members.length } };
    const { members, weights } = await this.#division(sortKind(job, this.members), keys.n, all);
    return this.members.map((member) => weights[members.indexOf(member)] ?? 0);
  }

  /** Of all members together; the most of each need not have been at one time. */
  get usage(): MemoryUsage {
    const all = this.members.map(({ keeper }) => keeper.backend.memory.usage);
    const sum = (of: keyof MemoryUsage) => all.reduce((bytes, usage) => bytes + usage[of], 0);
    return { used: sum('used'), idle: sum('idle'), peak: sum('peak') };
  }

  /** Gives back the memory that members keep for the next calls. */
  trim(): void {
    for (const { keeper } of this.members) keeper.backend.memory.trim();
  }

  /** Waits for what is running, and closes all but the first member's device. */
  async close(): Promise<void> {
    for (const member of this.members) await member.close();
    for (const { keeper } of this.members.slice(1)) await keeper.close();
  }
}
