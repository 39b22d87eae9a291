import { type Algorithm, type Enqueued, type Segments, whyGaveUp } from '../../algorithms/algorithm.js';
import { enqueueWithScratch } from '../../algorithms/run.js';
import type { Device } from '../../device/device.js';
import type { StageTime } from '../../device/queue/profile.js';
import { type StatusSlot, StatusWords } from '../../device/status-words.js';
import { keyCodec } from '../../keys/key-codec.js';
import { TimeoutError } from '../../util/errors.js';
import { offsetsError } from '../host/host-segments.js';
import { assertNotDetached, spansOf } from '../model/array-assertions.js';
import { byteLengthOf, type Place } from '../model/column.js';
import type { JobSegments, SortJob } from '../model/job.js';
import type { Plan } from '../model/plan.js';
import type { Outcome, Verified } from '../model/report.js';
import type { CheckedTransfers } from '../transfer/checked-transfers.js';
import {
  type BoundMemory,
  type BoundOutput,
  bindInput,
  bindNow,
  bindOutput,
  needsStaging,
  takeFromPool,
} from '../transfer/column-memory.js';
import type { CopiedBuffer } from '../verification/checksum.js';
import { compareDigests, type Verifier } from '../verification/verify.js';
import type { PendingSort } from './backend.js';

/** Compiled and self-tested programs that a sort needs. */
export interface SortResources {
  readonly algorithm: Algorithm;
  /** Set if the sort is verified. */
  readonly verifier: Verifier | undefined;
  readonly transfers: CheckedTransfers;
}

/** Inputs of a sort on the device. */
interface Inputs {
  readonly keys: BoundMemory;
  readonly values: BoundMemory | undefined;
  readonly offsets: BoundMemory | undefined;
}

/** One sort on a device: its borrowed memory, and the checks to evaluate after the wait. */
export class DeviceSort implements PendingSort {
  readonly #device: Device;
  readonly #plan: Plan;
  readonly #job: SortJob;
  readonly #resources: SortResources;
  readonly #acquired: { release(): void }[] = [];
  #gaveUp: (() => string | undefined) | undefined;
  #verdict: (() => Verified) | undefined;
  /** Status word that the device writes if an offset is wrong. */
  #slot: StatusSlot | undefined;
  #times: (() => StageTime[]) | undefined;

  private constructor(device: Device, plan: Plan, job: SortJob, resources: SortResources) {
    this.#device = device;
    this.#plan = plan;
    this.#job = job;
    this.#resources = resources;
  }

  /**
   * Enqueues a sort. It does not wait unless the keys have to be transferred.
   *
   * @throws MemoryError when memory runs out
   * @throws DeviceLostError when the device failed
   * @throws TimeoutError when the timeout passed
   */
  static async enqueue(
    device: Device,
    plan: Plan,
    job: SortJob,
    resources: SortResources,
  ): Promise<DeviceSort> {
    const sort = new DeviceSort(device, plan, job, resources);
    const { settings } = job;
    if (settings.onReport) device.queue.startProfile(settings.profile);
    try {
      const inputs = await sort.#bindInputs();
      assertNotDetached(spansOf(job)); // the kernels would access memory beyond a shorter copy
      const outputs = sort.#enqueueKernels(inputs);
      if (settings.verify) {
        const { keys, values, offsets } = inputs;
        await resources.transfers.watch([keys, values, offsets, ...outputs].flatMap(copiesOf));
      }
      for (const output of outputs) await output.copyBack(settings.timeout);
      sort.#endProfile();
      return sort;
    } catch (error) {
      device.queue.endProfile();
      // Commands in flight may still use borrowed memory. A device that hangs is abandoned instead.
      if (!(error instanceof TimeoutError))
        await device.queue.finish(settings.timeout).catch(() => undefined);
      sort.release();
      throw error;
    }
  }

  /**
   * Like `enqueue`, for a sort without verification.
   *
   * @returns undefined if host memory is too large to be copied at once
   */
  static enqueueNow(
    device: Device,
    plan: Plan,
    job: SortJob,
    resources: SortResources,
  ): DeviceSort | undefined {
    const sort = new DeviceSort(device, plan, job, resources);
    const { keys, values, sorted, moved, settings } = job;
    const offsets = sort.#offsets;
    const places = [keys.place, values?.place, sorted, moved, offsets];
    if (places.some((place) => place && needsStaging(device, place))) return undefined;
    if (settings.onReport) device.queue.startProfile(settings.profile);
    const bind = (place: Place, unit: number) => sort.#track(bindNow(device, place, unit));
    try {
      const outputs = sort.#enqueueKernels({
        keys: bind(keys.place, keys.info.bytes),
        values: values && bind(values.place, values.bytes),
        offsets: offsets && bind(offsets, POSITION_BYTES),
      });
      for (const output of outputs) output.copyBack();
      sort.#endProfile();
      return sort;
    } catch (error) {
      device.queue.endProfile();
      const release = () => sort.release(); // commands in flight may still use borrowed memory
      device.queue.settle(settings.timeout).then(release, release);
      throw error;
    }
  }

  async outcome(): Promise<Outcome | string> {
    const { settings, segments } = this.#job;
    const { transfers } = this.#resources;
    const wrongAt = this.#slot?.word() ?? 0;
    if (segments && wrongAt !== 0) {
      if (!(await transfers.same())) return CHANGED;
      const at = ~wrongAt >>> 0;
      throw offsetsError(this.#job.keys.n, `another value at ${at} of ${segments.offsets.n}`, at);
    }
    const verified = this.#verdict?.();
    const wrong = this.#gaveUp?.() ?? (verified && verificationFailure(verified));
    if (wrong !== undefined) return wrong;
    if (settings.verify && !(await transfers.same())) return CHANGED;
    return { plan: this.#plan, stages: this.#times?.() ?? [], ...(verified && { verified }) };
  }

  release(): void {
    for (const one of this.#acquired.splice(0)) one.release();
  }

  async #bindInputs(): Promise<Inputs> {
    const { keys, values } = this.#job;
    const offsets = this.#offsets;
    const bind = async (place: Place, unit: number): Promise<BoundMemory> =>
      this.#track(await bindInput(this.#device, place, unit));
    return {
      keys: await bind(keys.place, keys.info.bytes),
      values: values && (await bind(values.place, values.bytes)),
      offsets: offsets && (await bind(offsets, POSITION_BYTES)),
    };
  }

  /**
   * The segment offsets, if the algorithm or the verifier needs them. Offsets of rows are computed on first access, and
   * most algorithms do not need them.
   */
  get #offsets(): Place | undefined {
    const { segments } = this.#job;
    const { algorithm, verifier } = this.#resources;
    const isCounted = segments?.isRows && segments.longest && !verifier;
    const needsNone = isCounted && algorithm.sortsRows?.(this.#plan.n, segments.longest);
    return needsNone ? undefined : segments?.offsets.place;
  }

  /**
   * Enqueues the sort and the read of its status. Does not wait.
   *
   * @returns the outputs, to be copied back
   */
  #enqueueKernels(inputs: Inputs): BoundOutput[] {
    const { keys, settings, values, moved, sorted, segments } = this.#job;
    const { algorithm, verifier } = this.#resources;
    const { queue } = this.#device;
    // An argsort also sorts its keys, but they stay on the device.
    const output = this.#track<BoundMemory>(
      sorted
        ? bindOutput(this.#device, sorted, keys.info.bytes)
        : takeFromPool(this.#device, byteLengthOf(keys)),
    );
    const unit = values?.bytes ?? POSITION_BYTES;
    const outputValues = moved && this.#track(bindOutput(this.#device, moved, unit));
    this.#slot = inputs.offsets && StatusWords.zeroed(this.#device); // no wait between this and its writer
    const work = {
      n: this.#plan.n,
      bits: this.#plan.bitRange,
      codec: keyCodec(keys.dtype, settings),
      indices: moved !== undefined && values === undefined,
      input: inputs.keys.buffer,
      output: output.buffer,
      ...(inputs.values && { inputValues: inputs.values.buffer }),
      ...(outputValues && { outputValues: outputValues.buffer }),
      ...(segments && { segments: segmentsOf(segments, inputs.offsets?.buffer, this.#slot) }),
    };
    const before = verifier?.input(elements(work.input, work.inputValues), work);
    const run = this.#track(enqueueWithScratch(algorithm, queue, work));
    const sums = verifier?.output(elements(work.output, work.outputValues), work);
    if (before && sums) this.#verdict = () => compareDigests(before, sums);
    this.#gaveUp = this.#statusOf(run);
    return [output, outputValues].filter((one): one is BoundOutput => one !== undefined && 'copyBack' in one);
  }

  #endProfile(): void {
    if (this.#job.settings.onReport) this.#times = this.#device.queue.takeProfile();
  }

  /**
   * Enqueues the read of the sort's status.
   *
   * @returns getter of the reason why the sort gave up, if it did; call it after the wait
   */
  #statusOf({ status, anyAt }: Enqueued): (() => string | undefined) | undefined {
    if (!status) return undefined;
    const { queue } = this.#device;
    if (anyAt === undefined || this.#job.settings.onReport) {
      const word = new Uint32Array(1);
      queue.read(status, word);
      return () => whyGaveUp(word[0] ?? 0);
    }
    const words = queue.readAtWait(status, anyAt);
    return () => {
      const why = whyGaveUp(words.word(0));
      // Sorts enqueued behind this one read the same word. They may be correct, but they are repeated as
      // well.
      if (why !== undefined) queue.fill(status, 0, { offset: anyAt, bytes: 4 });
      return why;
    };
  }

  #track<L extends { release(): void }>(one: L): L {
    this.#acquired.push(one);
    return one;
  }
}

/** Bytes of a position, and of a segment offset: u32. */
const POSITION_BYTES = 4;

const CHANGED = 'received data that differ from those on the host';

/** Returns the segments in the form for algorithms. */
const segmentsOf = (
  { offsets, longest, fromSegment }: JobSegments,
  buffer: BoundMemory['buffer'] | undefined,
  slot: StatusSlot | undefined,
): Segments => ({
  ...(buffer && { offsets: buffer }),
  count: offsets.n - 1,
  ...(longest !== undefined && { longest }),
  ...(fromSegment && { fromSegment }),
  ...(slot && { slot }),
});

const elements = (keys: BoundMemory['buffer'], values: BoundMemory['buffer'] | undefined) => ({
  keys,
  ...(values && { values }),
});

const copiesOf = (memory: BoundMemory | undefined): CopiedBuffer[] =>
  memory?.copy ? [{ buffer: memory.buffer, copy: memory.copy }] : [];

/** Returns the reason why a result failed verification, if it did. */
function verificationFailure({ order, permutation }: Verified): string | undefined {
  if (!order) return 'left keys out of order';
  return permutation ? undefined : 'lost or changed elements';
}
