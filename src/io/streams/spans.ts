import type { ThreadSeconds } from '../../device/memory/staging.js';

/** A timed span of a job. */
export interface WorkSpan {
  /** `wait` is for the device; `sync` lasts until the result is on disk under its final name. */
  readonly kind: 'read' | 'wait' | 'upload' | 'sort' | 'download' | 'write' | 'sync' | 'checksum';
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly seconds: number;
  /** Seconds that the transfer threads spent between file and device. */
  readonly threads?: ThreadSeconds;
}

export type OnSpan = (span: WorkSpan) => void;

/** Returns the time in milliseconds since 1970, at the resolution of the clock. */
export const now = (): number => performance.timeOrigin + performance.now();

/** Measures `move` as `measureSpan` does, and includes the seconds of its transfer threads. */
export async function measureMove(
  kind: 'read' | 'write',
  onSpan: OnSpan | undefined,
  move: () => Promise<ThreadSeconds | undefined>,
): Promise<void> {
  const began = now();
  const threads = await move();
  onSpan?.({ kind, began, seconds: (now() - began) / 1000, ...(threads && { threads }) });
}

/** Returns the result of `work` and reports its duration. */
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

/** Returns the result of `work` and its duration. */
export async function measure<T>(work: () => Promise<T>): Promise<[result: T, seconds: number]> {
  const started = performance.now();
  const result = await work();
  return [result, (performance.now() - started) / 1000];
}
