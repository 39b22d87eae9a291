import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import { UsageError } from '../util/errors.js';
import { powerAtLeast } from '../util/powers.js';
import { publishPreparation } from '../util/preparation-channel.js';
import { readSelfTestRecord, storeSelfTestRecord } from '../util/self-test-records.js';

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

  static readonly #all = new WeakMap<Device, LookBack>();

  static of(device: Device): LookBack {
    const known = LookBack.#all.get(device);
    if (known) return known;
    const made = new LookBack(device);
    LookBack.#all.set(device, made);
    return made;
  }

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

/** Self-test results of this process, by device and name. */
const found = new WeakMap<Device, Map<string, Promise<boolean>>>();

/**
 * Returns whether a self-test passes on the device. It runs on first use; the result is stored with the self-test
 * records of sorts, for the same driver and kernels.
 *
 * @param test returns whether the results were correct; if it throws, the call rejects and nothing is recorded
 */
export function passesSelfTest(device: Device, name: string, test: () => Promise<boolean>): Promise<boolean> {
  const known = found.get(device) ?? new Map<string, Promise<boolean>>();
  found.set(device, known);
  let verdict = known.get(name);
  if (!verdict) {
    verdict = recordedSelfTest(device, name, test);
    verdict.catch(() => known.delete(name));
    known.set(name, verdict);
  }
  return verdict;
}

async function recordedSelfTest(
  device: Device,
  name: string,
  test: () => Promise<boolean>,
): Promise<boolean> {
  const { info } = device;
  const parts = [info.platform, info.name, info.driver, 'look-back', name] as const;
  const known = readSelfTestRecord(parts);
  if (known) return known.ok;
  const ok = await publishPreparation('self-test', name, test);
  if (!ok && device.closed) throw new UsageError('cannot complete a self-test: its device is closed');
  storeSelfTestRecord(parts, ok ? undefined : 'its results are not those of two launches');
  return ok;
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
