import type { SortReport, StageReport } from '../../sort/model/report.js';
import { MismatchError } from '../../util/errors.js';
import { now, type OnSpan, type WorkSpan } from '../streams/spans.js';

/** Returns the first report of a sort. */
export function onlyReport(reports: readonly SortReport[]): SortReport {
  const [report] = reports;
  if (report) return report;
  throw new Error('cannot report the sort: the sorter returned no report');
}

/**
 * Combines the reports of several sorts: the fields of the first, with summed launches and stage times.
 *
 * @param reports at least one report
 * @param n total number of keys; a segmented argsort goes over its keys twice
 * @param seconds total wall-clock time
 */
export function addReports(reports: readonly SortReport[], n: number, seconds: number): SortReport {
  const first = onlyReport(reports);
  const verified = reports.flatMap((report) => report.verified ?? []);
  return {
    ...first,
    ...(verified.length > 0 && {
      verified: {
        order: verified.every(({ order }) => order),
        permutation: verified.every(({ permutation }) => permutation),
      },
    }),
    stages: addStages(reports.flatMap(({ stages }) => stages)),
    n,
    seconds,
  };
}

function addStages(all: readonly StageReport[]): StageReport[] {
  const sums = new Map<string, StageReport>();
  for (const one of all) {
    const sum = sums.get(one.stage);
    const seconds = sum?.seconds === null || one.seconds === null ? null : (sum?.seconds ?? 0) + one.seconds;
    sums.set(one.stage, { ...one, seconds, launches: one.launches + (sum?.launches ?? 0) });
  }
  return [...sums.values()];
}

/**
 * Reports the time spans of a sort: the wait for the device, upload, sort and download. Only durations are known, so
 * transfers are assumed to lie at the two ends.
 */
export function reportSpans(onSpan: OnSpan, began: number, { stages, seconds }: SortReport): void {
  const all = (now() - began) / 1000;
  const ofStage = (name: string): number =>
    stages.reduce((sum, { stage, seconds: took }) => sum + (stage === name ? (took ?? 0) : 0), 0);
  const [upload, download] = [ofStage('upload'), ofStage('download')];
  let at = began;
  const emitSpan = (kind: WorkSpan['kind'], took: number): void => {
    if (took > 0) onSpan({ kind, began: at, seconds: took });
    at += 1000 * Math.max(0, took);
  };
  emitSpan('wait', all - seconds);
  emitSpan('upload', upload);
  emitSpan('sort', seconds - upload - download);
  emitSpan('download', download);
}

/** Creates the error of a result that verification rejects. `what` names its units. */
export const mismatch = (what: string, found: { readonly order: boolean; readonly permutation: boolean }) =>
  new MismatchError(
    `cannot write the sorted ${what}: they are not ${found.order ? `the ${what} of the input` : 'in order'}. ` +
      'The output is unchanged; sort on another device',
    { details: { ...found } },
  );
