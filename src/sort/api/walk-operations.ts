import { assertDisjoint } from '../../keys/array.js';
import { REDUCE_OPS, type ReduceOp, SCAN_OPS } from '../../primitives/possible.js';
import { InputError, UnsupportedError, UsageError } from '../../util/errors.js';
import { column } from '../backend/column.js';
import type { ArrayStore, Keys } from '../calls/array-store.js';
import type { Calls } from '../calls/calls.js';
import { digitHistogram, edgesOf, gather, histogram, reduce, scan } from '../operations/walks.js';
import type { SpreadArrays } from '../spread/spread-arrays.js';
import type { Team } from '../spread/team.js';
import {
  type Awaitable,
  assertApart,
  MAX_INDICES,
  type Positions,
  parse,
  parseChecked,
  parsePrimitive,
  readKeys,
  type Spreadable,
  spreadSettings,
  taskOf,
} from './arguments.js';
import { DeviceArray } from './device-array.js';
import type { MadeWith } from './made-with.js';
import type { HistogramOptions, Into, PrimitiveOptions, ScanOptions } from './options.js';
import { SpreadArray } from './spread-array.js';

/** Operations that walk over keys and sort nothing. */
export class WalkOperations {
  readonly #calls: Calls;
  readonly #arrays: ArrayStore;
  readonly #team: Team | undefined;
  readonly #spread: () => SpreadArrays;

  constructor({ calls, arrays, team, spread }: MadeWith) {
    this.#calls = calls;
    this.#arrays = arrays;
    this.#team = team;
    this.#spread = spread;
  }

  reduce(keys: Awaitable<Spreadable>, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint> {
    return this.#calls.linked([keys], async (link) => {
      const array = link.array(keys);
      if (!REDUCE_OPS.includes(op)) {
        throw new UsageError(`unknown reduction '${op}': expected ${REDUCE_OPS.join(', ')}`);
      }
      const settings = parsePrimitive(options);
      if (array instanceof SpreadArray)
        return this.#spread().reduce(array, op, spreadSettings(settings, array));
      const input = readKeys(this.#arrays, array, settings);
      const task = {
        ...taskOf(input, settings, array, link),
        shared: this.#team?.reduce(input, op, settings),
      };
      return this.#calls.operate(task, (call) => reduce(call, input, op));
    });
  }

  scan<K extends Keys>(keys: Awaitable<K>, options: ScanOptions & Into<K> = {}): Promise<K> {
    return this.#calls.linked([keys], async (link) => {
      const array = link.array(keys);
      const { op = 'sum', inclusive = false, into, ...rest } = options;
      if (typeof inclusive !== 'boolean') throw new UsageError("option 'inclusive': expected true or false");
      if (!SCAN_OPS.includes(op)) {
        throw new UsageError(`unknown operation '${op}' of a scan: expected ${SCAN_OPS.join(', ')}`);
      }
      const settings = parseChecked(rest);
      const input = readKeys(this.#arrays, array, settings);
      assertApart(array, into);
      return this.#arrays.making(async (make) => {
        const sums = make.like(array, input.dtype, input.n, into);
        link.makes(sums.result);
        const to = column(input.dtype, input.n, sums.place);
        await this.#calls.operate(taskOf(input, settings, array, link, into), async (call) => {
          await scan(call, input, to, { op, inclusive });
          return () => undefined;
        });
        return sums.result;
      });
    });
  }

  histogram(keys: Awaitable<Keys>, options: HistogramOptions = {}): Promise<Uint32Array> {
    return this.#calls.linked([keys], async (link) => {
      const array = link.array(keys);
      const { bins, range, edges, bits, ...rest } = options;
      const settings = parsePrimitive(rest);
      const input = readKeys(this.#arrays, array, settings);
      const byValue = bins !== undefined || range !== undefined || edges !== undefined;
      if (bits !== undefined && byValue) {
        throw new UsageError("option 'bits' says all of the bins: leave out 'bins', 'range' and 'edges'");
      }
      const all = bits === undefined ? edgesOf(options) : undefined;
      const digits = bits && parse({ bits }).bits;
      if (input.n >= MAX_INDICES) {
        throw new UnsupportedError(`counts have 32 bits: at most 2^32 - 1 keys, not ${input.n}`);
      }
      return this.#calls.operate(taskOf(input, settings, array, link), (call) =>
        all ? histogram(call, input, all) : digitHistogram(call, input, digits),
      );
    });
  }

  gather<V extends Keys>(
    values: Awaitable<V>,
    indices: Awaitable<Positions<V>>,
    options: PrimitiveOptions & Into<V> = {},
  ): Promise<V> {
    return this.#calls.linked([values, indices], async (link) => {
      const [array, at] = [link.array(values), link.array(indices)];
      const { into, ...rest } = options;
      const settings = parsePrimitive(rest);
      const input = readKeys(this.#arrays, array, settings);
      if (array instanceof DeviceArray !== at instanceof DeviceArray) {
        throw new InputError('values and indices are in different places: upload both or none');
      }
      const by = readKeys(this.#arrays, at, {});
      if (by.dtype !== 'u32') throw new InputError(`indices are ${by.dtype}: expected a Uint32Array or u32`);
      if (!(array instanceof DeviceArray)) assertDisjoint(array, at as Uint32Array, 'values and indices');
      for (const one of [array, at]) assertApart(one, into);
      return this.#arrays.making(async (make) => {
        const gathered = make.like(array, input.dtype, by.n, into);
        link.makes(gathered.result);
        const to = column(input.dtype, by.n, gathered.place);
        await this.#calls.operate(taskOf(input, settings, array, link, into), (call) =>
          gather(call, input, by, to),
        );
        return gathered.result;
      });
    });
  }
}
