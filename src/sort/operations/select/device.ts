import { Compaction } from '../../../primitives/compact.js';
import { chain } from '../../../util/maybe-promise.js';
import type { DeviceContext } from '../../backend/column-kernel.js';
import type { ColumnSelection } from '../../backend/column-kernels.js';
import { bufferOf, type Column } from '../../model/column.js';

export const compactOnDevice = (
  context: DeviceContext,
  keys: Column,
  selection: ColumnSelection,
  to: Column,
  rest: boolean,
) => {
  const { n, dtype } = keys;
  const byMask = 'mask' in selection;
  const tuning = context.tuning('compact', keys);
  const shape = { dtype, by: byMask ? 'mask' : 'range', tuning, inParts: rest } as const;
  const by = byMask ? { mask: bufferOf(selection.mask) } : selection;
  const work = { keys: bufferOf(keys), n, choice: by, to: bufferOf(to), rest };
  return chain(Compaction.create(context.device, shape), (compaction) => compaction.enqueue(work));
};
