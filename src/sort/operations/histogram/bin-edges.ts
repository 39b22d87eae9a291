import { type Dtype, dtypeInfo } from '../../../keys/dtype.js';
import { CodeEdges } from '../../../keys/value.js';
import { UsageError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import { assertWholeNumber } from '../../../util/whole-number.js';
import type { HistogramBins } from '../../model/options.js';

/** Maximum number of bins of a histogram: the kernels count digits of up to 16 bits. */
const MAX_BINS = 65_536;
/**
 * Number of cached edge lists, and the maximum bins of each. Edges of more bins take much memory, and little of the
 * time of the count.
 */
const MAX_CACHED = 32;
const MAX_CACHED_BINS = 4096;

type Edge = number | bigint;

/** Edges of the bins of a histogram. An edge need not be a possible key. */
export class BinEdges {
  readonly edges: readonly Edge[];
  readonly #codes = new Map<Dtype, readonly bigint[] | undefined>();

  private constructor(edges: readonly Edge[]) {
    this.edges = edges;
  }

  /** Cached edges of even bins: computing them takes longer than a small histogram. */
  static readonly #cache = new Map<string, BinEdges>();

  /**
   * Returns the edges of bins, as given or evenly spaced over a range.
   *
   * @throws UsageError when neither or both are given, or the numbers do not define bins
   */
  static of({ bins, range, edges }: HistogramBins): BinEdges {
    if (edges !== undefined) {
      if (bins !== undefined || range !== undefined) {
        throw new UsageError("cannot use 'edges' with 'bins' or 'range': edges define all bins");
      }
      return new BinEdges(assertRising(edges));
    }
    if (bins === undefined || range === undefined) {
      throw new UsageError(
        "cannot count keys: the bins are missing. Pass 'bins' and 'range', or 'edges', or 'bitRange'",
      );
    }
    const [from, to] = isIterable(range) ? range : [];
    if (!isEdge(from) || !isEdge(to)) throw rangeError(range);
    assertWholeNumber('bins', bins, { max: MAX_BINS });
    const name = `${bins} ${typeof from} ${from} ${typeof to} ${to}`;
    const known = BinEdges.#cache.get(name);
    if (known) return known;
    const even = new BinEdges(evenEdges(bins, from, to));
    if (bins > MAX_CACHED_BINS) return even;
    if (BinEdges.#cache.size >= MAX_CACHED) BinEdges.#cache.clear();
    BinEdges.#cache.set(name, even);
    return even;
  }

  get bins(): number {
    return this.edges.length - 1;
  }

  /** Returns the codes of the bins that keys can be in, always as the same array; undefined if there is no such bin. */
  codes(dtype: Dtype): readonly bigint[] | undefined {
    if (!this.#codes.has(dtype)) this.#codes.set(dtype, codesOf(dtype, this.edges));
    return this.#codes.get(dtype);
  }
}

function codesOf(dtype: Dtype, edges: readonly Edge[]): readonly bigint[] | undefined {
  const codes = new CodeEdges(dtypeInfo(dtype));
  const lower = edges.slice(0, -1).flatMap((edge) => codes.from(edge) ?? []);
  const last = codes.upTo(edges.at(-1) ?? 0);
  return lower.length === 0 || last === undefined ? undefined : [...lower, last];
}

function assertRising(edges: Iterable<Edge>): Edge[] {
  const all = isIterable(edges) ? Array.from<Edge>(edges) : [];
  const other = all.find((edge) => !isEdge(edge));
  if (all.length < 2 || other !== undefined) {
    throw invalidArgument('edges', 'at least two numbers or BigInts', other ?? edges);
  }
  assertWholeNumber('bins', all.length - 1, { max: MAX_BINS });
  const isRising = all.every(
    (edge, i) => i === 0 || (typeof edge === typeof all[0] && edge > (all[i - 1] as Edge)),
  );
  if (!isRising) throw invalidArgument('edges', 'strictly ascending numbers', all);
  return all;
}

function evenEdges(bins: number, from: Edge, to: Edge): Edge[] {
  if (typeof from === 'bigint' && typeof to === 'bigint' && from < to) {
    const count = BigInt(bins);
    // Integer keys: an edge between two of them is equivalent to the upper one.
    return Array.from({ length: bins + 1 }, (_, i) => {
      return from + ((to - from) * BigInt(i) + count - 1n) / count;
    });
  }
  const [start, end] = [Number(from), Number(to)];
  if (typeof from !== typeof to || !(start < end && Number.isFinite(start) && Number.isFinite(end))) {
    throw rangeError([from, to]);
  }
  const width = end - start;
  // In so wide a range, the width of some bins, or of all, overflows a number.
  const edge = Number.isFinite(width * bins)
    ? (i: number) => start + (width * i) / bins
    : (i: number) => start * (1 - i / bins) + end * (i / bins);
  return Array.from({ length: bins + 1 }, (_, i) => (i < bins ? edge(i) : end));
}

const rangeError = (range: unknown): UsageError =>
  invalidArgument('range', 'two finite numbers in ascending order', range);

const isEdge = (edge: unknown): edge is Edge => typeof edge === 'number' || typeof edge === 'bigint';

const isIterable = (edges: unknown): boolean =>
  typeof (edges as Partial<Iterable<Edge>> | null | undefined)?.[Symbol.iterator] === 'function';
