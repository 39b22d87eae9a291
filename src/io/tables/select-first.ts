import type { Sorter } from '../../sort/api/sorter.js';
import { inSlices, runYielding, type Steps } from '../../sort/host/steps.js';
import type { SortOptions } from '../../sort/model/options.js';
import { selectCodes } from '../../sort/operations/strings/byte-strings.js';
import { argsortCodes, type Codes, WORD_BYTES, wordSpan } from '../../sort/operations/strings/code-order.js';

/**
 * Returns the positions of the first `k` codes in order, without sorting all. It selects the k smallest words, and
 * sorts only codes whose word is not above the largest of them.
 *
 * @throws the errors of `Sorter.topK`
 */
export async function selectFirst(
  sorter: Sorter,
  codes: Codes,
  k: number,
  options: Omit<SortOptions, 'dtype' | 'descending' | 'nan' | 'bitRange' | 'device'>,
): Promise<Uint32Array> {
  if (k >= codes.n) return argsortCodes(sorter, codes, options);
  const { signal } = options;
  const span = wordSpan(codes.shared ?? 0, codes.bytes);
  const words = new BigUint64Array(codes.n);
  await runYielding(codes.fill(span, words), signal);
  const { keys, indices } = await sorter.topK(words, k, { ...options, largest: false });
  const last = keys[k - 1];
  if (last === undefined || codes.bytes - span.begin <= WORD_BYTES) return indices;
  const candidates = await runYielding(positionsUpTo(words, last), signal);
  const { onReport: _, ...rest } = options; // the report covers the selection among all codes
  const order = await argsortCodes(sorter, selectCodes(codes, candidates), rest);
  return order.subarray(0, k).map((i) => candidates[i] as number);
}

/** Returns the positions of the words that are at most `maximum`. */
function* positionsUpTo(words: BigUint64Array, maximum: bigint): Steps<Uint32Array> {
  const halves = new Uint32Array(words.buffer);
  const [low, high] = [Number(maximum & 0xffff_ffffn), Number(maximum >> 32n)];
  const isIn = (i: number): boolean => {
    const top = halves[2 * i + 1] as number;
    return top < high || (top === high && (halves[2 * i] as number) <= low);
  };
  let n = 0;
  yield* inSlices(words.length, (start, end) => {
    for (let i = start; i < end; i++) if (isIn(i)) n++;
  });
  const found = new Uint32Array(n);
  let at = 0;
  yield* inSlices(words.length, (start, end) => {
    for (let i = start; i < end; i++) if (isIn(i)) found[at++] = i;
  });
  return found;
}
