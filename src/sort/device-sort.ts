import { type Algorithm, type AlgorithmShape, whyGaveUp } from '../algorithms/algorithm.js';
import { algorithmNamed } from '../algorithms/registry.js';
import { enqueueWithScratch } from '../algorithms/run.js';
import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import type { KeyCodec } from '../keys/key-codec.js';
import { MismatchError, UnsupportedError } from '../util/errors.js';
import { type Certificate, certify } from './certify.js';
import { Checksums } from './checksum.js';
import { CutRuns } from './cut-runs.js';
import { PlanLists } from './plan-lists.js';
import type { Plan, PlanRequest } from './planner.js';
import { type Bits, Survey } from './survey.js';
import { type Verified, Verifier, verdict } from './verify.js';

/** Buffers of one sort on the device. */
export interface DeviceElements {
  readonly input: Buffer;
  readonly output: Buffer;
  readonly inputValues?: Buffer;
  readonly outputValues?: Buffer;
}

export interface DeviceWork extends DeviceElements {
  readonly codec: KeyCodec;
  /** The values are made: positions of the keys. */
  readonly indices: boolean;
  readonly verify: boolean;
  /** The part of the plan's window in which codes differ: all that has to be sorted on. */
  readonly bits: Bits;
}

/** A sort whose commands are enqueued. */
export interface Pending {
  /** Says, after the wait, how it went: why it gave up, when the algorithm asks for another one. */
  outcome(): { gaveUp?: string; verified?: Verified };
  /** Gives scratch back. */
  release(): void;
}

/** Runs plans on one device: keeps compiled algorithms and verifiers. */
export class DeviceSort {
  readonly #device: Device;
  readonly #algorithms = new Map<string, Promise<{ algorithm: Algorithm; certificate: Certificate }>>();
  readonly #plans: PlanLists;
  readonly #verifiers = new Map<string, Promise<Verifier>>();
  readonly survey: Survey;
  readonly #failures = new Map<string, number>();
  readonly #cutters = new Map<string, Promise<CutRuns>>();
  readonly #checksums = new Map<string, Promise<Checksums>>();

  constructor(device: Device) {
    this.#device = device;
    this.survey = new Survey(device);
    this.#plans = new PlanLists(device);
  }

  /** As `devicePlans`, for this device. @throws UnsupportedError, UsageError */
  plans(request: PlanRequest): Iterable<Plan> {
    return this.#plans.plansFor(request);
  }

  /**
   * @throws BuildError; MismatchError when the variant is not certified; UnsupportedError when the compiled
   *   algorithm cannot run the plan
   */
  async prepare(plan: Plan): Promise<Algorithm> {
    const { shape, algorithm: name } = plan;
    if (!shape) throw new UnsupportedError(`a plan for the ${plan.engine} engine cannot run on a device`);
    const { algorithm, certificate } = await cached(this.#algorithms, variantOf(plan), async () => {
      const made = await algorithmNamed(name).create(this.#device, shape);
      return { algorithm: made, certificate: await certify(made) };
    });
    if (!certificate.ok) {
      throw new MismatchError(
        `algorithm '${name}' failed its self-test on ${this.#device.info.name} and is left out: ${certificate.reason}`,
        { details: { certificate } },
      );
    }
    const supported = algorithm.supports({
      dtype: plan.dtype,
      n: plan.n,
      bits: plan.bits,
      valueBytes: plan.valueBytes,
      stable: true,
    });
    if (supported !== true) {
      throw new UnsupportedError(
        `algorithm '${name}' cannot sort this on ${this.#device.info.name}: ${supported}`,
      );
    }
    return algorithm;
  }

  /** Counts a result that could not be used. */
  distrust(plan: Plan): void {
    const variant = variantOf(plan);
    this.#failures.set(variant, (this.#failures.get(variant) ?? 0) + 1);
  }

  /** A variant that has failed twice is not tried again of ourselves while the device is open. */
  distrusts(plan: Plan): boolean {
    return this.#failures.size > 0 && (this.#failures.get(variantOf(plan)) ?? 0) >= 2;
  }

  /** @throws BuildError */
  verifier(plan: Plan): Promise<Verifier> {
    const keyBits = plan.shape?.keyBits ?? 32;
    return cached(this.#verifiers, `${keyBits} ${plan.valueBytes}`, () =>
      Verifier.create(this.#device, { keyBits, valueBytes: plan.valueBytes }),
    );
  }

  /** @throws BuildError */
  cutter({ shape, valueBytes }: Plan): Promise<CutRuns> {
    const keyBits = shape?.keyBits ?? 32;
    return cached(this.#cutters, `${keyBits} ${valueBytes}`, () =>
      CutRuns.create(this.#device, { keyBits, valueBytes }),
    );
  }

  /** @throws BuildError */
  checksums(): Promise<Checksums> {
    return cached(this.#checksums, '', () => Checksums.create(this.#device));
  }

  /**
   * Enqueues a sort, between the sums that verification compares.
   *
   * @param verifier from `verifier(plan)` when the work is to be verified
   * @throws MemoryError
   */
  enqueue(algorithm: Algorithm, plan: Plan, work: DeviceWork, verifier?: Verifier): Pending {
    const { n, bits } = plan;
    const { queue } = this.#device;
    const checked = { n, codec: work.codec, bits, indices: work.indices };
    const before = verifier?.input(
      { keys: work.input, ...(work.inputValues && { values: work.inputValues }) },
      checked,
    );
    const run = enqueueWithScratch(algorithm, queue, {
      n,
      bits: work.bits,
      codec: work.codec,
      input: work.input,
      output: work.output,
      indices: work.indices,
      ...(work.inputValues && { inputValues: work.inputValues }),
      ...(work.outputValues && { outputValues: work.outputValues }),
    });
    try {
      const after = verifier?.output(
        { keys: work.output, ...(work.outputValues && { values: work.outputValues }) },
        checked,
      );
      const status = new Uint32Array(1);
      if (run.status) queue.read(run.status, status);
      return {
        outcome: () => {
          const gaveUp = whyGaveUp(status[0] ?? 0);
          return { ...(gaveUp && { gaveUp }), ...(before && after && { verified: verdict(before, after) }) };
        },
        release: run.release,
      };
    } catch (error) {
      run.release();
      throw error;
    }
  }
}

/** Plans are asked for theirs at every sort. */
const variants = new WeakMap<Plan, string>();

function variantOf(plan: Plan): string {
  const known = variants.get(plan);
  if (known !== undefined) return known;
  const variant = `${plan.algorithm} ${plan.shape ? shapeKey(plan.shape) : ''}`;
  variants.set(plan, variant);
  return variant;
}

const shapeKey = ({ keyBits, valueBytes, tuning = {} }: AlgorithmShape): string =>
  `${keyBits} ${valueBytes} ${JSON.stringify(Object.entries(tuning).toSorted())}`;

/** One promise for each key; a failure is not kept. */
function cached<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let promise = map.get(key);
  if (!promise) {
    promise = make();
    promise.catch(() => map.delete(key));
    map.set(key, promise);
  }
  return promise;
}
