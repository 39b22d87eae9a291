/** A Redis server for one test. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { Redis } from 'ioredis';
import { where } from '../where.js';

const SERVER = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

export class RedisServer {
  readonly port: number;
  readonly #password: string | undefined;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, password: string | undefined, folder: string) {
    this.port = port;
    this.#password = password;
    this.#folder = folder;
  }

  /** @param folder working folder of the server, which stores nothing */
  static async start(folder: string, password?: string): Promise<RedisServer> {
    for (let tries = 0; tries < 5; tries++) {
      // Another process may have taken the port meanwhile.
      const server = new RedisServer(await freePort(), password, folder);
      if (await server.run()) return server;
    }
    throw new Error(`${SERVER} does not start`);
  }

  get url(): string {
    const user = this.#password === undefined ? '' : `:${encodeURIComponent(this.#password)}@`;
    return `redis://${user}127.0.0.1:${this.port}`;
  }

  /** @returns whether it answers */
  async run(): Promise<boolean> {
    const password = this.#password === undefined ? [] : ['--requirepass', this.#password];
    this.#process = spawn(
      SERVER ?? '',
      ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...password],
      { cwd: this.#folder, stdio: 'ignore' },
    );
    let isOver = false;
    this.#process.once('exit', () => {
      isOver = true;
    });
    const client = new Redis(this.url, {
      lazyConnect: true,
      retryStrategy: (times) => (isOver || times > 300 ? null : 100),
    });
    client.on('error', () => undefined);
    try {
      while (!isOver) {
        const answer = await client.ping().catch(() => undefined);
        if (answer === 'PONG') return true;
        await delay(50);
      }
      return false;
    } finally {
      client.disconnect();
    }
  }

  /** Kills the server: all its data is lost. */
  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** A client. The caller disconnects it. */
  client(): Redis {
    const client = new Redis(this.url);
    client.on('error', () => undefined);
    return client;
  }
}

/**
 * Declares a test that needs Redis. Without Redis it is a skip with that reason; with `CLSORT_REQUIRE_REDIS=1`, as in
 * CI, it fails.
 */
export function testWithRedis(title: string, body: (t: ExecutionContext) => Promise<void>): void {
  if (!SERVER && process.env.CLSORT_REQUIRE_REDIS === '1') test(title, (t) => t.fail('no redis-server'));
  else where(SERVER !== undefined, 'no redis-server here', test.serial)(title, body);
}
