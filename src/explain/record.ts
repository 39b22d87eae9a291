import type { AlgorithmFactory, Stage } from '../algorithms/algorithm.js';
import type { Tuning } from '../algorithms/parameters.js';
import type { Device } from '../device/device.js';
import type { DtypeInfo } from '../keys/dtype.js';
import { decode, encode, type KeyCodec } from '../keys/key-codec.js';
import { UnsupportedError } from '../util/errors.js';
import { fromBytes, keyText, toBytes } from './keys.js';

/** The keys to explain, with their dtype and bit window. */
export interface Subject {
  readonly codec: KeyCodec;
  readonly info: DtypeInfo;
  /** Bit patterns of the keys. */
  readonly patterns: readonly bigint[];
  readonly bits: readonly [begin: number, end: number];
}

export interface RecordedStage {
  readonly kernel: string;
  readonly pass: number;
  /** Contents of the buffers that the kernel wrote, by name. */
  readonly data: Readonly<Record<string, Uint8Array>>;
  /** Seconds by the kernel's event; null without profiling times. */
  readonly seconds: number | null;
}

/** An argsort with everything its kernels wrote. */
export interface Recording {
  readonly stages: readonly RecordedStage[];
  readonly passes: number;
  words(pass: number, kernel: string, buffer: string): number[];
  /** Returns the seconds of one kernel, or of all kernels of a pass; null without profiling times. */
  seconds(pass: number, kernel?: string): number | null;
  /** Returns the codes of the keys after a pass, and the initial position of each. */
  after(pass: number, kernel: string): { codes: bigint[]; ids: number[] };
}

/**
 * Runs an algorithm and reads each buffer right after the kernel that wrote it.
 *
 * @throws UnsupportedError when the device does not support the algorithm for these keys
 */
export async function record(
  device: Device,
  factory: AlgorithmFactory,
  { codec, info, patterns, bits }: Subject,
  tuning: Tuning,
): Promise<Recording> {
  const n = patterns.length;
  const { queue } = device;
  const shape = { keyBits: info.width, valueBytes: 4, tuning };
  const available = factory.available(device, shape);
  if (available !== true) throw new UnsupportedError(`cannot run ${factory.name}: ${available}`);
  const algorithm = await factory.create(device, shape);
  const supported = algorithm.supports({ dtype: info.name, n, bits, valueBytes: 4 });
  if (supported !== true) throw new UnsupportedError(`cannot run ${factory.name}: ${supported}`);

  const records: Omit<RecordedStage, 'seconds'>[] = [];
  let times: (number | null)[] = [];
  const sizes = new Map<unknown, number>();
  const made = (bytes: number) => {
    const buffer = device.buffer(bytes);
    sizes.set(buffer, bytes);
    return buffer;
  };
  const input = made(n * info.bytes);
  const output = made(n * info.bytes);
  const outputValues = made(n * 4);
  const scratch = Object.fromEntries(
    Object.entries(algorithm.scratch(n, { inPlace: false, bits })).map(([name, bytes]) => [
      name,
      made(bytes),
    ]),
  );
  try {
    queue.write(input, toBytes(patterns, info.bytes));
    const onStage = ({ kernel, pass = 0, buffers }: Stage) => {
      const data: Record<string, Uint8Array> = {};
      for (const [name, buffer] of Object.entries(buffers)) {
        const bytes = new Uint8Array(sizes.get(buffer) ?? buffer.bytes);
        queue.read(buffer, bytes);
        data[name] = bytes;
      }
      records.push({ kernel, pass, data });
    };
    queue.startProfile();
    algorithm.enqueue(queue, {
      n,
      input,
      output,
      outputValues,
      indices: true,
      codec,
      bits,
      scratch,
      onStage,
    });
    await queue.finish();
    const kernels = new Set(records.map(({ kernel }) => kernel));
    times = queue
      .endProfile()
      .filter(({ stage }) => kernels.has(stage))
      .map(({ seconds }) => seconds);
  } finally {
    for (const buffer of [input, output, outputValues, ...Object.values(scratch)]) buffer.release();
  }

  const stages = records.map((stage, i): RecordedStage => ({ ...stage, seconds: times[i] ?? null }));
  const passes = stages.reduce((last, { pass }) => Math.max(last, pass + 1), 0);
  const find = (pass: number, kernel: string, buffer: string): Uint8Array => {
    const stage = stages.find((one) => one.pass === pass && one.kernel === kernel);
    const data = stage?.data[buffer];
    if (!data) throw new Error(`cannot show ${buffer}: kernel ${kernel} of pass ${pass} did not write it`);
    return data;
  };
  const words = (pass: number, kernel: string, buffer: string) => [
    ...new Uint32Array(find(pass, kernel, buffer).buffer),
  ];
  return {
    stages,
    passes,
    words,
    seconds(pass, kernel) {
      const own = stages.filter((one) => one.pass === pass && (kernel ?? one.kernel) === one.kernel);
      return own.reduce<number | null>(
        (sum, { seconds }) => (sum === null || seconds === null ? null : sum + seconds),
        0,
      );
    },
    after(pass, kernel) {
      const keys = fromBytes(find(pass, kernel, 'keys'), info.bytes);
      // The last pass writes keys; all others write codes.
      const codes = pass === passes - 1 ? keys.map((key) => encode(codec, key)) : keys;
      return { codes, ids: words(pass, kernel, 'values') };
    },
  };
}

/** Decodes codes and formats the keys. */
export const texts = (codes: readonly bigint[], { codec, info }: Subject): string[] =>
  codes.map((code) => keyText(decode(codec, code), info.name));

/** Returns the bits of a code in the window. */
export const windowOf = (code: bigint, [begin, end]: readonly [number, number]): bigint =>
  (code >> BigInt(begin)) & ((1n << BigInt(end - begin)) - 1n);

/** Formats the bits in the window; '-' for an empty window. */
export const binary = (code: bigint, bits: readonly [number, number]): string =>
  bits[0] === bits[1]
    ? '-'
    : windowOf(code, bits)
        .toString(2)
        .padStart(bits[1] - bits[0], '0');

/** Returns the new position of each element, indexed by its old position. */
export function newIndexOf(before: readonly number[], after: readonly number[]): number[] {
  const places = new Map(after.map((id, place) => [id, place]));
  return before.map((id) => places.get(id) ?? -1);
}

export const startOf = (subject: Subject): { codes: bigint[]; ids: number[] } => ({
  codes: subject.patterns.map((pattern) => encode(subject.codec, pattern)),
  ids: subject.patterns.map((_, i) => i),
});

/** Returns the elements moved to their new positions. */
export const afterMove = <T>(elements: readonly T[], places: readonly number[]): T[] => {
  const after = new Array<T>(elements.length);
  elements.forEach((element, i) => {
    after[places[i] ?? 0] = element;
  });
  return after;
};
