import { setBuilder } from './sets.js';

export const builder = setBuilder('union', ['monday.u64 tuesday.npy -o all.u64', 'keys of either day']);
