/** A device of a batch, through all the processes that work on it: one that ends is started again. */
import { setTimeout as delay } from 'node:timers/promises';
import { NoDeviceError, NoLoaderError, NoPlatformError } from '../util/errors.js';
import { isRetryable } from './failures.js';
import type { Entry } from './job-queue.js';
import {
  type OpenWorker,
  type RunningWorker,
  type WorkerHooks,
  type WorkerOptions,
  WorkerProcess,
} from './worker-process.js';

/** How often a device is opened again in a row before it is given up. */
const MAX_TRIES = 3;
const RETRY_DELAY_MS = 200;

const isDeviceMissing = (error: unknown): boolean =>
  [NoLoaderError, NoPlatformError, NoDeviceError].some((type) => error instanceof type);

export class DeviceQueue {
  readonly device: string;
  /** Whether it does jobs that name no device. */
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
    openWorker: OpenWorker = WorkerProcess.open,
  ) {
    this.device = options.device;
    this.#options = options;
    this.shares = shares;
    this.#hooks = hooks;
    this.#onChange = onChange;
    this.#openWorker = openWorker;
  }

  /** The process, while there is one to give jobs to. */
  get worker(): RunningWorker | undefined {
    return this.#worker;
  }

  /** Whether it works, or will again. */
  get isAlive(): boolean {
    return !this.#isGone;
  }

  /** @throws NoDeviceError and the like */
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

  /** Opens the device for the first time, once more where that may help. @throws NoDeviceError and the like */
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

  /** Opens the device, which is given up after some tries. */
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

  /** Ends the process at once. */
  kill(): void {
    this.#isClosed = true;
    this.#worker?.kill();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.close();
  }
}
