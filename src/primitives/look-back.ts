import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import { powerAtLeast } from '../util/powers.js';
import { readSelfTestRecord, storeSelfTestRecord } from '../util/self-test-records.js';

/** Numbers that launches can have: see TOLD in cl/look_back.clh. */
const LAUNCHES = 2 ** 14;
/** Words before the states: CONTROL_MARGIN there. */
const MARGIN = 32;

/** Where the groups of a launch tell each other what their tiles hold: one for each device, for one launch after the other. */
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
   * Memory and a number for the next launch of the queue.
   *
   * @param operandBytes what a tile tells
   * @throws MemoryError
   */
  next(tiles: number, operandBytes: number): { readonly control: Buffer; readonly launch: number } {
    const bytes = 4 * (MARGIN + tiles * Math.ceil(operandBytes / 2));
    if (!this.#control || this.#control.bytes < bytes) {
      // The smaller ones are kept, too: launches may be using them. Together they take as much.
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

/** Self-tests by their names, for each device: what they found in this process. */
const found = new WeakMap<Device, Map<string, Promise<boolean>>>();

/**
 * Has a self-test passed on the device? It is run when that is asked for the first time; what it found is kept with the
 * certificates of sorts, for the same driver and the same kernels.
 *
 * @param test tells whether results were right; what it throws is told to whoever asked, and counts for nothing
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
  { info }: Device,
  name: string,
  test: () => Promise<boolean>,
): Promise<boolean> {
  const parts = [info.platform, info.name, info.driver, 'look-back', name] as const;
  const known = readSelfTestRecord(parts);
  if (known) return known.ok;
  const ok = await test();
  storeSelfTestRecord(parts, ok ? undefined : 'its results are not those of two launches');
  return ok;
}
