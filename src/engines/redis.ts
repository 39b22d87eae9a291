/** Redis, by two packages that users install: how it is reached, and errors that tell no password. */
import type { Redis } from 'ioredis';
import { IoError, UsageError } from '../util/errors.js';
import { optionalPackage } from '../util/optional-package.js';

/** Where Redis is. @throws UsageError, which does not repeat what was said: it may hold a password */
export function redisUrl(text: string): URL {
  try {
    const url = new URL(text);
    if (['redis:', 'rediss:'].includes(url.protocol) && url.hostname !== '') return url;
  } catch {
    // Its message would repeat the text.
  }
  throw new UsageError(
    'the URL of Redis is wrong: expected redis://HOST:PORT, or rediss://USER:PASSWORD@HOST:PORT for TLS, in --redis or ' +
      'CLSORT_REDIS_URL',
  );
}

/** Where Redis is, for people. */
export const placeOf = ({ protocol, hostname, port }: URL): string =>
  `${protocol}//${hostname}:${port || '6379'}`;

/** A text without the password of a URL, in whichever form. */
export function redact(text: string, { password }: URL): string {
  if (password === '') return text;
  let plain = password;
  try {
    plain = decodeURIComponent(password);
  } catch {
    // It is no encoded text, and is used as it is.
  }
  return text.replaceAll(password, '***').replaceAll(plain, '***');
}

/** An error of Redis as ours: only its text is kept, since clients put the command into their errors, AUTH among them. */
export const redisError = (error: unknown, url: URL): IoError =>
  new IoError(
    `Redis at ${placeOf(url)} does not answer as it should: ${redact(error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code) : String(error), url)}`,
    { details: { redis: placeOf(url) } },
  );

/** @throws PackageError where a package is not installed */
const loadOptional = <T>(name: string, load: () => Promise<T>): Promise<T> =>
  optionalPackage(name, 'the engine bullmq', load, 'bullmq ioredis');

export const loadBullmq = (): Promise<typeof import('bullmq')> =>
  loadOptional('bullmq', () => import('bullmq'));
const loadRedis = () => loadOptional('ioredis', () => import('ioredis'));

/** How long one waits for the first answer. */
const CONNECT_MS = 20_000;
/** Nobody waits longer for an answer: a cable that was cut tells nothing. Blocking calls take 10 s at most. */
const SILENCE_MS = 30_000;
const MAX_WAIT_MS = 2000;

/** Hears that a connection is gone, and that it is there again. */
export type ConnectionListener = (message: string) => void;

/**
 * Connects, and connects again whenever the connection is lost: what is asked meanwhile waits.
 *
 * @throws IoError when there is no answer at first, or the password is refused; PackageError without the packages
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
    if (isReported) onLost(`Redis at ${placeOf(url)} is there again`);
    isUp = true;
    isReported = false;
  });
  client.on('close', () => {
    if (!isUp || isReported || client.status === 'end') return;
    isReported = true;
    onLost(`the connection to Redis at ${placeOf(url)} is lost: waiting for it; what is done is kept`);
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
