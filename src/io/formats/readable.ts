/** The formats that are read and written: a line each. What is heavy in one of them is loaded when it is used. */
import type { KeyFormat } from './key-file.js';
import { npy } from './npy.js';
import { raw } from './raw.js';

export const READABLE: readonly KeyFormat[] = [raw, npy];
