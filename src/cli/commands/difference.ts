import { setRunner } from '../set-files.js';

export const run = setRunner('difference');
