/** Runs one algorithm on raw bytes, with poisoned outputs and scratch. */
import { type AlgorithmFactory, type Stage, tunedShape } from '../../src/algorithms/algorithm.js';
import type { Tuning } from '../../src/algorithms/parameters.js';
import { shapeForBits } from '../../src/algorithms/tile.js';
import type { Device } from '../../src/device/device.js';
import type { Buffer } from '../../src/device/memory/buffer.js';
import { type Dtype, dtypeInfo } from '../../src/keys/dtype.js';
import { keyCodec, type Order } from '../../src/keys/key-codec.js';
import { CHECKS_READS } from '../checks-reads.js';

export interface SortCase {
  readonly dtype?: Dtype;
  readonly order?: Order;
  readonly bits?: readonly [begin: number, end: number];
  /** Values to move with the keys, with their width in bytes. */
  readonly values?: { readonly bytes: Uint8Array; readonly width: number };
  /** Bytes of the positions to generate. */
  readonly indices?: 4 | 8;
  readonly inPlace?: boolean;
  /**
   * Lengths of the segments, whether positions are relative to the segment, and whether the algorithm receives the
   * longest length.
   */
  readonly segments?: {
    readonly lengths: readonly number[];
    readonly fromSegment?: boolean;
    readonly known?: boolean;
  };
  readonly tuning?: Tuning;
  readonly onStage?: (stage: Stage) => void;
  /** Receives the contents of the scratch after the sort; it was filled with POISON before. */
  readonly onScratch?: (scratch: Readonly<Record<string, Uint32Array>>) => void;
}

export interface SortResult {
  readonly keys: Uint8Array;
  readonly values: Uint8Array;
  /** The status word; 0 if there is none. */
  readonly status: number;
}

export const POISON = 0xa5a5a5a5;

/** Sorts `keys` (elements of a dtype, as bytes) with an algorithm compiled for them. */
export async function sortBytes(
  device: Device,
  factory: AlgorithmFactory,
  keys: Uint8Array,
  {
    dtype = 'u32',
    order = {},
    bits,
    values,
    indices,
    inPlace = false,
    segments: asked,
    tuning,
    onStage,
    onScratch,
  }: SortCase = {},
): Promise<SortResult> {
  const { width, bytes: unit } = dtypeInfo(dtype);
  const n = keys.byteLength / unit;
  const valueBytes = values?.width ?? indices ?? 0;
  const window = bits ?? [0, width];
  const shape = shapeForBits(factory, { keyBits: width, valueBytes, ...(tuning && { tuning }) }, window);
  const tuned = tunedShape(factory, device, shape, n);
  if (typeof tuned === 'string') throw new Error(tuned);
  const algorithm = await factory.create(device, tuned);
  const supported = algorithm.supports({ dtype, n, bits: window, valueBytes });
  if (supported !== true) throw new Error(supported);

  const { queue } = device;
  const made: { release(): void }[] = [];
  const poisoned = (size: number) => {
    const buffer = device.buffer(Math.ceil(size / 4) * 4);
    made.push(buffer);
    // Poison counts as written and would hide reads of uninitialised memory.
    if (!CHECKS_READS) queue.fill(buffer, POISON);
    return buffer;
  };
  const input = poisoned(keys.byteLength);
  const output = inPlace ? input : poisoned(keys.byteLength);
  const outputValues = valueBytes > 0 ? poisoned(n * valueBytes) : undefined;
  const inputValues = values && (inPlace ? outputValues : poisoned(n * valueBytes));
  queue.write(input, keys);
  if (values && inputValues) queue.write(inputValues, values.bytes);
  // The simulator's check treats memory that a fill wrote as unwritten. The offsets of the one segment, which a
  // segmented algorithm would write with a fill, are therefore passed explicitly.
  const lengths = asked?.lengths ?? (factory.bySegments && CHECKS_READS ? [n] : undefined);
  const offsets = lengths && poisoned((lengths.length + 1) * 4);
  const sizes = lengths && {
    count: lengths.length,
    ...(asked?.known && { longest: Math.max(...lengths) }),
  };
  const segments = offsets && sizes && { offsets, ...sizes, fromSegment: asked?.fromSegment ?? false };
  if (offsets) queue.write(offsets, offsetsOf(lengths));
  const asks = algorithm.scratch(n, { inPlace, bits: window, ...(asked && sizes && { segments: sizes }) });
  const scratch = Object.fromEntries(Object.entries(asks).map(([name, size]) => [name, poisoned(size)]));
  const enqueued = algorithm.enqueue(queue, {
    n,
    ...(segments && { segments }),
    input,
    output,
    ...(inputValues && { inputValues }),
    ...(outputValues && { outputValues }),
    indices: indices !== undefined,
    codec: keyCodec(dtype, order),
    bits: window,
    scratch,
    ...(onStage && { onStage }),
  });
  const sorted = new Uint8Array(keys.byteLength);
  const moved = new Uint8Array(n * valueBytes);
  const status = new Uint32Array(1);
  queue.read(output, sorted);
  if (outputValues) queue.read(outputValues, moved);
  if (enqueued.status) queue.read(enqueued.status, status);
  const left = Object.entries(onScratch ? scratch : {}).map(
    ([name, buffer]) => [name, new Uint32Array(buffer.bytes / 4)] as const,
  );
  for (const [name, words] of left) queue.read(scratch[name] as Buffer, words);
  await queue.finish();
  onScratch?.(Object.fromEntries(left));
  for (const buffer of new Set(made)) buffer.release();
  return { keys: sorted, values: moved, status: status[0] ?? 0 };
}

/** The offsets of segments with these lengths: the start of each, then the end of the last one. */
export function offsetsOf(lengths: readonly number[]): Uint32Array {
  const offsets = Uint32Array.of(0, ...lengths);
  for (let i = 1; i < offsets.length; i++) offsets[i] = (offsets[i] as number) + (offsets[i - 1] as number);
  return offsets;
}

/** The bytes of an array. */
export const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Positions in the form that the sorts write. */
export function positionBytes(positions: readonly number[], width: 4 | 8): Uint8Array {
  return bytesOf(width === 4 ? Uint32Array.from(positions) : BigUint64Array.from(positions, BigInt));
}
