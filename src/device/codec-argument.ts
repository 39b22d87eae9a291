import { codecVector, type KeyCodec } from '../keys/key-codec.js';
import { oncePer } from '../util/memo.js';
import { type KernelArgument, vector } from './queue/queue.js';

/**
 * Returns a codec as a kernel argument. A codec always gives the same object, which saves setting the argument again.
 */
export const codecArgument = oncePer((codec: KeyCodec): KernelArgument => vector(codecVector(codec)));
