/** For processes that do what may hang or end them: drivers. */
import { writeFileSync } from 'node:fs';

/**
 * Ends this process, which was started with an IPC channel, with the one that started it. To be called on a thread
 * that nothing holds up.
 */
export function endWithParent(): void {
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  process.once('disconnect', end);
  if (!process.connected) end(); // the parent ended before anybody could hear of it
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000'); // where memory runs out, the parent is to stay
  } catch {
    // Not every system has it.
  }
}
