import { findDevices } from '../../../src/device/platform/platform.js';
import { SorterOperations } from '../../../src/sort/api/sorter-operations.js';
import { DeviceSession } from '../../../src/sort/backend/device-session.js';
import { DeviceGroup } from '../../../src/sort/multi-device/device-group.js';
import { DeviceWorker } from '../../../src/sort/multi-device/device-worker.js';
import type { ClsortError } from '../../../src/util/errors.js';

/** A worker that behaves like a device with dedicated memory. */
export class SeparateWorker extends DeviceWorker {
  override get overlapsTransfers(): boolean {
    return true;
  }
}

/** Opens all devices as ones with dedicated memory, and a sorter that uses them. */
export async function separateGroup(
  onWarning: (warning: ClsortError) => void,
): Promise<{ workers: SeparateWorker[]; sorter: SorterOperations }> {
  const sessions: DeviceSession[] = [];
  for (const { info } of findDevices()) sessions.push(await DeviceSession.open(info.id, {}, onWarning));
  const workers = sessions.map((session) => new SeparateWorker(session, onWarning));
  const group = new DeviceGroup(workers, onWarning);
  return { workers, sorter: new SorterOperations(sessions[0] as DeviceSession, onWarning, undefined, group) };
}
