import { MemoryError } from '../../util/errors.js';

/** Returns the error for a shard with more keys than its writer can hold. */
export const tooManyKeysError = (most: number): MemoryError =>
  new MemoryError(`cannot write a shard: it has more keys than the sample predicted (${most})`);
