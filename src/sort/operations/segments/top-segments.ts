import type { Dtype } from '../../../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../../../keys/key-codec.js';
import type { Call } from '../../calls/call.js';
import { type Column, column } from '../../model/column.js';
import { bitWindow } from '../../model/options.js';
import { bindOutputs } from '../bind-columns.js';
import { MAX_SELECTED, MIN_SELECTED, SELECT_SHARE } from '../policy.js';
import type { SegmentColumn } from './segment-column.js';
import { enqueueSegmentedSort, segmentedSortOf } from './sort-segments.js';

/** Result columns; positions and offsets are u32. */
interface TopSegmentsOutput {
  readonly keys: Column;
  readonly positions: Column;
  readonly offsets: Column;
}

/** Segments, and the number of keys of each that is wanted. */
type TopSegmentsRequest = SegmentColumn & { readonly k: number; readonly fromSegment: boolean };

/**
 * Computes the first keys of each segment in order, at most k of each, and their positions.
 *
 * @param make creates the result columns once their length is known
 */
export async function enqueueTopSegments<R extends TopSegmentsOutput>(
  call: Call,
  keys: Column,
  segments: TopSegmentsRequest,
  make: (total: number) => R,
): Promise<R> {
  const { n, dtype, info } = keys;
  const { columns, settings } = call;
  const { kernels } = columns;
  const { k, fromSegment, ...where } = segments;
  const codec = keyCodec(dtype, settings);
  const bits = bitWindow(settings.bits, info);
  const isWhole = bits[0] === 0 && bits[1] === info.width;
  const isShort = (longest: number): boolean =>
    isWhole && n > 0 && k > 0 && columns.prefersShortSelect(n, longest, k);
  call.prepareVerify(dtype, (verifier, none) =>
    verifier.top(none, { keys: none, positions: none, k, codec, bits }),
  );
  if (where.isRows && where.longest !== undefined && isShort(where.longest)) {
    return topOfRows(call, keys, { ...segments, longest: where.longest, codec, bits }, make);
  }
  const known = knownSizes(where, k); // known sizes imply checked offsets
  const wayFor = ({ total, longest }: Sizes): Way => {
    const short = total > 0 && isShort(longest);
    const selects =
      !short &&
      isWhole &&
      total > 0 &&
      total <= n * SELECT_SHARE &&
      longest <= MAX_SELECTED &&
      n >= MIN_SELECTED * (where.offsets.n - 1) &&
      columns.prefersSelect(n, longest);
    return { short, selects, sorts: n > 0 && !selects && !short };
  };
  if (known) await prepareTop(call, keys, { ...segments, codec }, known, wayFor(known));
  const offsets = await call.bindInput(where.offsets);
  const [counts, begins] = [columns.temporary('u32', offsets.n), columns.temporary('u32', offsets.n)];
  const rises = await kernels.topCounts(offsets, k, n, counts);
  await kernels.scan(counts, begins, 'sum', false);
  const { total, longest } = known ?? (await readSizes(call, { offsets, counts }, n));
  const isKnown = known !== undefined || rises();
  // The segmented sort checks the offsets.
  const { short, selects, sorts } = isKnown
    ? wayFor({ total, longest })
    : { short: false, selects: false, sorts: n > 0 };
  const order = columns.temporary('u32', sorts ? n : 0);
  if (sorts) {
    await enqueueSegmentedSort(call, {
      keys,
      ...where,
      offsets: where.isRows ? where.offsets : offsets,
      moved: order.place,
    });
    if (!isKnown) await call.settle(); // before results of the size of wrong offsets are allocated
  }
  const result = make(total);
  await call.copy(begins, result.offsets);
  if (total === 0) {
    await call.verify(async () => () => (n === 0 || k === 0 ? undefined : 'no keys of any segment'));
    return result;
  }
  const positions = columns.temporary('u32', total);
  const input = await call.bindInput(keys);
  await call.bindOutput(result.keys, async (to) => {
    if (short) {
      const of = { keys: input, codec, offsets, longest, k, begins };
      await kernels.topShort?.({ ...of, to: { keys: to, positions }, fromSegment });
    } else if (selects) {
      const selected = { keys: columns.temporary(dtype, total), positions: columns.temporary('u32', total) };
      const meanLength = n / (offsets.n - 1);
      await kernels.selectSegments(input, codec, { offsets, begins, meanLength }, selected);
      await enqueueSegmentedSort(call, {
        keys: selected.keys,
        offsets: begins,
        longest: Math.min(k, longest),
        sorted: to.place,
        values: { place: selected.positions.place, bytes: 4 },
        moved: positions.place,
      });
    } else {
      await kernels.topPositions(order, offsets, begins, positions);
      await kernels.gather(input, positions, to);
    }
    if (fromSegment && !short) {
      const ids = columns.temporary('u32', total);
      await kernels.segmentIds(column('u32', begins.n - 1, begins.place), ids);
      await kernels.subtractBegins(positions, ids, offsets);
    }
    await call.verify((verifier) => {
      const segments = { offsets, begins, fromSegment };
      return verifier.top(input, { keys: to, positions, segments, k, codec, bits });
    });
  });
  await call.copy(positions, result.positions);
  return result;
}

/** Which kernels find the first keys of segments. */
interface Way {
  /** One group for each segment orders its first keys. */
  readonly short: boolean;
  /** The first keys are selected, then sorted. */
  readonly selects: boolean;
  /** All keys are sorted. */
  readonly sorts: boolean;
}

/** Compiles the programs of a call at once, unless that of its sort or of its selection of short segments is ready. */
async function prepareTop(
  call: Call,
  keys: Column,
  { k, fromSegment, codec, ...where }: TopSegmentsRequest & { readonly codec: KeyCodec },
  { total, longest }: Sizes,
  { short, selects, sorts }: Way,
): Promise<void> {
  const { kernels } = call.columns;
  const { n, dtype } = keys;
  const none = (of: Dtype): Column => call.columns.temporary(of, 0);
  const [noKeys, noWords, otherWords] = [none(dtype), none('u32'), none('u32')];
  const offsets = column('u32', 1, noWords.place); // of no segments
  const to = { keys: noKeys, positions: noWords };
  const steps = () => [
    kernels.topCounts(noWords, k, n, noWords),
    kernels.scan(noWords, otherWords, 'sum', false), // in place it is another program
  ];
  if (short) {
    const of = { keys: noKeys, codec, offsets, longest, k, begins: offsets };
    const compiling = kernels.topShort?.({ ...of, to, fromSegment });
    if (compiling) await Promise.allSettled([compiling, ...steps()]);
  } else if (selects || sorts) {
    const job = selects
      ? {
          keys: column(dtype, total, noKeys.place),
          offsets: where.offsets,
          longest: Math.min(k, longest),
          sorted: noKeys.place,
          values: { place: noWords.place, bytes: 4 as const },
          moved: otherWords.place,
        }
      : { keys, ...where, moved: noWords.place };
    const at = { offsets, begins: offsets, meanLength: n / (where.offsets.n - 1) };
    await call.prepare(segmentedSortOf(call, job), () => [
      ...steps(),
      selects ? kernels.selectSegments(noKeys, codec, at, to) : kernels.gather(noKeys, noWords, noKeys),
      ...(fromSegment ? [kernels.segmentIds(noWords, otherWords)] : []),
    ]);
  }
}

/** As `enqueueTopSegments`, for short segments of one length, with one launch. */
async function topOfRows<R extends TopSegmentsOutput>(
  call: Call,
  keys: Column,
  rows: TopSegmentsRequest & {
    readonly longest: number;
    readonly codec: KeyCodec;
    readonly bits: readonly [number, number];
  },
  make: (total: number) => R,
): Promise<R> {
  const { offsets, longest, k, fromSegment, codec, bits } = rows;
  const each = Math.min(k, longest);
  const result = make((offsets.n - 1) * each);
  const { kernels } = call.columns;
  if (call.settings.verify) {
    const none = call.columns.temporary(keys.dtype, 0);
    const begins = column('u32', 1, none.place); // of no segments
    const to = { keys: none, positions: begins };
    await kernels.topShort?.({ keys: none, codec, offsets: undefined, longest, k, begins, to, fromSegment });
  }
  const input = await call.bindInput(keys);
  await bindOutputs(call, [result.keys, result.positions, result.offsets], async (outputs) => {
    const [to, positions, begins] = outputs as [Column, Column, Column];
    const of = { keys: input, codec, offsets: undefined, longest, k, begins };
    await kernels.topShort?.({ ...of, to: { keys: to, positions }, fromSegment });
    await call.verify(async (verifier) => {
      const segments = { offsets: await call.bindInput(offsets), begins, fromSegment };
      return verifier.top(input, { keys: to, positions, segments, k, codec, bits });
    });
  });
  return result;
}

/** Sizes of the results. */
interface Sizes {
  /** Number of first keys in all segments. */
  readonly total: number;
  /** Length of the longest segment. */
  readonly longest: number;
}

/** Returns the sizes if the offsets are in host memory and have been checked. */
function knownSizes({ offsets, longest, isRows }: SegmentColumn, k: number): Sizes | undefined {
  if (longest === undefined) return undefined;
  if (isRows) return { total: (offsets.n - 1) * Math.min(k, longest), longest };
  const words = offsets.place as Uint32Array;
  let total = 0;
  for (let i = 1; i < words.length; i++) {
    total += Math.min(k, (words[i] as number) - (words[i - 1] as number));
  }
  return { total, longest };
}

/**
 * Waits for the enqueued work and returns the sizes.
 *
 * @param counts number of first keys of each segment
 */
async function readSizes(
  call: Call,
  { offsets, counts }: { offsets: Column; counts: Column },
  n: number,
): Promise<Sizes> {
  const { columns } = call;
  const { kernels } = columns;
  const sum = await kernels.reduce(counts, 'sum');
  const lengths = columns.temporary('u32', offsets.n);
  await kernels.topCounts(offsets, n, n, lengths);
  const maxLength = await kernels.reduce(lengths, 'max');
  await call.settle();
  return { total: Number(sum()), longest: Number(maxLength()) };
}
