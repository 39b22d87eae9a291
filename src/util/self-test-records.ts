/** What self-tests of kernels have found, kept on disk. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCache, writeCacheFile } from './cache.js';
import { packageFolder } from './package.js';

/** What the self-test of a variant found: it may be used, or why not. */
export interface SelfTestRecord {
  readonly ok: boolean;
  readonly reason?: string;
  /** Day of the test, ISO. */
  readonly date: string;
}

/** What a certificate is for: platform, device and driver first, in words. */
export type SelfTestKey = readonly [
  platform: string,
  device: string,
  driver: string,
  ...variant: (string | number)[],
];

let hash: string | undefined;

/** Changes with every kernel and with the package, so that an old certificate never serves new code. */
function sourceHash(): string {
  if (hash === undefined) {
    const sum = createHash('sha256');
    const folder = join(packageFolder(), 'cl');
    for (const file of readdirSync(folder).toSorted()) sum.update(readFileSync(join(folder, file)));
    sum.update(readFileSync(join(packageFolder(), 'package.json')));
    hash = sum.digest('hex').slice(0, 16);
  }
  return hash;
}

const keyOf = ([platform, device, driver, ...variant]: SelfTestKey): string =>
  [platform, device, driver, sourceHash(), ...variant].join(' | ');

/** A file for each variant: processes that test different variants at once lose nothing of each other's. */
const fileOf = (key: string): string =>
  `self-tests/${createHash('sha256').update(key).digest('hex').slice(0, 32)}.sealed`;

/** Verdicts that could not be written to the cache. */
const unwrittenRecords = new Map<string, SelfTestRecord>();

/** @returns undefined where nothing is kept */
export function readSelfTestRecord(parts: SelfTestKey): SelfTestRecord | undefined {
  const key = keyOf(parts);
  const { variant, ...stored } = readCache(fileOf(key)) as Partial<SelfTestRecord> & { variant?: string };
  return variant === key && typeof stored.ok === 'boolean'
    ? (stored as SelfTestRecord)
    : unwrittenRecords.get(key);
}

/** Keeps a verdict, for this process at least. @param reason why a variant must not be used; none if it may */
export function storeSelfTestRecord(parts: SelfTestKey, reason: string | undefined): SelfTestRecord {
  const key = keyOf(parts);
  const record: SelfTestRecord = {
    ok: reason === undefined,
    ...(reason !== undefined && { reason }),
    date: new Date().toISOString().slice(0, 10),
  };
  const text = `${JSON.stringify({ variant: key, ...record })}\n`;
  if (!writeCacheFile(fileOf(key), text)) unwrittenRecords.set(key, record);
  return record;
}
