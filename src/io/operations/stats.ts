/** Statistics of the keys of files, from one pass over the keys and one over the sorted keys. */
import { keyWords } from '../../keys/array.js';
import { type DtypeInfo, dtypeInfo } from '../../keys/dtype.js';
import { keyValue } from '../../keys/value.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { DOUBLE_SCALE, nearestDouble, nearestInteger, type Ratio, scaledDouble } from '../../util/ratio.js';
import { ExactSum } from '../checks/exact-sum.js';
import { type FileProfile, ProfileScan } from '../checks/file-profile.js';
import { type CountingWriter, distinctWriter } from '../file-sort/distinct-output.js';
import type { FileContext, LargeOptions, LargeReport } from '../file-sort/file-job.js';
import { sortKeys } from '../file-sort/sort-file.js';
import { withInputs } from '../formats/inputs.js';
import type { KeyReader, KeyWriter } from '../formats/key-file.js';
import { inputOptionsOf } from '../formats/keys.js';
import { keyOrdering } from '../records/record-ordering.js';
import type { Output } from '../streams/output.js';
import type { PrimitiveJob } from './primitive-files.js';

/** Inputs, quantiles, and the memory for the sort. */
export interface StatsJob extends PrimitiveJob, Pick<LargeOptions, 'memory' | 'tmp'> {
  /** Quantiles to compute, each from 0 to 1. */
  readonly quantiles: readonly Ratio[];
}

/** Statistics of keys. All but `n`, `nans`, `distinct` and the order are of the numbers only, without NaNs. */
export interface FileStats extends FileProfile, Pick<KeyReader, 'name' | 'format' | 'dtype'> {
  /** Computed exactly, and rounded once as `exactNumber` does. */
  readonly sum: number | bigint;
  /** The exact sum divided by the count, rounded once as `exactNumber` does; undefined without numbers. */
  readonly mean: number | bigint | undefined;
  /** In the order of the job; each is undefined without numbers. */
  readonly quantiles: readonly (number | bigint | undefined)[];
  /** Number of distinct keys: all NaNs are equal, and so are −0 and +0. */
  readonly distinct: number;
  /** Report of a partitioned sort; absent for a sort as a whole. */
  readonly external: LargeReport | undefined;
}

/** The destination of sorted keys that are not written. */
const NOWHERE: Output = {
  name: 'statistics',
  reserve: async () => undefined,
  write: async () => undefined,
  commit: async () => undefined,
  discard: () => undefined,
};

/**
 * Computes statistics of the keys of files. The keys are sorted as `sortFile` does, through temporary files if they do
 * not fit into memory. A matrix is treated as one array.
 *
 * Quantile `q` is at place `q * (count - 1)` of the sorted numbers. Between two numbers it is interpolated linearly, as
 * NumPy does by default, but exactly, and rounded once as `exactNumber` does.
 *
 * @param sorter sorts the keys
 * @param job inputs, quantiles and memory limit
 * @param context streams, signal and callbacks
 * @throws the errors of `sortFile`
 */
export function statsOfFiles(sorter: Sorter, job: StatsJob, context: FileContext): Promise<FileStats> {
  return withInputs(job.in, context, async (open) => {
    const reader = await open(inputOptionsOf(job));
    const { name, format, dtype } = reader;
    const info = dtypeInfo(dtype);
    const scan = new ProfileScan(dtype);
    const sum = new ExactSum(info);
    async function* scannedPieces(): AsyncGenerator<Uint8Array> {
      for await (const piece of reader.pieces()) {
        scan.add(piece);
        sum.add(keyWords(piece, info));
        yield piece;
      }
    }
    const numbers = (): number => scan.profile.n - scan.profile.nans;
    const sorted = new SortedKeys(
      info,
      () => job.quantiles.map((q) => placeOf(q, numbers())),
      context.signal,
    );
    const report = await sortKeys({
      sorter,
      // Read once and in order, like a pipe.
      reader: {
        ...{ name, format, dtype, n: undefined, shape: undefined, plainAt: undefined },
        ...{ pieces: scannedPieces, close: () => reader.close() },
      },
      target: {
        ...{ format: 'raw', named: undefined, plain: false },
        bytes: () => undefined,
        create: async () => sorted,
      },
      job: { in: job.in, out: '-', memory: job.memory, tmp: job.tmp },
      context,
      reportBase: { descending: false, argsort: false, formats: [format, 'raw'] },
      output: NOWHERE,
    });
    const { profile } = scan;
    const count = BigInt(numbers());
    return {
      ...{ name, format, dtype, ...profile },
      sum: exactNumber(sum.value, info),
      mean: count === 0n ? undefined : exactNumber(divided(sum.value, count), info),
      quantiles: job.quantiles.map((q) => (count === 0n ? undefined : sorted.at(placeOf(q, Number(count))))),
      distinct: sorted.distinct,
      external: report.external,
    };
  });
}

const divided = (value: Ratio | number, by: bigint): Ratio | number =>
  typeof value === 'number' ? value : { ...value, denominator: value.denominator * by };

/**
 * Returns the number for an exact result.
 *
 * It is the nearest double; of two, the even one. For integer keys, beyond 2^53, where doubles do not hold all integers,
 * it is the nearest integer.
 */
export function exactNumber(value: Ratio | number, { kind }: Pick<DtypeInfo, 'kind'>): number | bigint {
  if (typeof value === 'number') return value;
  if (kind !== 'float') {
    const integer = nearestInteger(value);
    if (!Number.isSafeInteger(Number(integer))) return integer;
  }
  return nearestDouble(value);
}

/** A place between two ranks: `low + weight`. */
interface Place {
  readonly low: number;
  readonly weight: Ratio;
}

function placeOf({ numerator, denominator }: Ratio, count: number): Place {
  const product = numerator * BigInt(Math.max(0, count - 1));
  return { low: Number(product / denominator), weight: { numerator: product % denominator, denominator } };
}

/** Receives the sorted keys, NaNs last. Keeps those next to some places, and counts distinct ones. */
class SortedKeys implements KeyWriter {
  readonly #info: DtypeInfo;
  readonly #places: () => readonly Place[];
  readonly #distinct: CountingWriter;
  /** Ranks that are still to come, in order. */
  #wanted: number[] | undefined;
  readonly #found = new Map<number, number | bigint>();
  #n = 0;

  /** @param places called when all keys were read, which is before the first one is written */
  constructor(info: DtypeInfo, places: () => readonly Place[], signal: AbortSignal) {
    this.#info = info;
    this.#places = places;
    const order = keyOrdering({ dtype: info.name, nan: 'last', bits: [0, info.width] });
    const uncounted = { write: async () => undefined, end: async () => undefined };
    this.#distinct = distinctWriter({ order }, { to: uncounted }, signal);
  }

  /** Number of distinct keys. */
  get distinct(): number {
    return this.#distinct.n;
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#wanted ??= this.#places()
      .flatMap(({ low }) => [low, low + 1])
      .sort((a, b) => a - b);
    const { bytes } = this.#info;
    const end = this.#n + piece.length / bytes;
    for (let rank = this.#wanted[0]; rank !== undefined && rank < end; rank = this.#wanted[0]) {
      const at = (rank - this.#n) * bytes;
      const [bits = 0] = keyWords(piece.subarray(at, at + bytes), this.#info);
      this.#found.set(rank, keyValue(BigInt(bits), this.#info));
      this.#wanted.shift();
    }
    this.#n = end;
    await this.#distinct.write(piece);
  }

  async end(): Promise<void> {
    await this.#distinct.end();
  }

  /** Returns the number at a place, interpolated between two keys. */
  at({ low, weight }: Place): number | bigint {
    const from = this.#found.get(low) as number | bigint;
    if (weight.numerator === 0n) return from;
    const to = this.#found.get(low + 1) as number | bigint;
    if (from === to) return from;
    if (!isFiniteKey(from) || !isFiniteKey(to)) return Number(from) + Number(to); // infinite, or NaN between −∞ and ∞
    const isFloat = this.#info.kind === 'float';
    const integer = (key: number | bigint): bigint => (isFloat ? scaledDouble(Number(key)) : BigInt(key));
    const { numerator, denominator } = weight;
    return exactNumber(
      {
        numerator: integer(from) * (denominator - numerator) + integer(to) * numerator,
        denominator: denominator * (isFloat ? 2n ** BigInt(DOUBLE_SCALE) : 1n),
      },
      this.#info,
    );
  }
}

const isFiniteKey = (key: number | bigint): boolean => Number.isFinite(Number(key));
