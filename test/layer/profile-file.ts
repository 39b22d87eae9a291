/** Profiles in the form in which the layer reads them: `Profile` in layer.cc. */
import type { DeviceType } from '../../src/device/platform/platform.js';
import { type Answer, constantNamed, type Profile } from '../device/profiles.js';

const TYPES: Readonly<Record<DeviceType, bigint>> = { cpu: 2n, gpu: 4n, accelerator: 8n, other: 1n };

/** Answers of type size_t or cl_ulong; other numbers have 32 bits. */
const WIDE = new Set([
  'DEVICE_MAX_WORK_GROUP_SIZE',
  'DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE',
  'DEVICE_LOCAL_MEM_SIZE',
  'DEVICE_GLOBAL_MEM_SIZE',
  'DEVICE_MAX_MEM_ALLOC_SIZE',
  'DEVICE_ATOMIC_MEMORY_CAPABILITIES',
]);

/** The bytes that the driver writes. */
function bytesOf(name: string, answer: Answer): Buffer {
  const words = (...numbers: (number | bigint)[]) => Buffer.from(BigUint64Array.from(numbers, BigInt).buffer);
  if (name === 'DEVICE_TYPE') return words(TYPES[answer as DeviceType]);
  if (typeof answer === 'string') return Buffer.from(`${answer}\0`, 'latin1');
  if (Array.isArray(answer)) return words(...answer);
  if (WIDE.has(name)) return words(Number(answer));
  return Buffer.from(Uint32Array.of(Number(answer)).buffer);
}

/** @returns the text of the file for CLSORT_LAYER_PROFILE */
export function profileFile({ platform, device, limits }: Profile): string {
  const lines = Object.entries({ ...platform, ...device }).map(
    ([name, answer]) => `0x${constantNamed(name).toString(16)} ${bytesOf(name, answer).toString('hex')}`,
  );
  lines.push(`group ${device.DEVICE_MAX_WORK_GROUP_SIZE}`, `local ${limits.groupLocalBytes}`);
  return `${lines.join('\n')}\n`;
}
