import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import { UsageError } from '../util/errors.js';
import { Memo, oncePer } from '../util/memo.js';
import { powerAtLeast } from '../util/powers.js';
import { publishPreparation } from '../util/preparation-channel.js';
import { readSelfTestRecord, storeSelfTestRecord } from '../util/self-test-records.js';
import type { PrimitiveProgram, PrimitiveTuning } from './primitive-program.js';

/** Launch numbers before they repeat: see STATE_TAG in cl/state_words.clh. */
const LAUNCHES = 2 ** 14;
/** Words before the states: CONTROL_MARGIN in cl/state_words.clh. */
const MARGIN = 32;

/** Buffer in which the groups of a launch publish their tile totals: one per device, shared by consecutive launches. */
export class LookBack {
  readonly #device: Device;
  #control: Buffer | undefined;
  #launch = 0;

  private constructor(device: Device) {
    this.#device = device;
  }

  static readonly of = oncePer((device: Device) => new LookBack(device));

  /**
   * Returns memory and a number for the next launch of the queue.
   *
   * @param operandBytes bytes of the value that a tile publishes
   * @throws MemoryError
   */
  next(tiles: number, operandBytes: number): { readonly control: Buffer; readonly launch: number } {
    const bytes = 4 * (MARGIN + tiles * Math.ceil(operandBytes / 2));
    if (!this.#control || this.#control.bytes < bytes) {
      // Smaller buffers stay allocated because launches may be using them. Together they take as much again.
      this.#control = this.#device.allocatePersistent(powerAtLeast(bytes));
      this.#launch = 0;
    } else if (this.#launch === LAUNCHES - 1) {
      this.#device.queue.fill(this.#control, 0);
      this.#launch = 0;
    }
    this.#launch++;
    return { control: this.#control, launch: this.#launch };
  }
}

/** Self-test results of this process. */
const found = new Memo<boolean>();

/**
 * Returns whether a self-test passes on the device. It runs on first use; the result is stored with the self-test
 * records of sorts, for the same driver and kernels.
 *
 * @param test returns whether the results were correct; if it throws, the call rejects and nothing is recorded
 */
export async function passesSelfTest(
  device: Device,
  name: string,
  test: () => Promise<boolean>,
): Promise<boolean> {
  return found.get(device, name, async () => {
    const { info } = device;
    const parts = [info.platform, info.name, info.driver, 'look-back', name] as const;
    const known = readSelfTestRecord(parts);
    if (known) return known.ok;
    const ok = await publishPreparation('self-test', name, test);
    if (!ok && device.closed) throw new UsageError('cannot complete a self-test: its device is closed');
    storeSelfTestRecord(parts, ok ? undefined : 'its results are not those of two launches');
    return ok;
  });
}

/** What a primitive is compiled for. */
export interface LookBackShape {
  readonly dtype: Dtype;
  readonly tuning?: PrimitiveTuning;
  /** Whether keys are read twice. Default: only if groups cannot wait for each other. */
  readonly inParts?: boolean;
}

/** A compiled primitive in one of two forms: groups wait for each other, or two launches read all keys. */
export class LookBackPrimitive<S extends LookBackShape> {
  readonly device: Device;
  readonly built: PrimitiveProgram;
  readonly shape: S;
  /** True if keys are read once. */
  readonly once: boolean;

  constructor(device: Device, built: PrimitiveProgram, shape: S, once: boolean) {
    this.device = device;
    this.built = built;
    this.shape = shape;
    this.once = once;
  }

  get tileKeys(): number {
    return this.built.tileKeys;
  }

  /**
   * Creates a primitive. One that reads keys once must pass a self-test, otherwise it reads them twice.
   *
   * @param create compiles a form
   * @param nameOf returns facts that identify the program
   * @param test returns whether the results were correct; if it throws, the call rejects and nothing is recorded
   */
  static async createTested<S extends LookBackShape, P extends LookBackPrimitive<S>>(
    shape: S,
    create: (shape: S) => Promise<P>,
    nameOf: (primitive: P) => readonly unknown[],
    test: (primitive: P) => Promise<boolean>,
  ): Promise<P> {
    const primitive = await create(shape);
    if (!primitive.once) return primitive;
    const { device } = primitive;
    const name = JSON.stringify(nameOf(primitive));
    const passes = await passesSelfTest(device, name, () => test(primitive));
    return passes ? primitive : create({ ...shape, inParts: true });
  }
}

/** Whole tiles of a self-test: more than a group looks back at once. */
export const TEST_TILES = 40;

/** Returns the keys whose bit patterns are `patterns[picks[i]]`. */
export function keysOfPicks(dtype: Dtype, picks: Uint8Array, patterns: readonly bigint[]): KeyArray {
  const { width } = dtypeInfo(dtype);
  const words = newArray(`u${width}`, picks.length) as KeyArray;
  const values = width === 64 ? patterns : patterns.map(Number);
  for (let i = 0; i < picks.length; i++) words[i] = values[picks[i] as number] as number;
  return words;
}
