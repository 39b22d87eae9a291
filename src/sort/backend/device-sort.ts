import { type Algorithm, type Enqueued, type Segments, whyGaveUp } from '../../algorithms/algorithm.js';
import { algorithmNamed } from '../../algorithms/registry.js';
import { enqueueWithScratch } from '../../algorithms/run.js';
import type { Device } from '../../device/device.js';
import type { StageTime } from '../../device/queue/profile.js';
import { type StatusSlot, StatusWords } from '../../device/status-words.js';
import { keyCodec } from '../../keys/key-codec.js';
import { TimeoutError } from '../../util/errors.js';
import { chain, type MaybePromise, recover } from '../../util/maybe-promise.js';
import { offsetsError } from '../host/host-segments.js';
import { byteLengthOf, isOnDevice, type Place } from '../model/column.js';
import type { JobSegments, SortJob } from '../model/job.js';
import type { Plan } from '../model/plan.js';
import type { Outcome, Verified } from '../model/report.js';
import {
  type BoundMemory,
  type BoundOutput,
  bindInput,
  bindOutput,
  takeFromPool,
} from '../transfer/bind-host-memory.js';
import type { CheckedTransfers } from '../transfer/checked-transfers.js';
import type { CopiedBuffer } from '../verification/checksum.js';
import { compareDigests, type Verifier } from '../verification/verify.js';
import type { PendingSort } from './backend.js';
import type { Bits, KeyRangeProbe } from './key-range-probe.js';

/** Compiled and self-tested programs that a sort needs. */
export interface SortResources {
  readonly algorithm: Algorithm;
  /** Set if the sort is verified. */
  readonly verifier: Verifier | undefined;
  readonly transfers: CheckedTransfers;
  readonly probe: KeyRangeProbe;
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
  /** Window of the code bits that differ. */
  #bits: Bits;
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
    this.#bits = plan.bitRange;
  }

  /**
   * Enqueues a sort. It does not wait unless the keys have to be transferred or probed.
   *
   * @throws MemoryError when memory runs out
   * @throws DeviceLostError when the device failed
   * @throws TimeoutError when the timeout passed
   */
  static enqueue(
    device: Device,
    plan: Plan,
    job: SortJob,
    resources: SortResources,
  ): MaybePromise<DeviceSort> {
    const sort = new DeviceSort(device, plan, job, resources);
    const { settings } = job;
    if (settings.onReport) device.queue.startProfile(settings.profile);
    return recover(
      () => chain(sort.#bind(), (inputs) => chain(sort.#narrowBits(inputs), () => sort.#run(inputs))),
      (error) => sort.#failed(error),
    );
  }

  outcome(): MaybePromise<Outcome | string> {
    const { settings, segments } = this.#job;
    const { transfers } = this.#resources;
    const wrongAt = this.#slot?.word() ?? 0;
    if (segments && wrongAt !== 0) {
      return transfers.same().then((same) => {
        if (!same) return CHANGED;
        const at = ~wrongAt >>> 0;
        throw offsetsError(this.#job.keys.n, `another value at ${at} of ${segments.offsets.n}`, at);
      });
    }
    const verified = this.#verdict?.();
    const wrong = this.#gaveUp?.() ?? (verified && verificationFailure(verified));
    if (wrong !== undefined) return wrong;
    if (!settings.verify) return this.#made(verified);
    return transfers.same().then((same) => (same ? this.#made(verified) : CHANGED));
  }

  release(): void {
    for (const one of this.#acquired.splice(0)) one.release();
  }

  #made(verified: Verified | undefined): Outcome {
    const [plan, bits] = [this.#plan, this.#bits];
    const made =
      bits === plan.bitRange
        ? plan
        : { ...plan, bitRange: bits, reason: `${plan.reason}; other bits are constant` };
    return { plan: made, stages: this.#times?.() ?? [], ...(verified && { verified }) };
  }

  /** Binds the inputs of the sort. */
  #bind(): MaybePromise<Inputs> {
    const { keys, values, segments } = this.#job;
    const bind = (place: Place, unit: number) =>
      chain(bindInput(this.#device, place, unit), (one) => this.#track(one));
    return chain(bind(keys.place, keys.info.bytes), (keys) =>
      chain(values && bind(values.place, values.bytes), (values) =>
        chain(
          this.#needsOffsets(segments) ? bind(segments.offsets.place, POSITION_BYTES) : undefined,
          (offsets) => ({
            keys,
            values,
            offsets,
          }),
        ),
      ),
    );
  }

  /** Whether the algorithm or the verifier needs the segment offsets. */
  #needsOffsets(segments: JobSegments | undefined): segments is JobSegments {
    if (!segments?.isRows || !segments.longest || this.#resources.verifier) return segments !== undefined;
    return !this.#resources.algorithm.sortsRows?.(this.#plan.n, segments.longest);
  }

  /**
   * Narrows the bits to those that differ, if the host has to do that. Requested algorithms run as requested.
   */
  #narrowBits(inputs: Inputs): MaybePromise<void> {
    const { keys, settings } = this.#job;
    const { bitRange: bits, algorithm, shape } = this.#plan;
    const { byDigits, skipsConstantDigits } = algorithmNamed(algorithm);
    if (settings.algorithm !== 'auto' || !byDigits || skipsConstantDigits) return undefined;
    // The probe samples keys on the host first.
    if (isOnDevice(keys.place) && keys.origin === undefined) return undefined;
    const radixBits = Number(shape?.tuning?.radixBits ?? 8);
    const codec = keyCodec(keys.dtype, settings);
    return chain(
      this.#resources.probe.narrow(keys, inputs.keys.buffer, { bits, codec, radixBits }),
      (left) => {
        this.#bits = left;
      },
    );
  }

  /** Enqueues the sort and the reads of its status and results. */
  #run(inputs: Inputs): MaybePromise<this> {
    const { keys, settings, values, moved, sorted, segments } = this.#job;
    const { algorithm, verifier } = this.#resources;
    const { queue } = this.#device;
    // An argsort also sorts its keys, but they stay on the device.
    const output = this.#track<BoundOutput>(
      sorted
        ? bindOutput(this.#device, sorted, keys.info.bytes)
        : { ...takeFromPool(this.#device, byteLengthOf(keys)), copyBack: () => undefined },
    );
    const unit = values?.bytes ?? POSITION_BYTES;
    const outputValues = moved && this.#track(bindOutput(this.#device, moved, unit));
    this.#slot = inputs.offsets && StatusWords.zeroed(this.#device); // no wait between this and its writer
    const work = {
      n: this.#plan.n,
      bits: this.#bits,
      codec: keyCodec(keys.dtype, settings),
      indices: moved !== undefined && values === undefined,
      input: inputs.keys.buffer,
      output: output.buffer,
      ...(inputs.values && { inputValues: inputs.values.buffer }),
      ...(outputValues && { outputValues: outputValues.buffer }),
      ...(segments && { segments: segmentsOf(segments, inputs.offsets?.buffer, this.#slot) }),
    };
    const verification = verifier && { ...work, bits: this.#plan.bitRange };
    const before = verification && verifier.input(elements(work.input, work.inputValues), verification);
    const run = this.#track(enqueueWithScratch(algorithm, queue, work));
    const sums = verification && verifier.output(elements(work.output, work.outputValues), verification);
    if (before && sums) this.#verdict = () => compareDigests(before, sums);
    this.#gaveUp = this.#statusOf(run);
    return chain(
      this.#watchTransfers([inputs.keys, inputs.values, inputs.offsets, output, outputValues]),
      () =>
        chain(this.#copyBack(output), () =>
          chain(this.#copyBack(outputValues), () => {
            if (settings.onReport) this.#times = queue.takeProfile();
            return this;
          }),
        ),
    );
  }

  /** Checks transfers if `verify` is set. */
  #watchTransfers(acquired: readonly (BoundMemory | undefined)[]): MaybePromise<void> {
    if (!this.#job.settings.verify) return undefined;
    return this.#resources.transfers.watch(acquired.flatMap(copiesOf));
  }

  /** Starts the copy of a result to host memory; complete after the next wait. */
  #copyBack(output: BoundOutput | undefined): MaybePromise<void> {
    return output?.copy ? output.copyBack(this.#job.settings.timeout) : undefined;
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

  async #failed(error: unknown): Promise<never> {
    const { queue } = this.#device;
    queue.endProfile();
    // Commands in flight may still use borrowed memory. A device that hangs is abandoned instead.
    if (!(error instanceof TimeoutError)) {
      await queue.finish(this.#job.settings.timeout).catch(() => undefined);
    }
    this.release();
    throw error;
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
