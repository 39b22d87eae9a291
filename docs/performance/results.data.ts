/** All kept measurements, read when the site is built. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceName } from '../../src/util/device-name.js';
import { type Row, rowsOf } from '../.vitepress/theme/measurements.js';

const folder = join(import.meta.dirname, '../../scripts/results');

/**
 * Files without times of operations on a device: trials, overlapping work, whole files and batches, several devices, less
 * local memory, first results, a busy machine, the host engine, break-even sizes, random cases, strings, and the ladders,
 * which have a page of their own.
 */
const WITHOUT_ROWS =
  /-(overlap|tune|ladder|files|batch|spread|divided|exchange|local-memory|busy|first|host-engine|break-even|cases|strings)\.json$/;

/** Cores of the CPUs that were measured. */
const CORES = 2;

export declare const data: readonly Row[];

export default {
  watch: ['../../scripts/results/*.json'],
  load: (): Row[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.json') && !WITHOUT_ROWS.test(name))
      .sort()
      .flatMap((name) => rowsOf(JSON.parse(readFileSync(join(folder, name), 'utf8'))))
      .map((row) => ({
        ...row,
        device: row.device === 'host' ? `Host engine, ${CORES} cores` : deviceName(row.device, CORES),
      })),
};
