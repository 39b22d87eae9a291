import type { DeviceInfo } from './platform.js';

/** Families of devices that one tuning suits, by the name that the driver gives a device. */
const ARCHITECTURES: readonly (readonly [RegExp, string])[] = [
  [/\b(GH200|H100|H200|H800|H20)\b/, 'hopper'],
  [/\b(A100|A800|A30|A40|A10|RTX A\d{4}|RTX 30\d0)\b/, 'ampere'],
  [/\b(L4|L40S?|RTX 40\d0)\b/, 'ada'],
  [/\bgfx9\d\w+/, 'gcn'],
  [/\bgfx1\d{3}/, 'rdna'],
];

/** Architecture of a device, `other` where none is known. */
export function architectureOf({ name }: DeviceInfo): string {
  return ARCHITECTURES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
}
