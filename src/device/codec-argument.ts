import { codecVector, type KeyCodec } from '../keys/key-codec.js';
import { type KernelArgument, vector } from './queue/queue.js';

const knownArguments = new WeakMap<KeyCodec, KernelArgument>();

/**
 * Returns a codec as a kernel argument. A codec always gives the same object, which saves setting the argument again.
 */
export function codecArgument(codec: KeyCodec): KernelArgument {
  const known = knownArguments.get(codec);
  if (known) return known;
  const argument = vector(codecVector(codec));
  knownArguments.set(codec, argument);
  return argument;
}
