import { setBuilder } from './sets.js';

export const builder = setBuilder('setxor', [
  'old.u32 new.u32 -o changed.u32',
  'keys that were added or removed',
]);
