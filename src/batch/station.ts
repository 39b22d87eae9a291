/** A device of a batch, through all the processes that work on it: one that ends is started again. */
import { setTimeout as delay } from 'node:timers/promises';
import { NoDeviceError, NoLoaderError, NoPlatformError } from '../util/errors.js';
import { isWorthAnother } from './failures.js';
import { Lane, type LaneFacts, type LaneHooks, type OpenLane, type RunningLane } from './lane.js';
import type { Entry } from './queue.js';

/** How often a device is opened again in a row before it is given up. */
const TRIES = 3;
const BETWEEN_MS = 200;

const isAbsent = (error: unknown): boolean =>
  [NoLoaderError, NoPlatformError, NoDeviceError].some((type) => error instanceof type);

export class Station {
  readonly device: string;
  /** Whether it does jobs that name no device. */
  readonly shares: boolean;
  readonly running = new Set<Entry>();
  readonly #facts: LaneFacts;
  readonly #hooks: Omit<LaneHooks, 'onLost'>;
  readonly #onChange: (is: 'opened' | 'lost' | 'gone', error?: Error) => void;
  readonly #openLane: OpenLane;
  #lane: RunningLane | undefined;
  #isClosed = false;
  #isGone = false;

  constructor(
    { shares, ...facts }: LaneFacts & Pick<Station, 'shares'>,
    hooks: Omit<LaneHooks, 'onLost'>,
    onChange: (is: 'opened' | 'lost' | 'gone', error?: Error) => void,
    openLane: OpenLane = Lane.open,
  ) {
    this.device = facts.device;
    this.#facts = facts;
    this.shares = shares;
    this.#hooks = hooks;
    this.#onChange = onChange;
    this.#openLane = openLane;
  }

  /** The process, while there is one to give jobs to. */
  get lane(): RunningLane | undefined {
    return this.#lane;
  }

  /** Whether it works, or will again. */
  get isAlive(): boolean {
    return !this.#isGone;
  }

  /** @throws NoDeviceError and the like */
  async open(): Promise<void> {
    const onLost = (): void => {
      this.#lane = undefined;
      if (this.#isClosed) return;
      this.#onChange('lost');
      void this.start();
    };
    const lane = await this.#openLane(this.#facts, { ...this.#hooks, onLost });
    if (this.#isClosed) lane.kill();
    else this.#lane = lane;
    this.#onChange('opened');
  }

  /** Opens the device for the first time, once more where that may help. @throws NoDeviceError and the like */
  async openFirst(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.open();
      } catch (error) {
        if (tries === TRIES || this.#isClosed || isAbsent(error) || !isWorthAnother(error)) throw error;
        await delay(BETWEEN_MS);
      }
    }
  }

  /** Opens the device, which is given up after some tries. */
  async start(): Promise<void> {
    for (let tries = 1; !this.#isClosed; tries++) {
      try {
        return await this.open();
      } catch (error) {
        if (tries < TRIES) await delay(BETWEEN_MS);
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
    this.#lane?.kill();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lane?.close();
  }
}
