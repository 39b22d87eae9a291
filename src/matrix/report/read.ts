import { readFile } from 'node:fs/promises';
import { canonicalAlgorithm } from '../../algorithms/algorithm-names.js';
import { ioError } from '../../io/streams/raw.js';
import { UsageError } from '../../util/errors.js';
import { parseJson } from '../../util/json.js';
import { OUTCOMES } from '../row.js';
import { type DeviceReport, type MatrixReport, REPORT_SCHEMA } from './report.js';

/**
 * Reads a report of `clsort matrix --json`.
 *
 * @throws IoError when the file cannot be read
 * @throws UsageError when it is no such report
 */
export async function readReport(file: string): Promise<MatrixReport> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw ioError('read', file, error);
  });
  const report = parseJson(text) as MatrixReport | undefined;
  if (report?.schema !== REPORT_SCHEMA || !Array.isArray(report.devices) || !report.devices.every(isDevice)) {
    throw new UsageError(
      `cannot read ${file}: it is not a report of 'clsort matrix --json' (${REPORT_SCHEMA})`,
    );
  }
  return { ...report, devices: report.devices.map(withPresentNames) };
}

/** Replaces former names of algorithms with the current ones. */
const withPresentNames = (device: DeviceReport): DeviceReport => ({
  ...device,
  cells: device.cells.map((cell) => ({ ...cell, algorithm: canonicalAlgorithm(cell.algorithm) })),
});

const isText = (value: unknown): boolean => typeof value === 'string';

function isDevice(device: DeviceReport): boolean {
  const { platform, name, driver, spec, seed, level, only, environment, cells } = device ?? {};
  if (![platform, name, driver, spec, seed, level].every(isText)) return false;
  if (only !== undefined && !(Array.isArray(only) && only.every(isText))) return false;
  if (typeof environment !== 'object' || environment === null) return false;
  return (
    Array.isArray(cells) &&
    cells.every(
      (cell) =>
        [cell?.operation, cell?.algorithm, cell?.dtype].every(isText) &&
        OUTCOMES.includes(cell.status) &&
        typeof cell.counts === 'object' &&
        typeof cell.seconds === 'number',
    )
  );
}
