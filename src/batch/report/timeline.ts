/** When each device, the disk and the bus were at work. */
import type { BatchEvent, JobResult } from '../events.js';

/** What a stretch of time was spent on. */
export const KINDS = ['read', 'upload', 'sort', 'download', 'write', 'checksum', 'other', 'failed'] as const;
export type Kind = (typeof KINDS)[number];

export interface Span {
  readonly kind: Kind;
  readonly job: string;
  /** Seconds since the batch began. */
  readonly begin: number;
  readonly seconds: number;
}

/** Spans of a device, the disk or a bus, in rows in which none overlaps another. */
export interface Track {
  readonly name: string;
  readonly rows: readonly (readonly Span[])[];
}

/**
 * Collects what took how long. Parts of a job are told by their lengths and stand in the order in which they take place; those of a matrix,
 * or of a sort by way of the disk, go on by turns and are shown as the sort.
 */
export class Timeline {
  readonly #began = Date.now();
  readonly #devices = new Map<string, Span[][]>();
  readonly #disk: Span[] = [];
  readonly #buses = new Map<string, Span[]>();

  hear(event: BatchEvent): void {
    if (event.is !== 'end') return;
    const { result } = event;
    if (result.outcome === 'ok') this.#addDone(result);
    else if (result.outcome === 'error' && result.device !== undefined) {
      const { began = this.#began, seconds, job, device } = result;
      this.#addTo(device, [{ kind: 'failed', job: job.name, begin: this.#since(began), seconds }]);
    }
  }

  #since(milliseconds: number): number {
    return Math.max(0, (milliseconds - this.#began) / 1000);
  }

  #addDone({ job, device, report, began, seconds, sumSeconds }: Extract<JobResult, { outcome: 'ok' }>): void {
    const ofStage = (name: string): number =>
      report.stages.reduce((all, { stage, seconds: took }) => all + (stage === name ? (took ?? 0) : 0), 0);
    const [upload, download] = [ofStage('upload'), ofStage('download')];
    const known = report.readSeconds + report.seconds + report.writeSeconds + sumSeconds;
    const lengths: readonly (readonly [Kind, number])[] = [
      ['read', report.readSeconds],
      ['upload', upload],
      ['sort', Math.max(0, report.seconds - upload - download)],
      ['download', download],
      ['write', report.writeSeconds],
      ['other', Math.max(0, seconds - known)],
      ['checksum', sumSeconds],
    ];
    const spans: Span[] = [];
    let begin = this.#since(began);
    for (const [kind, took] of lengths) {
      if (took > 0) spans.push({ kind, job: job.name, begin, seconds: took });
      begin += took;
    }
    this.#addTo(device, spans);
    const isOf = (...kinds: Kind[]) => spans.filter(({ kind }) => kinds.includes(kind));
    this.#disk.push(...isOf('read', 'write', 'checksum'));
    const bus = this.#buses.get(device) ?? [];
    this.#buses.set(device, bus);
    bus.push(...isOf('upload', 'download'));
  }

  /** Adds the spans of a job to the first row of a device that is free by then. */
  #addTo(device: string, spans: readonly Span[]): void {
    const rows = this.#devices.get(device) ?? [];
    this.#devices.set(device, rows);
    place(rows, spans);
  }

  drawn(): Track[] {
    const inRows = (spans: readonly Span[]): Span[][] => {
      const rows: Span[][] = [];
      for (const span of spans.toSorted((a, b) => a.begin - b.begin)) place(rows, [span]);
      return rows;
    };
    return [
      ...[...this.#devices].map(([name, rows]) => ({ name, rows })),
      ...[...this.#buses].map(([name, spans]) => ({ name: `${name}: transfers`, rows: inRows(spans) })),
      { name: 'disk', rows: inRows(this.#disk) },
    ].filter(({ rows }) => rows.length > 0);
  }
}

/** Clocks of two processes differ by a little. */
const SLACK_SECONDS = 0.002;

function place(rows: Span[][], spans: readonly Span[]): void {
  const [first] = spans;
  if (!first) return;
  const isFree = (row: Span[]): boolean => {
    const last = row.at(-1);
    return !last || last.begin + last.seconds <= first.begin + SLACK_SECONDS;
  };
  let row = rows.find(isFree);
  if (!row) {
    row = [];
    rows.push(row);
  }
  row.push(...spans);
}
