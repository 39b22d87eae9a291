/** The contents of a report, which every format renders. */
import type { JournalRecord } from '../journal.js';
import type { Track } from './batch-timeline.js';

/** A job, in the form of `--json`. */
export interface ReportRow extends Pick<JournalRecord, 'name' | 'in' | 'out' | 'error'> {
  readonly outcome: 'ok' | 'error' | 'done' | 'skipped';
  readonly seconds?: number;
  readonly n?: number;
  readonly dtype?: string | null;
  readonly algorithm?: string;
  readonly device?: { readonly name: string };
}

export interface BatchReport {
  /** Name of the manifest. */
  readonly name: string;
  readonly summary: {
    readonly jobs: number;
    readonly ok: number;
    readonly done: number;
    readonly failed: number;
    readonly skipped: number;
    readonly seconds: number;
    /** The part of `seconds` until the first device was open. */
    readonly startSeconds: number;
  };
  readonly rows: readonly ReportRow[];
  readonly timeline: readonly Track[];
}

const NATURAL_ORDER = new Intl.Collator('en', { numeric: true });

/** Sorts rows by name, `file2` before `file10`. */
export const byName = (rows: readonly ReportRow[]): ReportRow[] =>
  rows.toSorted((a, b) => NATURAL_ORDER.compare(a.name, b.name));

export function headline({ summary }: BatchReport): string {
  const { jobs, ok, done, failed, skipped, seconds, startSeconds } = summary;
  const parts = [
    `${jobs} jobs`,
    `${ok} ok`,
    ...(done > 0 ? [`${done} completed earlier`] : []),
    `${failed} failed`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    `${seconds.toFixed(2)} s, of which ${startSeconds.toFixed(2)} s to open a device`,
  ];
  return parts.join(' · ');
}
