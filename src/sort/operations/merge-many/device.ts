import type { DeviceContext } from '../../backend/column-kernel.js';
import { bufferOf, byteLengthOf, type Column } from '../../model/column.js';

export const concatenateOnDevice = ({ device }: DeviceContext, from: readonly Column[], to: Column): void => {
  let toOffset = 0;
  for (const part of from) {
    const bytes = byteLengthOf(part);
    device.queue.copy(bufferOf(part), bufferOf(to), { bytes, toOffset });
    toOffset += bytes;
  }
};
