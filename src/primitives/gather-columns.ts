import type { Device } from '../device/device.js';
import { roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type KernelArgument, u32, u64, vector } from '../device/queue/queue.js';
import { accessBytesOf, type GatherWork } from './gather.js';
import { buildForGroups } from './group.js';

/** Columns per launch: the number of column parameters of the kernel. */
const MAX_COLUMNS = 8;

export interface GatherColumn {
  /** `length` elements. */
  readonly input: Buffer;
  /** Holds n elements; must not be an input. */
  readonly output: Buffer;
  /** 1 to 16. */
  readonly elementBytes: number;
}

/** A gather of rows. */
export interface GatherColumnsWork extends Omit<GatherWork, 'input' | 'output'> {
  readonly columns: readonly GatherColumn[];
}

/**
 * Compiles `output[i] = input[indices[i]]` for several columns.
 *
 * Complexity: one launch per 8 columns; each element is read and written once, with scattered reads. An index
 * beyond `length` gives zero bytes.
 *
 * @param indexBits bits of an index
 * @returns a function that enqueues one gather; it throws UsageError for elements of no or more than 16 bytes
 * @throws BuildError
 */
export async function createGatherColumns(
  device: Device,
  indexBits: 32 | 64 = 32,
): Promise<(work: GatherColumnsWork) => void> {
  const shape = { KEY_BITS: 32, VALUE_BYTES: 0, INDEX_BITS: indexBits };
  const { program, groupSize } = await buildForGroups(device, 'gather_columns.cl', ['gather_columns'], shape);
  return ({ columns, indices, n, length, slot }) => {
    const units = columns.map(({ elementBytes }) => accessBytesOf(elementBytes));
    const rows = roundUpToGroups(n, groupSize);
    for (let first = 0; first < columns.length; first += MAX_COLUMNS) {
      const count = Math.min(MAX_COLUMNS, columns.length - first);
      const shapes = new Uint32Array(MAX_COLUMNS);
      const buffers: KernelArgument[] = [];
      for (let i = 0; i < MAX_COLUMNS; i++) {
        // Unused column parameters repeat the first column.
        const at = first + (i < count ? i : 0);
        const { input, output, elementBytes } = columns[at] as GatherColumn;
        const unit = units[at] as number;
        shapes[i] = (unit << 8) | (elementBytes / unit);
        buffers.push(input, output);
      }
      const how = [u64(n), u64(length), u32(count), vector(shapes)];
      const args = [indices, ...how, slot.buffer, u32(slot.firstWord), ...buffers];
      const launch = { global: rows * count, local: groupSize };
      device.queue.run(program.kernel('gather_columns'), args, launch);
    }
  };
}
