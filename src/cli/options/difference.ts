import { setBuilder } from './sets.js';

export const builder = setBuilder('difference', [
  'today.csv yesterday.csv --column id -o new.csv',
  'keys that are new today',
]);
