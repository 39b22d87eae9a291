/** Records of the self-tests of kernels, kept on disk. */
import { createHash } from 'node:crypto';
import { readCache, writeCacheFile } from './cache.js';
import { packageNames, packageText } from './package.js';

/** Result of the self-test of a variant: it may be used, or the reason why not. */
export interface SelfTestRecord {
  readonly ok: boolean;
  readonly reason?: string;
  /** Whether the stress rounds are still due, which run after the first use. */
  readonly stressIsDue?: true;
  /** Facts that the test found out. */
  readonly found?: Readonly<Record<string, number | boolean>>;
  /** Date of the test, ISO. */
  readonly date: string;
}

/** Subject of a self-test record: the names of platform, device and driver, then the variant. */
export type SelfTestKey = readonly [
  platform: string,
  device: string,
  driver: string,
  ...variant: (string | number)[],
];

let hash: string | undefined;

/** Returns a hash of all kernels and of package.json, so that an old record never applies to new code. */
function sourceHash(): string {
  if (hash === undefined) {
    const sum = createHash('sha256');
    for (const file of packageNames('cl')) sum.update(packageText('cl', file));
    sum.update(packageText('package.json'));
    hash = sum.digest('hex').slice(0, 16);
  }
  return hash;
}

const keyOf = ([platform, device, driver, ...variant]: SelfTestKey): string =>
  [platform, device, driver, sourceHash(), ...variant].join(' | ');

/** Returns the file of a variant. Each variant has its own, so that concurrent processes keep each other's records. */
const fileOf = (key: string): string =>
  `self-tests/${createHash('sha256').update(key).digest('hex').slice(0, 32)}.sealed`;

/** Records that could not be written to the cache. */
const unwrittenRecords = new Map<string, SelfTestRecord>();

/** @returns undefined if there is no record */
export function readSelfTestRecord(parts: SelfTestKey): SelfTestRecord | undefined {
  const key = keyOf(parts);
  const { variant, ...stored } = readCache(fileOf(key)) as Partial<SelfTestRecord> & { variant?: string };
  return variant === key && typeof stored.ok === 'boolean'
    ? (stored as SelfTestRecord)
    : unwrittenRecords.get(key);
}

/**
 * Stores a record, at least for this process.
 *
 * @param reason why the variant must not be used; undefined if it may be used
 * @param options `found`: facts that the test found out; `stressIsDue`: whether the stress rounds are still due
 */
export function storeSelfTestRecord(
  parts: SelfTestKey,
  reason: string | undefined,
  { found, stressIsDue = false }: { found?: SelfTestRecord['found']; stressIsDue?: boolean } = {},
): SelfTestRecord {
  const key = keyOf(parts);
  const record: SelfTestRecord = {
    ok: reason === undefined,
    ...(reason !== undefined && { reason }),
    ...(found && { found }),
    ...(stressIsDue && { stressIsDue }),
    date: new Date().toISOString().slice(0, 10),
  };
  const text = `${JSON.stringify({ variant: key, ...record })}\n`;
  if (!writeCacheFile(fileOf(key), text)) unwrittenRecords.set(key, record);
  return record;
}
