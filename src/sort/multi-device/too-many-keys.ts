import { MemoryError } from '../../util/errors.js';

/** Says that a share has more keys than there is room for. */
export const tooManyKeysError = (most: number): MemoryError =>
  new MemoryError(`a share has more than the ${most} keys that a sample let expect`);
