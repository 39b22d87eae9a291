import type { KeyCodec } from '../../../keys/key-codec.js';
import { enqueueMerge } from '../../../primitives/merge-arrays.js';
import type { DeviceContext } from '../../backend/column-kernel.js';
import { bufferOf, type Column } from '../../model/column.js';

export const mergeOnDevice = (
  { device }: DeviceContext,
  a: Column,
  b: Column,
  codec: KeyCodec,
  to: Column,
) => {
  const inputs = { a: bufferOf(a), aLength: a.n, b: bufferOf(b), bLength: b.n };
  return enqueueMerge(device, { ...inputs, output: bufferOf(to), codec });
};
