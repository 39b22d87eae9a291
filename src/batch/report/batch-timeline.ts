/** Timeline of a batch: the activity of devices, disk and bus. */
import type { ThreadSeconds } from '../../device/memory/staging.js';
import type { WorkSpan } from '../../io/streams/spans.js';
import { deviceName } from '../../util/device-name.js';
import type { BatchEvent, JobResult } from '../events.js';

/** Kinds of activity. */
export const KINDS = [
  ...['read', 'wait', 'upload', 'sort', 'download', 'write', 'sync', 'checksum', 'other', 'failed'],
] as const satisfies readonly (WorkSpan['kind'] | 'other' | 'failed')[];
export type Kind = (typeof KINDS)[number];

export interface Span {
  readonly kind: Kind;
  readonly job: string;
  /** Seconds since the start of the batch. */
  readonly begin: number;
  readonly seconds: number;
  /** Seconds that the transfer threads spent. */
  readonly threads?: ThreadSeconds;
}

/** Spans of a device, the disk or a bus, in rows without overlaps. */
export interface Track {
  readonly name: string;
  readonly rows: readonly (readonly Span[])[];
  /** Share of the time between the first and the last span of all in which it was busy; absent for jobs. */
  readonly busy?: number;
}

type SucceededJob = Extract<JobResult, { outcome: 'ok' }>;

/**
 * Collects spans from job results. A sort without spans is reconstructed from its durations, in the order of its steps.
 */
export class BatchTimeline {
  readonly #began = Date.now();
  readonly #jobs = new Map<string, Span[][]>();
  readonly #sorts = new Map<string, Span[]>();
  readonly #buses = new Map<string, Span[]>();
  readonly #disk: Span[] = [];
  /** Names of the devices that the user selected, by selection. */
  readonly #names = new Map<string, string>();

  handle(event: BatchEvent): void {
    if (event.is !== 'end') return;
    const { result } = event;
    if (result.outcome === 'ok') this.#addDone(result);
    else if (result.outcome === 'error' && result.device !== undefined) {
      const { began = this.#began, seconds, job, device } = result;
      placeInRow(rowsOf(this.#jobs, device), [
        { kind: 'failed', job: job.name, begin: this.#since(began), seconds },
      ]);
    }
  }

  #since(milliseconds: number): number {
    return Math.max(0, (milliseconds - this.#began) / 1000);
  }

  #addDone(result: SucceededJob): void {
    const { job, device, report } = result;
    if (report.device) this.#names.set(device, deviceName(report.device.name));
    const spans = spansOf(result).map(({ began, ...span }) => {
      return { ...span, job: job.name, begin: this.#since(began) };
    });
    placeInRow(rowsOf(this.#jobs, device), fillGaps(spans, this.#since(result.began), result.seconds));
    const isOf = (...kinds: Kind[]) => spans.filter(({ kind }) => kinds.includes(kind));
    rowsOf(this.#sorts, device).push(...isOf('sort'));
    rowsOf(this.#buses, device).push(...isOf('upload', 'download'));
    this.#disk.push(...isOf('read', 'write', 'sync'));
  }

  tracks(): Track[] {
    const jobs = [...this.#jobs].map(([name, rows]) => ({ name, rows }));
    const all = jobs.flatMap(({ rows }) => rows.flat());
    const whole = lengthOf(all);
    const work = (name: string, spans: readonly Span[]): Track => {
      const rows: Span[][] = [];
      for (const span of spans.toSorted((a, b) => a.begin - b.begin)) placeInRow(rows, [span]);
      return { name, rows, busy: whole > 0 ? coveredSeconds(spans) / whole : 0 };
    };
    const names = [...this.#names.values()];
    const labelOf = (device: string): string => {
      const name = this.#names.get(device);
      if (name === undefined) return device;
      return names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} (${device})`;
    };
    return [
      ...jobs.map(({ name, rows }) => ({ name: `jobs on ${labelOf(name)}`, rows })),
      ...[...this.#sorts].map(([name, spans]) => work(labelOf(name), spans)),
      ...[...this.#buses].map(([name, spans]) => work(`${labelOf(name)}: transfers`, spans)),
      work('disk', this.#disk),
    ].filter(({ rows }) => rows.some((row) => row.length > 0));
  }
}

function rowsOf<T>(map: Map<string, T[]>, name: string): T[] {
  const rows = map.get(name) ?? [];
  map.set(name, rows);
  return rows;
}

type JobSpan = Omit<WorkSpan, 'kind'> & { readonly kind: Kind };

/** Returns the spans of a job in order; without a recorded sort, estimates them from the durations in its report. */
function spansOf({ spans, report, began }: SucceededJob): JobSpan[] {
  const recorded = spans.filter(({ seconds }) => seconds > 0).toSorted((a, b) => a.began - b.began);
  if (recorded.some(({ kind }) => kind === 'sort')) return recorded;
  let at = began;
  const lengths = [
    ['read', report.readSeconds],
    ['sort', report.seconds],
    ['write', report.writeSeconds],
  ] as const;
  const estimated = lengths.map(([kind, seconds]) => {
    const span = { kind, began: at, seconds };
    at += 1000 * seconds;
    return span;
  });
  return [
    ...estimated.filter(({ seconds }) => seconds > 0),
    ...recorded.filter((one) => one.began >= at - 1),
  ];
}

/** Fills the gaps between the spans of a job with spans of kind 'other'. */
function fillGaps(spans: readonly Span[], begin: number, seconds: number): Span[] {
  const all: Span[] = [];
  const job = spans[0]?.job ?? '';
  let at = begin;
  const fill = (until: number): void => {
    if (until - at > SLACK_SECONDS) all.push({ kind: 'other', job, begin: at, seconds: until - at });
  };
  for (const span of spans) {
    fill(span.begin);
    all.push(span);
    at = Math.max(at, endOf(span));
  }
  fill(begin + seconds);
  return all;
}

const endOf = ({ begin, seconds }: Span): number => begin + seconds;

/** Returns the time from the first start to the last end. */
function lengthOf(spans: readonly Span[]): number {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const span of spans) {
    first = Math.min(first, span.begin);
    last = Math.max(last, endOf(span));
  }
  return Math.max(0, last - first);
}

/** Returns the seconds covered by at least one span. */
function coveredSeconds(spans: readonly Span[]): number {
  let [sum, until] = [0, 0];
  for (const span of spans.toSorted((a, b) => a.begin - b.begin)) {
    const end = endOf(span);
    sum += Math.max(0, end - Math.max(until, span.begin));
    until = Math.max(until, end);
  }
  return sum;
}

/** Tolerance for the difference between the clocks of two processes. */
const SLACK_SECONDS = 0.002;

/** Adds spans to the first free row. */
function placeInRow(rows: Span[][], spans: readonly Span[]): void {
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
