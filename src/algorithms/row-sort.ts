import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import { buildFittedProgram, type FittedProgram } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type Queue, u32, u64 } from '../device/queue/queue.js';
import { invalidArgument } from '../util/invalid-argument.js';
import type { AlgorithmFactory, AlgorithmShape, Enqueued, SortRequest, SortWork } from './algorithm.js';
import { CompiledSort } from './compiled-sort.js';
import { choice, onOff } from './parameters.js';
import { carriesValues, onlyPass, type Pass, passBuffers, passFlags, passOutputs } from './passes.js';

/** Most keys of a row. */
export const ROW_MAX = 64;
/** Work-items per row. */
const LANES = 32;

/** How the mask of zero bits is computed, see cl/row_sort.cl. */
const VOTES = { masks: 0, khr: 1, ptx: 2 } as const;

/** Rows of keys, stored one after the other. */
export interface RowWork extends Omit<Pass, 'flags'>, Pick<SortWork, 'codec' | 'bits' | 'indices'> {
  /** Keys of all rows together; the last row may be shorter. */
  readonly n: number;
  readonly rowLength: number;
  /** For `tuning` `trace: true`: masks, positions and codes of each bit of the first row. */
  readonly trace?: { readonly masks: Buffer; readonly places: Buffer; readonly codes: Buffer };
}

/**
 * Row sort: 32 work-items sort a row of up to 64 keys in local memory, one bit at a time. The mask of the row's
 * zero bits and a population count give each key its position. One launch sorts many rows.
 *
 * Source: D. Merrill, A. Grimshaw, "High Performance and Scalable Radix Sorting" (2011) for ranks by votes within a
 * warp; the split itself is G. E. Blelloch's (1990).
 *
 * Complexity: one launch, one step per bit of the window, every key read and written once. Limit: rows of 64 keys.
 * The default form assumes nothing about sub-groups; `tuning` `vote` is masks, khr or ptx.
 *
 * The planner never picks it. `segmented` sorts rows of unequal lengths, by counting instead of voting.
 */
export class RowSort extends CompiledSort<FittedProgram & { readonly row: number }> {
  /** Most keys of a row as compiled: 32 or 64. */
  get row(): number {
    return this.built.row;
  }

  protected override accepts({ n }: SortRequest): true | string {
    return n <= this.row || `sorts one row: at most ${this.row} keys`;
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, codec, bits } = work;
    if (n === 0) return {};
    const buffers = onlyPass(this.shape, work);
    this.enqueueRows(queue, { ...buffers, n, rowLength: n, codec, bits, indices: work.indices === true });
    work.onStage?.({ kernel: 'row_sort', pass: 0, buffers: passOutputs(buffers) });
    return {};
  }

  /** Sorts every row separately. @throws UsageError when rows are longer than the program supports */
  enqueueRows(queue: Queue, work: RowWork): void {
    const { n, rowLength, codec, bits, trace } = work;
    if (rowLength < 1 || rowLength > this.row) {
      throw invalidArgument('rowLength', `a whole number from 1 to ${this.row}`, rowLength);
    }
    const { program, groupSize } = this.built;
    const rows = Math.ceil(n / rowLength);
    const flags = passFlags(work, { first: true, last: true });
    const args = [
      ...passBuffers(work),
      ...(trace ? [trace.masks, trace.places, trace.codes] : []),
      u64(n),
      u32(rowLength),
      codecArgument(codec),
      u32(bits[0]),
      u32(bits[1]),
      u32(flags),
    ];
    const global = Math.ceil((rows * LANES) / groupSize) * groupSize;
    queue.run(program.kernel('row_sort'), args, { global, local: groupSize });
  }
}

function voteOf({ capabilities }: Device, wanted: unknown): keyof typeof VOTES {
  if (wanted === undefined) return 'masks';
  for (const vote of capabilities.votes) if (wanted === vote) return vote;
  throw invalidArgument('tuning.vote', 'one of masks, khr, ptx that the device supports', wanted);
}

/** Compiles the row sort. */
export async function createRowSort(device: Device, shape: AlgorithmShape): Promise<RowSort> {
  const row = shape.tuning?.row === 32 ? 32 : ROW_MAX;
  const vote = VOTES[voteOf(device, shape.tuning?.vote)];
  const fitted = await buildFittedProgram(device, 'row_sort.cl', ['row_sort'], 128, (groupSize) => ({
    KEY_BITS: shape.keyBits,
    VALUE_BYTES: shape.valueBytes,
    GROUP_SIZE: groupSize,
    ROW: row,
    ROW_VOTE: vote,
    ROW_TRACE: shape.tuning?.trace === true ? 1 : 0,
  }));
  return new RowSort('row', device, shape, { ...fitted, row });
}

export const rowSort: AlgorithmFactory = {
  name: 'row',
  stable: true,
  parameters: { row: choice([32, 64]), vote: choice(Object.keys(VOTES)), trace: onOff() },

  available(device, shape) {
    if (device.capabilities.maxWorkGroup < LANES) return `needs work-groups of ${LANES} work-items`;
    return carriesValues(shape);
  },

  create: createRowSort,
};
