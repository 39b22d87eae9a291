/** Formats the rows and the progress of a batch, as text and as JSON. */
import type { JobResult } from '../batch/events.js';
import { codeOf, messageOf } from '../batch/failures.js';
import type { Tally } from '../batch/tally.js';
import { plainName, plainText } from '../util/plain-text.js';
import { clock } from './progress-bar.js';
import { bytesText, grouped, secondsText } from './table.js';

export function resultJson(result: JobResult) {
  const { name, in: from, out } = result.job;
  const row = { schema: 'clsort.batch-job/1', name, in: from, out, outcome: result.outcome };
  if (result.outcome === 'skipped' || result.outcome === 'done') return row;
  if (result.outcome === 'error') {
    const { error, seconds, attempts } = result;
    return { ...row, seconds, attempts, error: { code: codeOf(error), message: messageOf(error) } };
  }
  const { report, seconds, attempts, input = null, output = null } = result;
  const { n, device, algorithm, verified = null, records = null, table = null } = report;
  const dtype = records || table ? null : report.dtype;
  return { ...row, seconds, attempts, n, dtype, records, table, device, algorithm, verified, input, output };
}

export function resultText(result: JobResult): string {
  const name = plainName(result.job.name);
  if (result.outcome === 'skipped') return `skipped  ${name}`;
  if (result.outcome === 'done') return `done     ${name}: unchanged since an earlier run`;
  if (result.outcome === 'error') return failureText(result);
  const { n, dtype, device, algorithm, verified, records, table } = result.report;
  const what = table ? 'rows' : records ? `records of ${records.record} bytes` : `${dtype} keys`;
  const verification = verified ? ', verified' : '';
  return `ok       ${name}: ${grouped(n)} ${what}, ${algorithm} on ${device.name}, ${secondsText(result.seconds)}${verification}`;
}

export const failureText = ({ job, error }: Extract<JobResult, { outcome: 'error' }>): string =>
  `FAILED   ${plainName(job.name)}: ${plainText(messageOf(error))}`;

export const summaryText = (counts: Tally['counts'], seconds: number): string => {
  const { ok, error, done, skipped } = counts;
  const before = done > 0 ? `${done} completed earlier, ` : '';
  return `${ok + error + done + skipped} jobs: ${ok} ok, ${before}${error} failed, ${skipped} skipped; ${secondsText(seconds)}`;
};

/**
 * Formats the live view: one line for the whole batch, then one line per device.
 *
 * @param jobs total number of jobs; undefined while more may arrive
 */
export function viewLines(tally: Tally, jobs: number | undefined): string[] {
  const { counts, devices, seconds } = tally;
  const left = jobs === undefined ? undefined : tally.secondsLeft(jobs);
  const failed = counts.error > 0 ? `, ${counts.error} FAILED` : '';
  const time = left === undefined ? '' : `, ${clock(left)} left`;
  const whole = `${grouped(tally.ended)}${jobs === undefined ? '' : ` of ${grouped(jobs)}`} jobs${failed}, ${clock(seconds)} elapsed${time}`;
  return [whole, ...[...devices].map(([name, device]) => `  ${deviceText(name, device, seconds)}`)];
}

function deviceText(
  name: string,
  { running, jobs, bytes, crashes }: Tally['devices'] extends Map<string, infer D> ? D : never,
  seconds: number,
): string {
  const crashText = crashes > 0 ? `, restarted ${crashes} ×` : '';
  const present = [...running.values()].map(({ job, phase, share }) => {
    const how = share === undefined ? '' : ` ${Math.round(Math.min(1, share) * 100)} %`;
    return `${plainName(job.name)}${phase === undefined ? '' : ` (${phase}${how})`}`;
  });
  return `${name}: ${grouped(jobs)} jobs, ${bytesText(bytes / Math.max(seconds, 1e-3))}/s${crashText}; ${present.join(', ') || 'idle'}`;
}
