import { setBuilder } from './sets.js';

export const builder = setBuilder('intersect', ['monday.u64 tuesday.npy -o both.u64', 'keys of both days']);
