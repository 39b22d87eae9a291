/**
 * Sorts arrays that do not fit a device in chunks, which are then merged.
 *
 * Runs (sorted chunks) are cut by rank: the part of the result from rank r to rank r + chunk is a slice of
 * each run, found by binary search. The slices of a part, concatenated, have at most `chunk` keys, and the
 * device sorts them. So the merge needs no kernel, and each key makes one more round trip to the device,
 * however many runs there are. Slices are in the order of their runs, and equal keys are taken from earlier
 * runs first. So the result is as stable as the sort of a chunk.
 */
import { byteRange, copyBytes, emptyLike, type KeyWords, newBytes } from '../../keys/array.js';
import { encode, type KeyCodec, keyCodec } from '../../keys/key-codec.js';
import { type ClsortError, DeviceLostError, MemoryError, UnsupportedError } from '../../util/errors.js';
import { verifyOnHost } from '../backend/host-backend.js';
import { MAX_INDICES } from '../model/array-assertions.js';
import { type Values, wordsOf } from '../model/column.js';
import type { HostJob } from '../model/job.js';
import { throwIfAborted } from '../model/options.js';
import type { Outcome } from '../model/report.js';
import { MIN_CHUNK_KEYS } from './policy.js';

/** The sorts of a job that may not fit the device. */
export interface FittingSorts {
  sortWhole(): Promise<Outcome>;
  /** Sorts a chunk, or a part of the merged chunks. */
  sortPiece(piece: HostJob): Promise<Outcome>;
  /** Releases memory after a memory error, before the next try. */
  beforeRetry(warning: MemoryError): Promise<void>;
}

/**
 * Sorts as a whole, or in chunks that are halved after each memory error.
 *
 * @param limit most keys that the device can sort at once; infinite for the host engine
 */
export async function sortFitting(job: HostJob, limit: number, sorts: FittingSorts): Promise<Outcome> {
  if (job.segments) return sorts.sortWhole(); // chunks would cut segments
  const { n } = job.keys;
  const onDevice = Number.isFinite(limit);
  const longest = onDevice && job.widePositions ? MAX_INDICES - 1 : limit;
  let chunk = Math.min(job.settings.tuning.chunk ?? limit, limit, longest);
  for (;;) {
    try {
      return await (chunk >= n ? sorts.sortWhole() : sortInChunks(job, chunk, sorts.sortPiece));
    } catch (error) {
      chunk = Math.ceil(Math.min(chunk, n) / 2);
      if (!(error instanceof MemoryError) || chunk < MIN_CHUNK_KEYS) throw error;
      const message = `${error.message}; continuing with chunks of ${chunk} keys`;
      await sorts.beforeRetry(new MemoryError(message, { cause: error }));
    }
  }
}

/**
 * Returns the error of a call that ran out of memory. A device that is out of resources (-5) even for a few keys does not
 * lack memory: it is lost.
 *
 * @param n keys of the largest sort of the call
 */
export function lostIfFewKeys(error: MemoryError, n: number): ClsortError {
  if (n === 0 || Math.ceil(n / 2) >= MIN_CHUNK_KEYS || error.details.status !== -5) return error;
  const message = `cannot use the device: it fails even for few keys (${error.message})`;
  return new DeviceLostError(message, { cause: error });
}

/**
 * Sorts a job with `sortPiece`, which can sort at most `chunk` keys at a time.
 *
 * Allocates host memory for another copy of keys and values, and for a chunk of them.
 *
 * @returns the outcome, with the stages of all pieces
 * @throws MismatchError when the merged result fails its verification
 * @throws AbortedError when the signal is aborted
 */
async function sortInChunks(
  job: HostJob,
  chunk: number,
  sortPiece: (piece: HostJob) => Promise<Outcome>,
): Promise<Outcome> {
  const { keys, settings } = job;
  const outcomes: Outcome[] = [];
  const chunks = Math.ceil(keys.n / chunk);
  // Verifying each chunk would not verify the merged result.
  const { onProgress: _, onReport, ...shared } = { ...settings, verify: false };
  const own = { ...shared, ...(onReport && { onReport: () => undefined }) };
  await sortAndMerge(job, chunk, async (part) => {
    throwIfAborted(settings.signal);
    outcomes.push(await sortPiece({ ...part, settings: own }));
    const done = Math.floor((keys.n * outcomes.length) / (2 * chunks)); // each chunk is sorted once and merged once
    settings.onProgress?.({ phase: 'sort', done, total: keys.n });
  });
  const [first] = outcomes;
  if (!first) throw new UnsupportedError('cannot sort in chunks: there are no keys');
  const verified = settings.verify ? await verifyOnHost(job, 'the sort in chunks') : undefined;
  const stages = outcomes.flatMap((outcome) => outcome.stages);
  return { plan: first.plan, stages, chunks, ...(verified && { verified }) };
}

/** Sorts chunks, then the parts of the result. */
export async function sortAndMerge(
  job: HostJob,
  chunk: number,
  sortOne: (job: HostJob) => Promise<void>,
): Promise<void> {
  const { keys, settings, sorted, moved } = job;
  const { n, info } = keys;
  const values = moved && (job.values ?? positionsOf(job));
  const words = wordsOf(keys);
  const runKeys = emptyLike(words, n);
  const runValues = values && newBytes(n * values.bytes);
  const starts = Array.from({ length: Math.ceil(n / chunk) }, (_, i) => i * chunk);

  for (const start of starts) {
    const end = Math.min(start + chunk, n);
    await sortOne({
      keys: { ...keys, n: end - start, place: words.subarray(start, end) },
      settings,
      sorted: runKeys.subarray(start, end),
      ...(values && { values: sliceOf(values, start, end) }),
      ...(values && runValues && { moved: elements(runValues, values.bytes, start, end) }),
    });
  }

  const runs = starts.map((start) => runKeys.subarray(start, start + chunk));
  const order = new WindowOrder(keyCodec(keys.dtype, settings), settings.bits ?? [0, info.width]);
  const partKeys = emptyLike(words, Math.min(chunk, n));
  const partValues = values && newBytes(partKeys.length * values.bytes);
  let from = starts.map(() => 0);
  for (const start of starts) {
    const end = Math.min(start + chunk, n);
    const to = cutRuns(runs, end, order);
    let filled = 0;
    runs.forEach((run, r) => {
      const [first, last] = [from[r] ?? 0, to[r] ?? 0];
      setWords(partKeys, run.subarray(first, last), filled);
      if (values && runValues && partValues) {
        const base = starts[r] ?? 0;
        const slice = elements(runValues, values.bytes, base + first, base + last);
        copyBytes(slice, byteRange(partValues, filled * values.bytes));
      }
      filled += last - first;
    });
    await sortOne({
      keys: { ...keys, n: filled, place: partKeys.subarray(0, filled) },
      settings,
      ...(sorted && { sorted: elements(sorted, info.bytes, start, end) }),
      ...(values &&
        moved &&
        partValues && {
          values: { place: elements(partValues, values.bytes, 0, filled), bytes: values.bytes },
          moved: elements(moved, values.bytes, start, end),
        }),
    });
    from = to;
  }
}

/** Compares keys by the sorted window of their code bits. */
class WindowOrder {
  readonly #codec: KeyCodec;
  readonly #begin: bigint;
  readonly #mask: bigint;

  constructor(codec: KeyCodec, [begin, end]: readonly [begin: number, end: number]) {
    this.#codec = codec;
    this.#begin = BigInt(begin);
    this.#mask = (1n << BigInt(end - begin)) - 1n;
  }

  /** Above every digit. */
  get limit(): bigint {
    return this.#mask + 1n;
  }

  digit(key: number | bigint): bigint {
    return (encode(this.#codec, BigInt(key)) >> this.#begin) & this.#mask;
  }

  /** Returns the number of keys of a sorted run below `digit`. */
  countBelow(run: KeyWords, digit: bigint): number {
    let [low, high] = [0, run.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.digit(run[middle] ?? 0) < digit) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * Returns for each sorted run how many of its keys are among the first `rank` of all. Equal keys are taken
 * from earlier runs first.
 */
export function cutRuns(
  runs: readonly KeyWords[],
  rank: number,
  order: Pick<WindowOrder, 'limit' | 'countBelow'>,
): number[] {
  const below = (digit: bigint) => runs.map((run) => order.countBelow(run, digit));
  const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  // The largest digit with at most `rank` keys below it.
  let [low, high] = [0n, order.limit];
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (total(below(middle)) <= rank) low = middle;
    else high = middle - 1n;
  }
  const cuts = below(low);
  if (low === order.limit) return cuts;
  const ends = below(low + 1n);
  let left = rank - total(cuts);
  return cuts.map((cut, r) => {
    const equal = Math.min(left, (ends[r] ?? cut) - cut);
    left -= equal;
    return cut + equal;
  });
}

function positionsOf({ keys: { n }, widePositions: isWide }: HostJob): Values<ArrayBufferView> {
  if (isWide) return { place: widePositions(n), bytes: 8 };
  const place = new Uint32Array(n);
  for (let i = 0; i < n; i++) place[i] = i;
  return { place, bytes: 4 };
}

/** Returns the numbers from 0 to n - 1 as u64. */
export function widePositions(n: number): BigUint64Array {
  const positions = new BigUint64Array(n);
  const low = new Uint32Array(positions.buffer); // the low word of a number is the first
  for (let i = 0; i < n; i++) {
    low[2 * i] = i;
    low[2 * i + 1] = i / 2 ** 32;
  }
  return positions;
}

const elements = (view: ArrayBufferView, unit: number, start: number, end: number): ArrayBufferView =>
  byteRange(view, start * unit, end * unit);

const sliceOf = ({ place, bytes }: Values<ArrayBufferView>, start: number, end: number) => ({
  place: elements(place, bytes, start, end),
  bytes,
});

/** One type is used for all four: both arrays have the same type. */
const setWords = (to: KeyWords, from: KeyWords, offset: number): void =>
  (to as Uint32Array).set(from as Uint32Array, offset);
