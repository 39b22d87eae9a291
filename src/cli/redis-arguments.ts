/** How the options of engines are read. */
import { assertQueue } from '../engines/queue-names.js';
import { redisUrl } from '../engines/redis.js';
import { UsageError } from '../util/errors.js';
import type { RedisArguments } from './options/engine.js';

/** The variable that has the URL of Redis: a command line may be seen by others. */
const VARIABLE = 'CLSORT_REDIS_URL';

/** Where Redis is; undefined where nobody has said. @throws UsageError */
export function readRedis({ redis, queue }: RedisArguments): URL | undefined {
  assertQueue(queue);
  const text = redis ?? process.env[VARIABLE];
  return text === undefined || text === '' ? undefined : redisUrl(text);
}

/** @throws UsageError where nobody has said */
export function expectRedis(args: RedisArguments): URL {
  const url = readRedis(args);
  if (url) return url;
  throw new UsageError(`where is Redis? Say it in ${VARIABLE}, or by --redis redis://HOST:PORT`);
}
