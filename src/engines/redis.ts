/** Connection to Redis through two optional packages, with errors that do not reveal the password. */
import type { Redis } from 'ioredis';
import { IoError, UsageError } from '../util/errors.js';
import { optionalPackage } from '../util/optional-package.js';

/**
 * Parses the URL of Redis.
 *
 * @throws UsageError when it is invalid; the message omits the text, which may contain a password
 */
export function redisUrl(text: string): URL {
  try {
    const url = new URL(text);
    if (['redis:', 'rediss:'].includes(url.protocol) && url.hostname !== '') return url;
  } catch {
    // Its message would repeat the text.
  }
  throw new UsageError(
    'expected redis://HOST:PORT (with TLS: rediss://USER:PASSWORD@HOST:PORT) for --redis or CLSORT_REDIS_URL but got ' +
      'another URL',
  );
}

/** Formats the location of Redis without credentials. */
export const placeOf = ({ protocol, hostname, port }: URL): string =>
  `${protocol}//${hostname}:${port || '6379'}`;

/** Removes the password of a URL from a text, in encoded and decoded form. */
export function redact(text: string, { password }: URL): string {
  if (password === '') return text;
  let plain = password;
  try {
    plain = decodeURIComponent(password);
  } catch {
    // The password is not URL-encoded.
  }
  return text.replaceAll(password, '***').replaceAll(plain, '***');
}

/** Wraps an error of Redis. Keeps only the message, since clients attach the command, which may be AUTH. */
export const redisError = (error: unknown, url: URL): IoError =>
  new IoError(
    `cannot use Redis at ${placeOf(url)}: ${redact(error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code) : String(error), url)}`,
    { details: { redis: placeOf(url) } },
  );

/** @throws PackageError when a package is not installed */
const loadOptional = <T>(name: string, load: () => Promise<T>): Promise<T> =>
  optionalPackage(name, 'the engine bullmq', load, 'bullmq ioredis');

export const loadBullmq = (): Promise<typeof import('bullmq')> =>
  loadOptional('bullmq', () => import('bullmq'));
const loadRedis = () => loadOptional('ioredis', () => import('ioredis'));

/** Milliseconds to wait for the first answer. */
const CONNECT_MS = 20_000;
/** Milliseconds of silence after which a connection counts as broken. Blocking calls take 10 s at most. */
const SILENCE_MS = 30_000;
const MAX_WAIT_MS = 2000;

/** Receives a message when a connection is lost or restored. */
export type ConnectionListener = (message: string) => void;

/**
 * Connects to Redis, and reconnects whenever the connection is lost; commands wait meanwhile.
 *
 * @param url location and credentials
 * @param onLost receives a message when the connection is lost or restored
 * @throws IoError when there is no answer at first, or authentication fails
 * @throws PackageError when a package is not installed
 */
export async function connect(url: URL, onLost: ConnectionListener = () => undefined): Promise<Redis> {
  const { Redis } = await loadRedis();
  const client = new Redis(url.href, {
    maxRetriesPerRequest: null,
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    keepAlive: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    retryStrategy: (times) => Math.min(100 * times, MAX_WAIT_MS),
  });
  let last: unknown;
  let isUp = false;
  let isReported = false;
  client.on('error', (error) => {
    last = error;
  });
  client.on('ready', () => {
    if (isReported) onLost(`the connection to Redis at ${placeOf(url)} is restored`);
    isUp = true;
    isReported = false;
  });
  client.on('close', () => {
    if (!isUp || isReported || client.status === 'end') return;
    isReported = true;
    onLost(`the connection to Redis at ${placeOf(url)} is lost. Completed tasks are kept; waiting for Redis`);
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(last ?? new Error('no answer within 20 s')), CONNECT_MS);
    });
    late.catch(() => undefined);
    await Promise.race([client.connect().then(() => client.ping()), late]);
    return client;
  } catch (error) {
    client.disconnect();
    const closed = error instanceof Error && error.message === 'Connection is closed.';
    throw redisError(closed ? (last ?? error) : error, url);
  } finally {
    clearTimeout(timer);
  }
}
