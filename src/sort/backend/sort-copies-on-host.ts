import type { Device } from '../../device/device.js';
import { byteRange, copyBytes, newBytes } from '../../keys/array.js';
import { MismatchError } from '../../util/errors.js';
import { byteLengthOf, type Column, isOnDevice, type Place } from '../model/column.js';
import { type HostJob, isHostJob, type SortJob, valueBytesOf } from '../model/job.js';
import type { SortSettings } from '../model/options.js';
import type { Plan } from '../model/plan.js';
import type { CheckedTransfers } from '../transfer/checked-transfers.js';
import type { CopiedBuffer } from '../verification/checksum.js';
import type { PendingSort } from './backend.js';
import { completedSort, sortOnHost } from './host-backend.js';

/**
 * Sorts a job of a device on the host engine: copies in host memory. Waits for the transfers in both directions.
 *
 * @param transfers checks the transfers, if the job is verified
 * @throws MismatchError when a transfer changed the data
 */
export async function sortCopiesOnHost(
  device: Device,
  plan: Plan,
  job: SortJob,
  transfers: CheckedTransfers,
): Promise<PendingSort> {
  if (isHostJob(job)) return completedSort(await sortOnHost(plan, job));
  const { keys, settings, sorted, values, moved, segments } = job;
  const { queue } = device;
  const downloads: CopiedBuffer[] = [];
  const download = (place: Place, bytes: number): ArrayBufferView => {
    if (!isOnDevice(place)) return byteRange(place, 0, bytes);
    const view = newBytes(bytes);
    queue.read(place, view);
    downloads.push({ buffer: place, copy: view });
    return view;
  };
  const downloadColumn = (from: Column) => ({ ...from, place: download(from.place, byteLengthOf(from)) });
  const valueBytes = valueBytesOf(job);
  const host: HostJob = {
    keys: downloadColumn(keys),
    settings,
    ...(sorted && { sorted: newBytes(byteLengthOf(keys)) }),
    ...(values && { values: { ...values, place: download(values.place, valueBytes) } }),
    ...(moved && { moved: newBytes(valueBytes) }),
    ...(segments && { segments: { ...segments, offsets: downloadColumn(segments.offsets) } }),
  };
  await finishTransfers(device, settings, transfers, downloads);
  const outcome = await sortOnHost(plan, host);
  const uploads: CopiedBuffer[] = [];
  for (const [to, from] of [[sorted, host.sorted] as const, [moved, host.moved] as const]) {
    if (!to || !from) continue;
    if (isOnDevice(to)) {
      queue.write(to, from);
      uploads.push({ buffer: to, copy: from });
    } else copyBytes(from, to);
  }
  await finishTransfers(device, settings, transfers, uploads);
  return completedSort(outcome);
}

/**
 * Waits for transfers.
 *
 * @throws MismatchError when they are checked and differ
 */
async function finishTransfers(
  { queue }: Device,
  { timeout }: SortSettings,
  transfers: CheckedTransfers,
  copies: readonly CopiedBuffer[],
): Promise<void> {
  if (copies.length === 0) return;
  await transfers.watch(copies);
  await queue.finish(timeout);
  if (await transfers.same()) return;
  throw new MismatchError('cannot use the data: they changed in a transfer between host and device');
}
