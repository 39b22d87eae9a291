import { MemoryError } from '../../util/errors.js';

/** Returns the error for a shard with more keys than its writer can hold. */
export const tooManyKeysError = (most: number): MemoryError =>
  new MemoryError(`a share has more than the ${most} keys that a sample let expect`);
