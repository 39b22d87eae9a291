import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type KernelArgument, u32, u64 } from '../device/queue/queue.js';
import { StatusWords } from '../device/status-words.js';
import { bytesOf } from '../keys/array.js';
import { dtypeInfo } from '../keys/dtype.js';
import { encode, keyCodec } from '../keys/key-codec.js';
import { MismatchError } from '../util/errors.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { Random } from '../util/random.js';
import { keysOfPicks, LookBack, LookBackPrimitive, type LookBackShape, TEST_TILES } from './look-back.js';
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
  /** Only for a shape with `inParts`. */
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
export interface CompactShape extends LookBackShape {
  readonly by: keyof typeof PROGRAMS;
}

const PROGRAMS = {
  mask: { CHOOSE: 0, GIVE: 1 },
  range: { CHOOSE: 1, GIVE: 1 },
  heads: { CHOOSE: 2, GIVE: 2 },
  'moved heads': { CHOOSE: 2, GIVE: 3 },
} as const;
const ANY_RANGE: CodeRange = { low: 1n, high: 0n, not: false };

const definesOf = ({ by }: CompactShape) => PROGRAMS[by];

const KERNELS = { once: ['compact_once'], parts: ['compact_part_counts', 'compact_parts'] };

const tuningOf = (device: Device, { dtype, by, tuning }: CompactShape): PrimitiveTuning =>
  tuning ?? defaultTileTuning(device, by.endsWith('heads') ? 'unique' : 'compact', dtype);

/** Builds the program of a compaction: one of its two forms. @throws UnsupportedError, BuildError */
export function buildCompaction(device: Device, shape: CompactShape): MaybePromise<PrimitiveProgram> {
  const tuning = tuningOf(device, shape);
  const once = isOnce(shape, tuning);
  const defines = { ...definesOf(shape), ONCE: once ? 1 : 0 };
  return buildPrimitive(device, 'compact.cl', KERNELS[once ? 'once' : 'parts'], shape.dtype, defines, tuning);
}

const isOnce = ({ inParts = false }: CompactShape, { lookBack }: PrimitiveTuning): boolean =>
  !inParts && lookBack > 0;

/**
 * Stream compaction: stores the selected elements contiguously, in input order.
 *
 * Source, idea and fall-back as `PrefixScan`, applied to the counts of selected elements.
 *
 * Complexity: one launch that reads every key once and writes the selected keys once. With `rest`, or if groups
 * cannot wait for each other, two launches, and keys are read twice.
 */
export class Compaction extends LookBackPrimitive<CompactShape> {
  static readonly #created = new Memo<Compaction>();

  /** @throws UnsupportedError, BuildError */
  static create(device: Device, shape: CompactShape): MaybePromise<Compaction> {
    const { dtype, by, tuning, inParts = false } = shape;
    const name = `${dtype} ${by} ${inParts} ${tuning ? nameOfTuning(tuning) : ''}`;
    const create = async (form: CompactShape): Promise<Compaction> => {
      const built = await buildCompaction(device, form);
      return new Compaction(device, built, form, isOnce(form, built.tuning));
    };
    const nameOf = ({ built }: Compaction) => ['compact', dtype, definesOf(shape), built.tuning];
    return Compaction.#created.get(device, name, () =>
      LookBackPrimitive.createTested(shape, create, nameOf, selfTest),
    );
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
    const { program, tuning, tileKeys } = this.built;
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
    if (this.once) {
      const tiles = Math.ceil(n / tileKeys);
      const { control, launch } = LookBack.of(device).next(tiles, 4);
      const args = [...chooses, ...places, control, u32(launch), ...status];
      queue.run(program.kernel('compact_once'), args, { global: tiles * local, local });
    } else {
      const { parts, tiles } = partsOf(device, n, this.built);
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

/** Checks a compaction of several tiles by look-back against a loop on the host. */
async function selfTest(compaction: Compaction): Promise<boolean> {
  const { device, tileKeys, shape } = compaction;
  const { dtype, by } = shape;
  const { queue, pool } = device;
  const { bytes, width } = dtypeInfo(dtype);
  const n = TEST_TILES * tileKeys + 3;
  const top = 1n << BigInt(width - 1);
  const range: CodeRange = { low: 0n, high: top, not: false };
  const four = [0n, 1n, top, top | 1n];
  const isInRange = four.map((bits) => encode(keyCodec(dtype), bits) <= range.high);
  const picks = new Random(n).bytes(n).map((byte) => byte & 3);
  const keys = keysOfPicks(dtype, picks, four);
  const isChosen = (i: number): boolean => {
    const pick = picks[i] as number;
    if (by === 'mask') return pick !== 0;
    return by === 'range' ? isInRange[pick] === true : i === 0 || pick !== picks[i - 1];
  };
  const chosen: number[] = [];
  for (let i = 0; i < n; i++) if (isChosen(i)) chosen.push(i);
  const backwards = Uint32Array.from(picks, (_, i) => n - 1 - i);
  const moves = by === 'moved heads';
  const expected = keysOfPicks(
    dtype,
    Uint8Array.from(chosen, (i) => picks[moves ? n - 1 - i : i] as number),
    four,
  );
  const made = new Uint8Array(expected.byteLength);
  const places = new Uint32Array(chosen.length);
  const givesPlaces = definesOf(shape).GIVE > 1;
  let count = (): number => 0;
  const sizes = [n * bytes, n, n * 4, n * bytes, n * 4];
  pool.withBuffers(sizes, (input, mask, positions, output, beside) => {
    queue.write(input, keys);
    queue.write(mask, picks);
    queue.write(positions, backwards);
    const choice: Selection = by === 'mask' ? { mask } : by === 'range' ? range : 'heads';
    const moved = moves && { moved: { input, positions } };
    const to = givesPlaces ? { keys: output, places: beside, ...moved } : output;
    count = compaction.enqueue({ keys: input, n, choice, to });
    queue.read(output, made);
    if (givesPlaces) queue.read(beside, places);
  });
  await queue.finish();
  return (
    count() === chosen.length &&
    globalThis.Buffer.compare(made, bytesOf(expected)) === 0 &&
    (!givesPlaces || chosen.every((place, i) => places[i] === place))
  );
}
