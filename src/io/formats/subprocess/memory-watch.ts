import { readFileSync } from 'node:fs';

/** Milliseconds between two checks: memory grows fast, and a check is a read of a small file. */
const POLL_MS = 50;

/** Polls the memory usage of a process. */
export interface MemoryWatch {
  /** Whether the limit was exceeded. */
  readonly isExceeded: boolean;
  stop(): void;
}

/** Returns the resident memory of a process in bytes; undefined if the system does not report it. */
export function residentBytes(pid: number): number | undefined {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

/**
 * Calls `onExceeded` once when the resident memory of a process exceeds `bytes`. Does nothing if the system does not
 * report it.
 */
export function watchMemory(pid: number | undefined, bytes: number, onExceeded: () => void): MemoryWatch {
  const watch = { isExceeded: false, stop: () => clearInterval(timer) };
  const timer = setInterval(() => {
    if (pid === undefined || (residentBytes(pid) ?? 0) <= bytes) return;
    watch.isExceeded = true;
    watch.stop();
    onExceeded();
  }, POLL_MS);
  timer.unref();
  return watch;
}
