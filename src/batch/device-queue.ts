/** A device of a batch, across the worker processes that serve it: a process that ends is restarted. */
import { setTimeout as delay } from 'node:timers/promises';
import { NoDeviceError, NoLoaderError, NoPlatformError } from '../util/errors.js';
import { isRetryable } from './failures.js';
import type { Entry } from './job-queue.js';
import { openWorker as openAnyWorker } from './local-worker.js';
import type { OpenWorker, RunningWorker, WorkerHooks, WorkerOptions } from './worker-process.js';

/**
 * Maximum number of consecutive attempts to open a device, and milliseconds between them: a crashed driver may need
 * a moment.
 */
const MAX_TRIES = 3;
const RETRY_DELAY_MS = 200;

const isDeviceMissing = (error: unknown): boolean =>
  [NoLoaderError, NoPlatformError, NoDeviceError].some((type) => error instanceof type);

export class DeviceQueue {
  readonly device: string;
  /** Whether it accepts jobs without a device. */
  readonly shares: boolean;
  readonly running = new Set<Entry>();
  readonly #options: WorkerOptions;
  readonly #hooks: Omit<WorkerHooks, 'onLost'>;
  readonly #onChange: (is: 'opened' | 'lost' | 'gone', error?: Error) => void;
  readonly #openWorker: OpenWorker;
  #worker: RunningWorker | undefined;
  #isClosed = false;
  #isGone = false;

  constructor(
    { shares, ...options }: WorkerOptions & Pick<DeviceQueue, 'shares'>,
    hooks: Omit<WorkerHooks, 'onLost'>,
    onChange: (is: 'opened' | 'lost' | 'gone', error?: Error) => void,
    openWorker: OpenWorker = openAnyWorker,
  ) {
    this.device = options.device;
    this.#options = options;
    this.shares = shares;
    this.#hooks = hooks;
    this.#onChange = onChange;
    this.#openWorker = openWorker;
  }

  /** The worker process, while it accepts jobs. */
  get worker(): RunningWorker | undefined {
    return this.#worker;
  }

  /** Whether the device works or is being reopened. */
  get isAlive(): boolean {
    return !this.#isGone;
  }

  /** @throws NoDeviceError (or a similar error) when the device cannot be opened */
  async open(): Promise<void> {
    const onLost = (): void => {
      this.#worker = undefined;
      if (this.#isClosed) return;
      this.#onChange('lost');
      void this.start();
    };
    const worker = await this.#openWorker(this.#options, { ...this.#hooks, onLost });
    if (this.#isClosed) worker.kill();
    else this.#worker = worker;
    this.#onChange('opened');
  }

  /**
   * Opens the device for the first time; retries errors that may be temporary.
   *
   * @throws NoDeviceError (or a similar error) when the device cannot be opened
   */
  async openFirst(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.open();
      } catch (error) {
        if (tries === MAX_TRIES || this.#isClosed || isDeviceMissing(error) || !isRetryable(error))
          throw error;
        await delay(RETRY_DELAY_MS);
      }
    }
  }

  /** Reopens the device, up to `MAX_TRIES` times. */
  async start(): Promise<void> {
    for (let tries = 1; !this.#isClosed; tries++) {
      try {
        return await this.open();
      } catch (error) {
        if (tries < MAX_TRIES) await delay(RETRY_DELAY_MS);
        else {
          this.#isGone = true;
          return this.#onChange('gone', error as Error);
        }
      }
    }
  }

  /** Kills the worker process. */
  kill(): void {
    this.#isClosed = true;
    this.#worker?.kill();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.close();
  }
}
