/** For processes that run code which may hang or crash: drivers. */
import { writeFileSync } from 'node:fs';
import { onAddonLoad } from './addon-load.js';

/**
 * Ends this process, which was started with an IPC channel, when its parent ends. On Linux this holds even while the
 * addon blocks the main thread.
 */
export function endWithParent(): void {
  const parent = process.ppid;
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  process.once('disconnect', end);
  process.channel?.unref(); // the listener must not keep the process alive
  if (!process.connected) end(); // the parent ended before the listener was added
  onAddonLoad((addon) => addon.endWithParent(parent));
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000'); // if memory runs out, the parent should survive
  } catch {
    // Not every system has this file.
  }
}
