import type { ValueArray } from '../../keys/array.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import type { ArrayStore, Keys, ResultAllocator } from '../calls/array-store.js';
import type { Calls } from '../calls/calls.js';
import type { Dependency } from '../calls/dependency.js';
import { offsetsError } from '../host/host-segments.js';
import { gatherSteps } from '../host/host-sort.js';
import { runYielding } from '../host/steps.js';
import { assertIndexable } from '../model/array-assertions.js';
import { column, type Place, type Values } from '../model/column.js';
import { DeviceArray } from '../model/device-array.js';
import { areOffsetsOnDevice } from '../model/job.js';
import {
  type Into,
  requireOptionsObject,
  type SortOptions,
  type SortSettings,
  type TopKOptions,
} from '../model/options.js';
import {
  type Offsets,
  type SegmentColumn,
  type SegmentedJob,
  segmentColumn,
  segmentedSort,
} from '../operations/segmented-sort.js';
import { topSegments } from '../operations/top-segments.js';
import {
  type Awaitable,
  assertOneOf,
  assertSeparateOutput,
  assertTop,
  dtypeOfValues,
  type Positions,
  parse,
  readKeys,
  readValues,
  taskOf,
  unusableOption,
} from './arguments.js';

/**
 * Start of each segment, then the end of the last one: a host array or a device array. Or a number, the length of every
 * segment, as for the rows of a matrix; the device then needs no offsets.
 */
export type SegmentOffsets = Offsets | DeviceArray<'u32'>;

/** Options of `segmentedArgsort`. */
export type SegmentedArgsortOptions = SortOptions & {
  /**
   * Origin of the positions: the start of the array, or that of each segment.
   *
   * @defaultValue `'array'`
   */
  readonly positions?: 'array' | 'segment';
};

/** Options of `topKSegments`. */
export type TopKSegmentsOptions = TopKOptions & Pick<SegmentedArgsortOptions, 'positions'>;

/** First keys of each segment. Those of segment s are from `offsets[s]` to before `offsets[s + 1]`. */
export interface TopSegments<K extends Keys> {
  readonly keys: K;
  readonly indices: Positions<K>;
  readonly offsets: Positions<K>;
}

/** Value sizes in bytes that kernels move within segments; others are gathered after an argsort. */
const CARRIED = new Set([1, 2, 4, 8]);

/** Operations on the segments of an array. */
export class SegmentOperations {
  readonly #calls: Calls;
  readonly #arrays: ArrayStore;

  constructor(calls: Calls, arrays: ArrayStore) {
    this.#calls = calls;
    this.#arrays = arrays;
  }

  /** @param own.isOwn whether no other code knows the offsets and the memory of option `into` */
  sort<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SortOptions & Into<K>,
    { isOwn = false } = {},
  ): Promise<K> {
    return this.#calls.runWithInputs([keys, offsets], async (dependency) => {
      const { into, ...rest } = requireOptionsObject(options);
      const array = dependency.resolveInput(keys);
      assertSeparateOutput(array, into);
      const settings = parse(rest);
      return this.#call(array, offsets, { settings, dependency, into, isOwn }, (make, { n, dtype }) => {
        const sorted = make.allocateLike(array, dtype, n, into);
        dependency.setResult(sorted.result);
        return { result: sorted.result, to: { sorted: sorted.place } };
      });
    });
  }

  /** @param own.isOwn as for `sort` */
  argsort<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SegmentedArgsortOptions & Into<Positions<K>>,
    { isOwn = false } = {},
  ): Promise<Positions<K>> {
    return this.#calls.runWithInputs([keys, offsets], async (dependency) => {
      const { into, positions = 'array', ...rest } = requireOptionsObject(options);
      assertOneOf('positions', ['array', 'segment'], positions);
      const array = dependency.resolveInput(keys);
      assertSeparateOutput(array, into);
      const settings = parse(rest);
      return this.#call(array, offsets, { settings, dependency, into, isOwn }, (make, { n }) => {
        const moved = make.allocateBeside(array, 'u32', n, into);
        dependency.setResult(moved.result);
        const fromSegment = positions === 'segment';
        return { result: moved.result as Positions<K>, to: { moved: moved.place, fromSegment } };
      });
    });
  }

  sortPairs<K extends Keys, V extends ValueArray | DeviceArray>(
    keys: Awaitable<K>,
    values: Awaitable<V>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SortOptions,
  ): Promise<{ keys: K; values: V }> {
    return this.#calls.runWithInputs([keys, values, offsets], async (dependency) => {
      const [array, beside] = [dependency.resolveInput(keys), dependency.resolveInput(values)];
      const settings = parse(options);
      /** Values that no kernel moves, and the positions by which they are gathered afterwards. */
      let gathered: { from: Place; bytes: number; to: Place; by: Uint32Array } | undefined;
      const result = await this.#call(array, offsets, { settings, dependency }, (make, input) => {
        const own = readValues(this.#arrays, array, beside, input);
        const sorted = make.allocateLike(array, input.dtype, input.n);
        const moved = make.allocateLike(beside, dtypeOfValues(beside), beside.length);
        const made = { keys: sorted.result, values: moved.result };
        if (CARRIED.has(own.bytes)) {
          const values: Values = own;
          return { result: made, to: { sorted: sorted.place, values, moved: moved.place } };
        }
        const by = new Uint32Array(input.n);
        gathered = { from: own.place, bytes: own.bytes, to: moved.place, by };
        return { result: made, to: { sorted: sorted.place, moved: by } };
      });
      if (gathered) {
        const { from, bytes, to, by } = gathered;
        // No dtype has this size, so both are typed arrays.
        await runYielding(
          gatherSteps(from as ArrayBufferView, by, bytes, to as ArrayBufferView),
          settings.signal,
        );
      }
      return result;
    });
  }

  topK<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    k: number,
    options?: TopKSegmentsOptions,
  ): Promise<TopSegments<K>> {
    return this.#calls.runWithInputs([keys, offsets], async (dependency) => {
      const { largest = true, positions = 'array', ...rest } = requireOptionsObject(options);
      assertOneOf('positions', ['array', 'segment'], positions);
      assertTop(k, largest);
      if ('descending' in rest) throw unusableOption('descending', "topKSegments uses 'largest' instead");
      const array = dependency.resolveInput(keys);
      const settings = parse({ ...rest, descending: largest });
      const input = readKeys(this.#arrays, array, settings);
      assertIndexable(input.n);
      const segments = {
        ...this.#read(dependency.resolveInput(offsets), input.n),
        k,
        fromSegment: positions === 'segment',
      };
      return this.#arrays.withResults(async (make) => {
        const results = (total: number) => {
          const found = make.allocateLike(array, input.dtype, total);
          const indices = make.allocateBeside(array, 'u32', total);
          const begins = make.allocateBeside(array, 'u32', segments.offsets.n);
          return {
            keys: column(input.dtype, total, found.place),
            positions: column('u32', total, indices.place),
            offsets: column('u32', segments.offsets.n, begins.place),
            result: {
              keys: found.result,
              indices: indices.result as Positions<K>,
              offsets: begins.result as Positions<K>,
            },
          };
        };
        const task = taskOf(input, settings, array, dependency);
        const onHost = task.onHost && !areOffsetsOnDevice(segments);
        return this.#calls.execute({ ...task, onHost, again: onHost }, async (call) => {
          const { result } = await topSegments(call, input, segments, results);
          return () => result;
        });
      });
    });
  }

  /** Allocates the results and executes the call. */
  async #call<R>(
    array: Keys,
    offsets: Awaitable<SegmentOffsets>,
    {
      settings,
      dependency,
      into,
      isOwn = false,
    }: { settings: SortSettings; dependency: Dependency; into?: unknown; isOwn?: boolean },
    prepare: (
      make: ResultAllocator,
      input: SegmentedJob['keys'],
    ) => { result: R; to: Omit<SegmentedJob, 'keys' | keyof SegmentColumn> },
  ): Promise<R> {
    const input = readKeys(this.#arrays, array, settings);
    assertIndexable(input.n);
    const segments = this.#read(dependency.resolveInput(offsets), input.n, isOwn);
    return this.#arrays.withResults(async (make) => {
      const { result, to } = prepare(make, input);
      const task = taskOf(input, settings, array, dependency, isOwn ? undefined : into);
      const onHost = task.onHost && !areOffsetsOnDevice(segments);
      await this.#calls.execute({ ...task, onHost, again: onHost }, async (call) => {
        await segmentedSort(call, { keys: input, ...segments, ...to });
        return () => undefined;
      });
      return result;
    });
  }

  #read(offsets: SegmentOffsets, n: number, isOwn = false): SegmentColumn {
    if (!(offsets instanceof DeviceArray)) return segmentColumn(offsets, n, isOwn);
    if (offsets.dtype !== 'u32') {
      throw invalidArgument('offsets', 'a device array of u32', { text: offsets.dtype });
    }
    const column = offsets.columnFor(this.#arrays);
    if (column.n < (n > 0 ? 2 : 1)) {
      throw offsetsError(n, `${column.n} offsets`, column.n);
    }
    return { offsets: column };
  }
}
