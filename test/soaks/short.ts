import { join } from 'node:path';
import { packageRoot } from '../../src/util/paths.js';

/** Path of a script. */
export const soak = (name: string): string => join(packageRoot, 'scripts', name);
/** Arguments of a soak of 3 seconds. */
export const SHORT = [
  'server',
  '--minutes',
  '0.5',
  '--scale',
  '0.1',
  '--clients',
  '8',
  '--dtypes',
  'i16,f32',
];
