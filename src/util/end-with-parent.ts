/** For processes that run code which may hang or crash: drivers. */
import { writeFileSync } from 'node:fs';

/**
 * Ends this process, which was started with an IPC channel, when its parent ends. Call it on a thread that nothing
 * blocks.
 */
export function endWithParent(): void {
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  process.once('disconnect', end);
  if (!process.connected) end(); // the parent ended before the listener was added
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000'); // if memory runs out, the parent should survive
  } catch {
    // Not every system has this file.
  }
}
