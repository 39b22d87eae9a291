/** Reports shared by the tests of the report writers. */
import type { DeviceInfo } from '../../../src/device/platform/platform.js';
import { type MatrixScope, matrixCases } from '../../../src/matrix/case.js';
import { readFilter } from '../../../src/matrix/filter.js';
import { DeviceRows, type MatrixReport, REPORT_SCHEMA } from '../../../src/matrix/report/report.js';
import type { Outcome } from '../../../src/matrix/row.js';
import { rowOf } from '../../../src/matrix/run-case.js';

export const EVIL = `</script><script>document.title = 'run'</script>|"&'\u0007`;

export const info = (over: Partial<DeviceInfo> = {}): DeviceInfo => ({
  ...{
    id: '0:0',
    platform: 'P',
    name: 'Device, one',
    vendor: 'V',
    type: 'gpu',
    version: '3.0',
    driver: '1.5',
  },
  ...{ computeUnits: 1, globalBytes: 1, maxAllocation: 1, localBytes: 1, maxWorkGroup: 1 },
  ...over,
});

export interface Fate {
  readonly outcome: Outcome;
  readonly reason?: string;
  readonly again?: number;
}

/** A report of the cases of `only`, with the outcomes that `fate` returns. */
export function reportOf(
  only: string,
  fate: (one: ReturnType<typeof matrixCases>[number]) => Fate = () => ({ outcome: 'ok', again: 0.25 }),
  device = info(),
): MatrixReport {
  const scope: MatrixScope = { level: 'quick', seed: '5', maxKeys: 1e9, filters: [readFilter(only)] };
  const rows = new DeviceRows(device, [device, info({ id: '1:0', name: 'Other' })], scope);
  for (const one of matrixCases(scope)) {
    const made = fate(one);
    rows.add(rowOf(device, one, { seconds: 0.5, plan: `plan of ${one.algorithm}`, ...made }));
  }
  return { schema: REPORT_SCHEMA, devices: [rows.report()] };
}

/** One cell of each status. */
export const mixed = (reason = 'why', device = info({ name: 'Device, one' })): MatrixReport =>
  reportOf(
    'sort,tiled|amd,u8|u32|f64',
    ({ algorithm, dtype, n }) => {
      if (algorithm === 'amd')
        return n > 33 ? { outcome: 'ok', again: 0.125 } : { outcome: 'skipped', reason };
      if (n > 33) return { outcome: 'ok', again: 0.25 };
      return { outcome: { u8: 'wrong', u32: 'crash', f64: 'timeout' }[dtype as 'u8'] as Outcome, reason };
    },
    device,
  );
