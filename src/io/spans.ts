import type { ThreadSeconds } from '../device/staging.js';

/** What a stretch of a job's time was spent on. */
export interface WorkSpan {
  /** `wait` for the turn on the device; `sync`: until the result is on the disk, under its name. */
  readonly kind: 'read' | 'wait' | 'upload' | 'sort' | 'download' | 'write' | 'sync' | 'checksum';
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly seconds: number;
  /** What the threads did that moved a file between its disk and the device. */
  readonly threads?: ThreadSeconds;
}

export type OnSpan = (span: WorkSpan) => void;

/** Now, in milliseconds since 1970, as finely as the clock tells. */
export const now = (): number => performance.timeOrigin + performance.now();

/** As `spanned`, of files that are moved by threads, where they are: tells what these did. */
export async function measureMove(
  kind: 'read' | 'write',
  onSpan: OnSpan | undefined,
  move: () => Promise<ThreadSeconds | undefined>,
): Promise<void> {
  const began = now();
  const threads = await move();
  onSpan?.({ kind, began, seconds: (now() - began) / 1000, ...(threads && { threads }) });
}

/** What `work` gives; tells how long it took. */
export async function measureSpan<T>(
  kind: WorkSpan['kind'],
  onSpan: OnSpan | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const began = now();
  try {
    return await work();
  } finally {
    onSpan?.({ kind, began, seconds: (now() - began) / 1000 });
  }
}
