import { codecVector, type KeyCodec } from '../keys/key-codec.js';
import { type KernelArgument, vector } from './queue.js';

const knownArguments = new WeakMap<KeyCodec, KernelArgument>();

/** A codec as an argument of kernels, made once: which is no other than the one that a kernel was given before. */
export function codecArgument(codec: KeyCodec): KernelArgument {
  const known = knownArguments.get(codec);
  if (known) return known;
  const argument = vector(codecVector(codec));
  knownArguments.set(codec, argument);
  return argument;
}
