import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type KernelArgument, u32, u64 } from '../device/queue/queue.js';
import { StatusWords } from '../device/status-words.js';
import { bytesOf } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import { MismatchError } from '../util/errors.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { LookBack, passesSelfTest } from './look-back.js';
import {
  buildPrimitive,
  defaultTileTuning,
  nameOfTuning,
  type PrimitiveProgram,
  type PrimitiveTuning,
  partsOf,
} from './primitive-program.js';

/** Selects keys whose codes, in ascending order, are from `low` to `high`; with `not` all other keys. */
export interface CodeRange {
  readonly low: bigint;
  readonly high: bigint;
  readonly not: boolean;
}

/** Selection criterion: mask bytes that are not 0, a range of codes, or keys that differ from their predecessor. */
export type Selection = { readonly mask: Buffer } | CodeRange | 'heads';

/** One compaction of n keys in device memory. */
export interface CompactWork {
  readonly keys: Buffer;
  /** Fewer than 2^32. */
  readonly n: number;
  readonly choice: Selection;
  /** Receives the selected keys and, with `rest`, the others after them; holds n keys. */
  readonly to: Buffer | Heads;
  readonly rest?: boolean;
}

/** Destination of selected keys and of their positions (u32). */
export interface Heads {
  readonly keys: Buffer;
  readonly places: Buffer;
  /** For the shape 'moved heads': writes keys of `input` instead, at index `positions[i]` (u32) for element i. */
  readonly moved?: { readonly input: Buffer; readonly positions: Buffer };
}

/** Parameters that a compaction is compiled for. */
export interface CompactShape {
  readonly dtype: Dtype;
  readonly by: keyof typeof PROGRAMS;
  readonly tuning?: PrimitiveTuning;
}

const PROGRAMS = {
  mask: { CHOOSE: 0, GIVE: 1 },
  range: { CHOOSE: 1, GIVE: 1 },
  heads: { CHOOSE: 2, GIVE: 2 },
  'moved heads': { CHOOSE: 2, GIVE: 3 },
} as const;
const ANY_RANGE: CodeRange = { low: 1n, high: 0n, not: false };

const definesOf = ({ by }: CompactShape) => PROGRAMS[by];

/** Builds the program of a compaction. @throws UnsupportedError, BuildError */
export function buildCompaction(device: Device, shape: CompactShape): MaybePromise<PrimitiveProgram> {
  const {
    dtype,
    by,
    tuning = defaultTileTuning(device, by.endsWith('heads') ? 'unique' : 'compact', dtype),
  } = shape;
  const kernels = ['compact_part_counts', 'compact_parts', 'compact_once'];
  return buildPrimitive(device, 'compact.cl', kernels, dtype, definesOf(shape), tuning);
}

/**
 * Stream compaction: stores the selected elements contiguously, in input order.
 *
 * Source, idea and fall-back as `PrefixScan`, applied to the counts of selected elements.
 *
 * Complexity: one launch that reads every key once and writes the selected keys once. With `rest`, or if groups
 * cannot wait for each other, two launches, and keys are read twice.
 */
export class Compaction {
  readonly device: Device;
  readonly shape: CompactShape;
  readonly #built: PrimitiveProgram;
  readonly #once: boolean;

  private constructor(device: Device, built: PrimitiveProgram, shape: CompactShape, once: boolean) {
    this.device = device;
    this.#built = built;
    this.shape = shape;
    this.#once = once;
  }

  static readonly #created = new Memo<Compaction>();

  /** @throws UnsupportedError, BuildError */
  static create(device: Device, shape: CompactShape): MaybePromise<Compaction> {
    const { dtype, by, tuning } = shape;
    const name = `${dtype} ${by} ${tuning ? nameOfTuning(tuning) : ''}`;
    return Compaction.#created.get(device, name, () => Compaction.#create(device, shape));
  }

  static async #create(device: Device, shape: CompactShape): Promise<Compaction> {
    const built = await buildCompaction(device, shape);
    const name = JSON.stringify(['compact', shape.dtype, definesOf(shape), built.tuning]);
    const test = () => selfTest(new Compaction(device, built, shape, true));
    const once = built.tuning.lookBack > 0 && (await passesSelfTest(device, name, test));
    return new Compaction(device, built, shape, once);
  }

  /** True if keys are read once (without `rest`). */
  get once(): boolean {
    return this.#once;
  }

  get tileKeys(): number {
    return this.#built.tileKeys;
  }

  /**
   * Enqueues a compaction.
   *
   * @returns a function that returns the number of selected keys; call it after the next wait. It throws
   * MismatchError for more keys than the input has
   */
  enqueue({ keys, n, choice, to, rest = false }: CompactWork): () => number {
    if (n === 0) return () => 0;
    const { device } = this;
    const { queue, pool } = device;
    const { program, tuning, tileKeys } = this.#built;
    const local = tuning.groupSize;
    const mask = typeof choice === 'object' && 'mask' in choice ? choice.mask : keys;
    const { low, high, not } = typeof choice === 'object' && 'low' in choice ? choice : ANY_RANGE;
    const codec = codecArgument(keyCodec(this.shape.dtype));
    const chooses: KernelArgument[] = [keys, mask, u64(n), u64(low), u64(high), u32(not ? 1 : 0), codec];
    const { input = keys, positions = keys } = ('places' in to && to.moved) || {};
    const places: KernelArgument[] =
      'places' in to ? [to.keys, input, positions, to.places] : [to, keys, keys, to];
    const slot = StatusWords.uninitialized(device, 1);
    const status: KernelArgument[] = [slot.buffer, u32(slot.firstWord)];
    if (this.#once && !rest) {
      const tiles = Math.ceil(n / tileKeys);
      const { control, launch } = LookBack.of(device).next(tiles, 4);
      const args = [...chooses, ...places, control, u32(launch), ...status];
      queue.run(program.kernel('compact_once'), args, { global: tiles * local, local });
    } else {
      const { parts, tiles } = partsOf(device, n, this.#built);
      const launch = { global: parts * local, local };
      pool.withBuffers([parts * 4], (counts) => {
        queue.run(program.kernel('compact_part_counts'), [...chooses, counts, u32(tiles)], launch);
        const args = [...chooses, ...places, counts, u32(tiles), u32(rest ? 1 : 0), ...status];
        queue.run(program.kernel('compact_parts'), args, launch);
      });
    }
    return () => {
      const count = slot.word();
      // A larger count would make callers access memory out of bounds.
      if (count > n)
        throw new MismatchError(`cannot use the result: the device selected ${count} of ${n} keys`);
      return count;
    };
  }
}

/** Checks that a compaction of several tiles by look-back gives the same result as one in parts. */
async function selfTest(compaction: Compaction): Promise<boolean> {
  const { device, tileKeys, shape } = compaction;
  const { queue, pool } = device;
  const { bytes, width } = dtypeInfo(shape.dtype);
  const n = 40 * tileKeys + 3;
  const keys = Uint8Array.from({ length: n * bytes }, (_, i) => ((i * 0x9e3779b1) >>> 23) & 0x81);
  const backwards = Uint32Array.from({ length: n }, (_, i) => n - 1 - i);
  const givesPlaces = definesOf(shape).GIVE > 1;
  const results = [false, true].map(() => ({ keys: new Uint8Array(n * bytes), places: new Uint32Array(n) }));
  const counts: (() => number)[] = [];
  pool.withBuffers([n * bytes, n * 4, n * bytes, n * 4], (input, positions, output, places) => {
    queue.write(input, keys);
    queue.write(positions, backwards);
    const by: Record<CompactShape['by'], Selection> = {
      mask: { mask: input },
      range: { low: 0n, high: 1n << BigInt(width - 1), not: false },
      heads: 'heads',
      'moved heads': 'heads',
    };
    const moved = shape.by === 'moved heads' && { moved: { input, positions } };
    const to = givesPlaces ? { keys: output, places, ...moved } : output;
    for (const [i, rest] of [false, true].entries()) {
      counts.push(compaction.enqueue({ keys: input, n, choice: by[shape.by], to, rest }));
      queue.read(output, results[i]?.keys as Uint8Array);
      if (givesPlaces) queue.read(places, results[i]?.places as Uint32Array);
    }
  });
  await queue.finish();
  const [once = 0, parts] = counts.map((count) => count());
  const [a, b] = results.map(({ keys, places }) => [
    bytesOf(keys, 0, once * bytes),
    bytesOf(places, 0, givesPlaces ? once * 4 : 0),
  ]) as [Uint8Array[], Uint8Array[]];
  return once === parts && a.every((part, i) => globalThis.Buffer.compare(part, b[i] as Uint8Array) === 0);
}
