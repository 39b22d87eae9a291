import { type ClsortError, MismatchError, UnsupportedError } from '../../util/errors.js';
import { assertOffsets, offsetsOf, segmentSteps, verifySegmentSteps } from '../host/host-segments.js';
import { sortSteps } from '../host/host-sort.js';
import { verifySteps } from '../host/host-verify.js';
import { loadedNativeModule, nativeModule } from '../host/native-module.js';
import { MAX_KEYS_AT_ONCE } from '../host/policy.js';
import { runYielding } from '../host/steps.js';
import { hostColumn } from '../model/column.js';
import { type HostJob, isHostJob, type SortJob } from '../model/job.js';
import type { SortSettings } from '../model/options.js';
import { hostPlan, type Plan, type PlanRequest } from '../model/plan.js';
import type { Outcome, Verified } from '../model/report.js';
import type { ColumnMemory } from '../transfer/column-memory.js';
import { HostMemory } from '../transfer/host-memory.js';
import type { Backend, PendingSort, Session } from './backend.js';
import type { Columns } from './columns.js';
import { HostColumns } from './host-columns.js';

/** Minimum keys that are verified in the addon. Fewer take JavaScript less time than a change of threads. */
const MIN_NATIVE_VERIFIED = 2 ** 12;

/** The host engine. It is its own session, since it cannot be lost. */
export class HostBackend implements Backend, Session {
  readonly info = undefined;
  readonly hasDedicatedMemory = false;
  readonly lost = false;
  readonly overlaps = false;
  readonly memory: ColumnMemory = new HostMemory();
  readonly #reason: string | Error | ((request: PlanRequest) => string);
  readonly #inJavaScript: boolean;
  #onWarning: ((warning: ClsortError) => void) | undefined;

  /**
   * @param reason reason to sort on the host, or a function that returns it; an error if no device could be opened
   * @param options `onWarning` receives one warning if sorts run in JavaScript, because the addon cannot be loaded.
   *   `inJavaScript` sorts there without the addon, for a process that sorts few keys once; default false
   */
  constructor(
    reason: string | Error | ((request: PlanRequest) => string) = 'asked for',
    {
      onWarning,
      inJavaScript = false,
    }: { onWarning?: (warning: ClsortError) => void; inJavaScript?: boolean } = {},
  ) {
    this.#reason = reason;
    this.#onWarning = onWarning;
    this.#inJavaScript = inJavaScript;
  }

  /**
   * Returns the plans of the host engine.
   *
   * @throws UnsupportedError when a device algorithm was requested
   */
  plans(request: PlanRequest): Plan[] {
    const { algorithm, n } = request;
    const openError = this.#reason instanceof Error ? this.#reason : undefined;
    if (algorithm !== 'host' && algorithm !== 'auto') {
      throw new UnsupportedError(
        `cannot use algorithm '${algorithm}': it needs an OpenCL device${openError ? ` (${openError.message})` : ''}. Open one, or use 'auto'`,
        { cause: openError },
      );
    }
    if (n === 0) return [hostPlan(request, 'nothing to sort')];
    if (algorithm === 'host') return [hostPlan(request, 'asked for')];
    const reason = typeof this.#reason === 'function' ? this.#reason(request) : this.#reason;
    return [hostPlan(request, typeof reason === 'string' ? reason : 'no OpenCL device')];
  }

  chunkLimit(): number {
    return Number.POSITIVE_INFINITY;
  }

  trusts(): boolean {
    return true;
  }

  distrust(): void {}

  async prepare(): Promise<void> {}

  async runDueTest(): Promise<boolean> {
    return false;
  }

  onDueTest(): void {}

  hasMade(): boolean {
    return true;
  }

  recordMade(): void {}

  wasPrepared(): boolean {
    return true;
  }

  isReady(): boolean {
    return true;
  }

  async sort(plan: Plan, job: SortJob): Promise<PendingSort> {
    if (!isHostJob(job)) {
      throw new UnsupportedError('cannot sort on the host: the keys are a column of a device');
    }
    if (this.#inJavaScript) return completedSort(await sortInJavaScript(plan, job));
    await this.#warnOfJavaScript();
    return completedSort(await sortOnHost(plan, job));
  }

  /** Sorts few keys at once: a promise for each step of `sort` takes longer than the sort. */
  sortNow(plan: Plan, job: SortJob): PendingSort | undefined {
    const native = loadedNativeModule();
    if (!native || this.#inJavaScript || native.nativeProblem() || !isHostJob(job)) return undefined;
    const { settings, segments } = job;
    const keys = hostColumn(job.keys);
    const isFew = keys.n > 0 && keys.n <= MAX_KEYS_AT_ONCE;
    if (!isFew || segments || settings.verify || !native.suitsNative(keys, job)) return undefined;
    const started = performance.now();
    native.sortAtOnce(keys, settings, job, settings);
    return completedSort(outcomeIn({ ...plan, facts: { engine: 'addon', threads: 1 } }, job, started));
  }

  async #warnOfJavaScript(): Promise<void> {
    if (!this.#onWarning) return;
    const { nativeProblem } = await nativeModule();
    const cause = nativeProblem();
    if (!cause || process.env.CLSORT_HOST_ENGINE === 'javascript') return;
    const message = `cannot use the fast host engine, so JavaScript sorts on one thread: ${cause.message}`;
    this.#onWarning(new UnsupportedError(message, { cause }));
    this.#onWarning = undefined;
  }

  columns(settings: SortSettings): Columns {
    return new HostColumns(settings);
  }

  get backend(): Backend {
    return this;
  }

  run<T>(use: (backend: Backend) => Promise<T>): Promise<T> {
    return use(this);
  }

  complete<T>(_backend: Backend, use: () => Promise<T>): Promise<T> {
    return use();
  }

  onGiveUp(): void {}

  async close(): Promise<void> {}
}

/** Returns a pending sort that is already done. */
export const completedSort = (outcome: Outcome): PendingSort => ({
  outcome: async () => outcome,
  release: () => undefined,
});

/**
 * Sorts on the host. The result is verified if requested: the host engine is trusted no more than a device.
 *
 * @throws AbortedError when the signal is aborted
 * @throws MismatchError when the result fails verification
 * @throws InputError when segment offsets are invalid
 */
export async function sortOnHost(plan: Plan, job: HostJob): Promise<Outcome> {
  const { settings, segments } = job;
  const keys = hostColumn(job.keys);
  const { nativeProblem, nativeSort, suitsNative, threadsFor } = await nativeModule();
  if (nativeProblem() !== undefined || !suitsNative(keys, job)) return sortInJavaScript(plan, job);
  const started = performance.now();
  if (segments) assertOffsets(offsetsOf(segments), keys.n);
  await nativeSort(keys, settings, job, { segments, signal: settings.signal });
  return outcomeOf({ ...plan, facts: { engine: 'addon', threads: threadsFor(keys.n) } }, job, started);
}

async function sortInJavaScript(plan: Plan, job: HostJob): Promise<Outcome> {
  const { settings, segments } = job;
  const keys = hostColumn(job.keys);
  const started = performance.now();
  const steps = segments ? segmentSteps({ ...job, keys }, segments) : sortSteps(keys, settings, job);
  await runYielding(steps, settings.signal);
  return outcomeOf({ ...plan, facts: { engine: 'JavaScript' } }, job, started);
}

/** Returns the outcome of a sort, which is verified if requested. @param started time when it began */
async function outcomeOf(plan: Plan, job: HostJob, started: number): Promise<Outcome> {
  const outcome = outcomeIn(plan, job, started);
  const verified = job.settings.verify ? await verifyOnHost(job, 'the host engine') : undefined;
  return { ...outcome, ...(verified && { verified }) };
}

/** Returns the outcome of a sort that ends now, unverified. */
function outcomeIn(plan: Plan, { settings }: HostJob, started: number): Outcome {
  const seconds = (performance.now() - started) / 1000;
  return { plan, stages: [{ stage: 'host sort', seconds: settings.profile ? seconds : null }] };
}

async function verificationOf(job: HostJob): Promise<{ order: boolean; permutation: boolean }> {
  const { settings, segments } = job;
  const keys = hostColumn(job.keys);
  if (keys.n >= MIN_NATIVE_VERIFIED) {
    const { nativeProblem, nativeVerify, suitsNative } = await nativeModule();
    if (!nativeProblem() && suitsNative(keys, job))
      return nativeVerify(keys, settings, job, { segments, signal: settings.signal });
  }
  const steps = segments ? verifySegmentSteps({ ...job, keys }, segments) : verifySteps(keys, settings, job);
  return runYielding(steps, settings.signal);
}

/**
 * Verifies a result in host memory.
 *
 * @param producer name of the engine, for the error message
 * @throws MismatchError when the result is wrong
 * @throws AbortedError when the signal is aborted
 */
export async function verifyOnHost(job: HostJob, producer: string): Promise<Verified> {
  const verified = await verificationOf(job);
  if (verified.order && verified.permutation) return verified;
  throw new MismatchError(`cannot use the result: ${producer} computed it incorrectly. Please report this`, {
    details: { verified },
  });
}
