import { readFileSync } from 'node:fs';

/** Milliseconds between two looks. */
const POLL_MS = 50;

/** Looks at the memory of a process from time to time. */
export interface MemoryWatch {
  /** Whether it took too much. */
  readonly isExceeded: boolean;
  stop(): void;
}

/** Resident bytes of a process; undefined where the system does not tell. */
export function residentBytes(pid: number): number | undefined {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

/** Calls `onExceeded` once when a process takes more than so many resident bytes, where the system tells. */
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
