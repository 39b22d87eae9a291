/** All kept measurements, read when the site is built. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Row, rowsOf } from '../.vitepress/theme/measurements.js';

const folder = join(import.meta.dirname, '../../scripts/results');

/** Those without rows of times: what was tried, and what overlapping gains. */
const WITHOUT_ROWS = ['h200-overlap.json', 'h200-tune.json', 'pocl-tune.json'];

export declare const data: readonly Row[];

export default {
  watch: ['../../scripts/results/*.json'],
  load: (): Row[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.json') && !WITHOUT_ROWS.includes(name))
      .sort()
      .flatMap((name) => rowsOf(JSON.parse(readFileSync(join(folder, name), 'utf8')))),
};
