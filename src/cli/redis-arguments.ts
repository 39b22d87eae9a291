/** Parsers for the Redis options. */
import { assertQueue } from '../engines/queue-names.js';
import { redisUrl } from '../engines/redis.js';
import { missingOption } from './option-errors.js';
import type { RedisArguments } from './options/engine.js';

/** Environment variable with the URL of Redis, which keeps it out of the command line that others can see. */
const VARIABLE = 'CLSORT_REDIS_URL';

/**
 * Returns the URL of Redis; undefined when neither the option nor the variable is set.
 *
 * @throws UsageError when the URL or the name of the queue is invalid
 */
export function readRedis({ redis, queue }: RedisArguments): URL | undefined {
  assertQueue(queue);
  const text = redis ?? process.env[VARIABLE];
  return text === undefined || text === '' ? undefined : redisUrl(text);
}

/**
 * Returns the URL of Redis.
 *
 * @throws UsageError when neither the option nor the variable is set
 */
export function expectRedis(args: RedisArguments): URL {
  const url = readRedis(args);
  if (url) return url;
  throw missingOption('connect to Redis', '--redis', `Pass --redis redis://HOST:PORT, or set ${VARIABLE}`);
}
