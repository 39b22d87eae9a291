import { profileKeys } from '../../io/checks/file-profile.js';
import { withInputs } from '../../io/formats/inputs.js';
import { histogramFiles } from '../../io/operations/primitive-files.js';
import { isStdin } from '../../io/streams/raw.js';
import type { HistogramOptions } from '../../sort/model/options.js';
import { BinEdges } from '../../sort/operations/histogram/bin-edges.js';
import { InputError, UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { assertWholeNumber } from '../../util/whole-number.js';
import { listed, readOrder } from '../arguments.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput } from '../key-files.js';
import { numberText } from '../number-text.js';
import { assertAtMostOne } from '../option-errors.js';
import type { HistogramArguments } from '../options/histogram.js';
import { runWithSorter } from '../run-with-sorter.js';
import { grouped, table } from '../table.js';

/** Number of bins by default, as in NumPy. */
const DEFAULT_BINS = 10;
/** Length of the longest bar, in characters. */
const BAR = 40;

type How = Pick<HistogramOptions, 'bins' | 'range' | 'edges' | 'bitRange'>;

export async function run(args: HistogramArguments, console: Console): Promise<ExitCode> {
  const input = readInput(args);
  const how = await readBins(args, console);
  const job = { ...input, in: args.in, how };
  const { n, dtype, counts } = await runWithSorter(args, console, (sorter, context) =>
    histogramFiles(sorter, job, context),
  );
  const edges = how.bitRange ? undefined : BinEdges.of(how).edges;
  const inside = counts.reduce((sum, count) => sum + count, 0);
  if (args.json) {
    const texts = edges?.map(numberText) ?? null;
    const bits = how.bitRange ?? null;
    print(
      console,
      JSON.stringify({
        schema: 'clsort.histogram/1',
        n,
        dtype,
        bits,
        edges: texts,
        counts,
        outside: n - inside,
      }),
    );
    return EXIT.ok;
  }
  const maxCount = counts.reduce((a, b) => Math.max(a, b), 1);
  const rows = counts.map((count, bin) => [
    ...(edges ? [numberText(edges[bin] ?? 0), numberText(edges[bin + 1] ?? 0)] : [String(bin)]),
    grouped(count),
    '#'.repeat(Math.round((BAR * count) / maxCount)),
  ]);
  const heading = edges ? ['from', 'to', 'keys', ''] : ['digit', 'keys', ''];
  const align = heading.map((name) => (name === '' ? ('left' as const) : ('right' as const)));
  print(console, table([heading, ...rows], align));
  if (inside < n) print(console, `${grouped(n - inside)} keys are in no bin`);
  return EXIT.ok;
}

const numberOf = (text: string, option: string): number => {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number)) return number;
  throw invalidArgument(`--${option}`, 'numbers', text);
};

/**
 * Returns the bins. Without an option that defines them, they span the range of the keys.
 *
 * @throws UsageError when options conflict or are malformed
 * @throws InputError when the keys have no finite range
 */
async function readBins(args: HistogramArguments, console: Console): Promise<How> {
  const { bins, range, edges, bits } = args;
  const ways = { range: bins === undefined ? range : undefined, bins, edges, bits };
  assertAtMostOne(ways, 'each of them defines the bins');
  if (bits !== undefined) {
    const { bits: window } = readOrder({ dtype: args.dtype, descending: false, nan: 'last', bits });
    return { bitRange: window as [number, number] };
  }
  if (edges !== undefined) return { edges: listed(edges).map((text) => numberOf(text, 'edges')) };
  const count = bins ?? DEFAULT_BINS;
  assertWholeNumber('--bins', count, { max: 65_536 });
  if (range !== undefined) {
    const [low, high, ...more] = range.split(':').map((text) => numberOf(text, 'range'));
    if (low === undefined || high === undefined || more.length > 0 || low >= high) {
      throw invalidArgument('--range', 'A:B with A < B (such as 0:100)', range);
    }
    return { bins: count, range: [low, high] };
  }
  return { bins: count, range: await rangeOf(args, console) };
}

/**
 * Returns the range from the smallest key to the largest.
 *
 * @throws UsageError when an input is stdin, which can be read only once
 * @throws InputError when the keys have no finite range
 */
async function rangeOf(
  args: HistogramArguments,
  console: Console,
): Promise<readonly [number, number] | readonly [bigint, bigint]> {
  if (args.in.some(isStdin)) {
    throw new UsageError(
      'cannot compute the range of stdin: it can be read only once. Pass --range A:B or --bits A:B',
    );
  }
  const { minimum, maximum } = await withInputs(args.in, console, async (open) =>
    profileKeys(await open(readInput(args)), undefined),
  );
  const [low, high] = [Number(minimum), Number(maximum)];
  if (minimum === undefined || maximum === undefined || !Number.isFinite(low) || !Number.isFinite(high)) {
    throw new InputError('cannot compute the bins: the keys have no finite range. Pass --range A:B');
  }
  // Doubles would round integers beyond 2^53 and exclude the smallest or the largest key.
  const isExact = typeof minimum !== 'bigint' || [low, high].every(Number.isSafeInteger);
  if (!isExact) return minimum < maximum ? [minimum, BigInt(maximum)] : [minimum, minimum + 1n];
  return low < high ? [low, high] : aroundOne(low);
}

/**
 * Returns a range for keys that are all equal: [key, key + 1], or the range between key and 0 when adding 1 is lost in
 * rounding.
 */
const aroundOne = (key: number): readonly [number, number] =>
  key + 1 > key ? [key, key + 1] : [Math.min(key, 0), Math.max(key, 0)];
