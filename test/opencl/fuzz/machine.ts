import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { markAsUntransferable } from 'node:worker_threads';
import * as host from '../../../src/native-host/host-functions.js';
import * as cl from '../../../src/opencl/index.js';
import type { Argument, Program, Step, Trap } from './program.js';

/** The exception that a trap or a callback of a program throws; not a fault of the binding. */
export class OnPurpose extends Error {}

/** A property that does not hold. */
export class Violation extends Error {}

type Function = (...values: never[]) => unknown;

/** Methods of handles; the handle is the first argument. */
const METHODS: Readonly<Record<string, Function>> = {
  'kernel.signature': (kernel: cl.Kernel) => (kernel instanceof cl.Kernel ? kernel.signature : undefined),
  'handle.equals': (handle: cl.Event, other: unknown) => isHandle(handle) && handle.equals(other),
  'kernel.call': (
    kernel: cl.Kernel,
    queue: cl.CommandQueue,
    global: number,
    local: number,
    args: number[],
  ) => (kernel instanceof cl.Kernel ? kernel.call(queue, global, local, ...args) : undefined),
};
const FUNCTIONS: ReadonlyMap<string, unknown> = new Map(Object.entries({ ...cl, ...host, ...METHODS }));

/** Calls that wait for commands on this thread: with an open user event they wait for ever. */
const WAITS = new Set(['finish', 'waitForEvents', 'releaseCommandQueue']);
/** Calls that wait when the argument at this place is true. */
const WAITS_IF: Readonly<Record<string, number>> = {
  enqueueReadBuffer: 2,
  enqueueWriteBuffer: 2,
  enqueueReadBufferRect: 2,
  enqueueWriteBufferRect: 2,
  enqueueReadImage: 2,
  enqueueWriteImage: 2,
  enqueueMapBuffer: 2,
  enqueueMapImage: 2,
  enqueueSVMMemcpy: 1,
  enqueueSVMMap: 1,
  enqueueMemcpyINTEL: 1,
};

/** Time limit for promises and callbacks after the last user event was completed. */
const SETTLE_MILLISECONDS = 20_000;

const isCoded = (error: unknown): boolean =>
  error instanceof OnPurpose ||
  (error instanceof Error && ['number', 'string'].includes(typeof (error as { code?: unknown }).code));

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/**
 * Runs programs against the binding, and holds the objects of a program: results of its steps, open user events
 * ("gates"), and pending promises and callbacks.
 */
export class Machine {
  readonly #results = new Map<number, unknown>();
  readonly #openUserEvents = new Set<cl.Event>();
  readonly #queues: cl.CommandQueue[] = [];
  readonly #promises = new Map<Step, Promise<void>>();
  readonly #expected = new Map<number, number>();
  readonly #platform: cl.Platform;
  readonly #report: (step: Step) => void;
  readonly #copies: boolean;
  #violation: Violation | undefined;
  /** The program did something that may make later commands fail: a failed user event or lost memory. */
  #unsound = false;
  /** Calls that succeeded and calls that threw, for the statistics. */
  succeeded = 0;
  refused = 0;

  /**
   * @param platform result of `$platform`, whose first device is that of `$device`
   * @param report called before each step, so that the last one before a crash is known
   * @param copies mapped memory is copied, so that maps always block
   */
  constructor(platform: cl.Platform, report: (step: Step) => void, copies = false) {
    this.#platform = platform;
    this.#report = report;
    this.#copies = copies;
  }

  /**
   * Runs the steps whose ids are in a range.
   * @throws Violation
   */
  async run(program: Program, from = 0, to = Number.POSITIVE_INFINITY): Promise<void> {
    for (const step of program.steps) {
      if (step.id < from) continue;
      if (step.id >= to) return;
      const returned = this.#step(step);
      if (step.call.startsWith('$')) await returned;
      if (this.#violation) throw this.#violation;
    }
  }

  /**
   * Completes all user events, and waits for every promise and callback.
   * @throws Violation
   */
  async settle(): Promise<void> {
    const end = performance.now() + SETTLE_MILLISECONDS;
    await this.#allPromises();
    while (this.#expected.size > 0 && performance.now() < end) await sleep(2);
    if (this.#violation) throw this.#violation;
    const [missing] = this.#expected.keys();
    if (missing !== undefined) throw new Violation(`the callback of s${missing} never came`);
    this.#results.clear();
  }

  async #allPromises(): Promise<void> {
    this.#open();
    while (this.#promises.size > 0) {
      const inTime = Promise.all(this.#promises.values()).then(() => true);
      if (await Promise.race([inTime, sleep(SETTLE_MILLISECONDS, false, { ref: false })])) continue;
      const [step] = this.#promises.keys();
      throw new Violation(`the promise of s${step?.id} ${step?.call} never settled`);
    }
  }

  #step(step: Step): unknown {
    this.#report(step);
    if (step.call === '$detach' || step.call === '$transfer') this.#unsound = true;
    const own = OWN[step.call];
    const values = step.arguments.map((argument) => this.#value(argument, step.id));
    if (own) {
      // Actions of a program on its own memory may fail, such as detaching twice.
      try {
        const returned = own.call(this, ...(values as never[]));
        this.#results.set(step.id, returned);
        return returned instanceof Promise ? returned.catch((error) => this.#own(step, error)) : undefined;
      } catch (error) {
        return this.#own(step, error);
      }
    }
    this.#beforeWait(step.call, values);
    try {
      const call = FUNCTIONS.get(step.call) as Function;
      this.#returned(step, values, call(...(values as never[])));
      this.succeeded++;
    } catch (error) {
      this.refused++;
      this.#expected.delete(step.id);
      if (!isCoded(error))
        this.#violate(`s${step.id} ${step.call} threw ${describe(error)}, which has no code`);
    }
    return undefined;
  }

  #own(step: Step, error: unknown): void {
    if (error instanceof Violation) this.#violate(`s${step.id} ${step.call}: ${error.message}`);
  }

  #violate(message: string): void {
    this.#violation ??= new Violation(message);
  }

  #returned(step: Step, values: readonly unknown[], returned: unknown): void {
    this.#results.set(step.id, returned);
    if (step.call.startsWith('createCommandQueue')) this.#queues.push(returned as cl.CommandQueue);
    if (step.call === 'createUserEvent') this.#openUserEvents.add(returned as cl.Event);
    if (step.call === 'setUserEventStatus') {
      this.#openUserEvents.delete(values[0] as cl.Event);
      if (values[1] !== cl.COMPLETE) this.#unsound = true;
    }
    if (step.call.startsWith('release')) this.#unsound = true; // a released open user event fails its waiters
    if (returned instanceof Promise) this.#await(step, returned);
    if (step.call === 'setEventCallback' && values[1] === cl.COMPLETE) {
      this.#expected.set(step.id, (this.#expected.get(step.id) ?? 0) + 1);
    }
  }

  #await(step: Step, promise: Promise<unknown>): void {
    const settled = promise.then(
      () => undefined,
      (error) => {
        if (!isCoded(error)) {
          this.#violate(`s${step.id} ${step.call} rejected with ${describe(error)}, which has no code`);
        }
      },
    );
    this.#promises.set(step, settled);
    void settled.then(() => this.#promises.delete(step));
  }

  #beforeWait(call: string, values: readonly unknown[]): void {
    const place = WAITS_IF[call];
    const copies = this.#copies && call.startsWith('enqueueMap');
    if (WAITS.has(call) || copies || (place !== undefined && values[place])) this.#open();
  }

  #open(): void {
    for (const userEvent of this.#openUserEvents) {
      try {
        if (!userEvent.released) cl.setUserEventStatus(userEvent, cl.COMPLETE);
      } catch {
        // It was set by a call of the program that failed afterwards, or released by another handle.
      }
    }
    this.#openUserEvents.clear();
    // The program must flush the queue of a command that others wait for.
    for (const queue of this.#queues) if (!queue.released) cl.flush(queue);
  }

  #value(argument: Argument, step: number): unknown {
    switch (argument.is) {
      case 'value':
        return argument.value;
      case 'result': {
        const of = this.#results.get(argument.step);
        if (argument.at === undefined) return of;
        return (of as Record<string | number, unknown> | undefined | null)?.[argument.at];
      }
      case 'list': {
        const items = argument.items.map((item) => this.#value(item, step));
        return argument.trap ? this.#trapped(items, argument.trap) : items;
      }
      case 'record': {
        const fields = Object.entries(argument.fields).map(([name, field]) => [
          name,
          this.#value(field, step),
        ]);
        const made = Object.fromEntries(fields) as Record<string, unknown>;
        return argument.trap ? this.#trapped(made, argument.trap) : made;
      }
      case 'callback':
        return () => this.#called(step, argument.calls, argument.throws);
    }
  }

  #called(step: number, calls: readonly Step[], throws: boolean): void {
    const expected = this.#expected.get(step);
    if (expected !== undefined) this.#expected.delete(step);
    this.#inside(calls, throws);
  }

  #inside(calls: readonly Step[], throws: boolean): void {
    for (const call of calls) this.#step(call);
    if (throws) throw new OnPurpose('thrown by the program');
  }

  #trapped<T extends object>(of: T, { at, by, calls, throws }: Trap): T {
    const key = String(at);
    const held: unknown = Reflect.get(of, key);
    let reads = 0;
    const get = (): unknown => {
      this.#inside(calls, throws);
      return key === 'length' ? Number(held) + reads++ : held; // an array that grows while it is read
    };
    if (by === 'getter' && key !== 'length') {
      return Object.defineProperty(of, key, { get, enumerable: true, configurable: true });
    }
    return new Proxy(of, { get: (target, name) => (name === key ? get() : Reflect.get(target, name)) });
  }

  /** The machine's own calls, which `OWN` names. */
  readonly own = {
    platform: (): cl.Platform => this.#platform,
    device: (): cl.Device | undefined => cl.getDeviceIDs(this.#platform)[0],
    memory: (kind: keyof typeof MEMORY, bytes: number): unknown => MEMORY[kind](bytes),
    open: (): void => this.#open(),
    drop: (step: number): boolean => this.#results.delete(step),
    completed: (event: cl.Event): void => {
      if (event instanceof cl.Event) {
        this.#await({ id: -1, call: '$completed', arguments: [] }, event.completed);
      }
    },
    strict: (): boolean => !this.#unsound,
    settle: (): Promise<void> => this.#allPromises(),
  };
}

const bytesOf = (memory: ArrayBufferView | ArrayBufferLike): Uint8Array =>
  ArrayBuffer.isView(memory)
    ? new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength)
    : new Uint8Array(memory);

/** Features newer than the library of the type declarations. */
type Resizable = ArrayBuffer & { resize(bytes: number): void; transfer(this: ArrayBuffer): ArrayBuffer };
type Growing<T> = new (bytes: number, options: { maxByteLength: number }) => T;
const resizable = (bytes: number) =>
  new (ArrayBuffer as Growing<ArrayBuffer>)(bytes, { maxByteLength: 2 * bytes });
const growable = (bytes: number) =>
  new (SharedArrayBuffer as Growing<SharedArrayBuffer>)(bytes, { maxByteLength: 2 * bytes });
const { WebAssembly: Wasm } = globalThis as unknown as {
  WebAssembly: { Memory: new (size: { initial: number }) => { buffer: ArrayBuffer } };
};

/** Host memory of every kind, of this many bytes. */
export const MEMORY = {
  Uint8Array: (bytes: number) => new Uint8Array(bytes),
  Float64Array: (bytes: number) => new Float64Array(Math.ceil(bytes / 8)),
  Buffer: (bytes: number) => Buffer.allocUnsafe(bytes),
  DataView: (bytes: number) => new DataView(new ArrayBuffer(bytes + 16), 8, bytes),
  ArrayBuffer: (bytes: number) => new ArrayBuffer(bytes),
  view: (bytes: number) => new Uint8Array(new ArrayBuffer(bytes + 7), 3, bytes),
  SharedArrayBuffer: (bytes: number) => new SharedArrayBuffer(bytes),
  shared: (bytes: number) => new Uint8Array(new SharedArrayBuffer(bytes)),
  growable: (bytes: number) => growable(bytes),
  resizable: (bytes: number) => resizable(bytes),
  tracking: (bytes: number) => new Uint8Array(resizable(bytes)),
  wasm: (bytes: number) => new Wasm.Memory({ initial: Math.ceil(bytes / 65536) }).buffer,
  untransferable: (bytes: number) => {
    const buffer = new ArrayBuffer(bytes);
    markAsUntransferable(buffer);
    return buffer;
  },
  detached: (bytes: number) => {
    const array = new Uint8Array(bytes);
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
  },
} as const;

type Machinery = (this: Machine, ...values: never[]) => unknown;
type Memory = ArrayBufferView | ArrayBufferLike;
const whole = (memory: Memory): ArrayBuffer =>
  (ArrayBuffer.isView(memory) ? memory.buffer : memory) as ArrayBuffer;

const isHandle = (of: unknown): boolean =>
  Object.values(cl).some((type) => typeof type === 'function' && !!type.prototype && of instanceof type);

/** Calls methods of a handle that never throw, whatever the state of the handle. */
function neverThrows(handle: unknown, call: (handle: cl.Event) => void): void {
  if (!isHandle(handle)) return;
  try {
    call(handle as cl.Event);
  } catch (error) {
    throw new Violation(`threw ${describe(error)}`);
  }
}

/** Actions of a program other than calls of the binding. */
export const OWN: Readonly<Record<string, Machinery>> = {
  $platform() {
    return this.own.platform();
  },
  $device() {
    return this.own.device();
  },
  $memory(kind: keyof typeof MEMORY, bytes: number) {
    return this.own.memory(kind, bytes);
  },
  $detach: (memory: Memory) => structuredClone(whole(memory), { transfer: [whole(memory)] }),
  // In the way a program circumvents a property of the object.
  $transfer(memory: Memory) {
    // Small Buffers share a pool of Node's, which a worker needs even to report an error.
    if (Buffer.isBuffer(memory) && memory.buffer.byteLength > memory.byteLength) return;
    (ArrayBuffer.prototype as Resizable).transfer.call(whole(memory));
  },
  $resize: (memory: Memory, bytes: number) => (whole(memory) as Resizable).resize(bytes),
  $touch(memory: Memory) {
    const bytes = bytesOf(memory);
    let sum = 0;
    for (let i = 0; i < bytes.length; i += 61) sum += bytes[i] ?? 0;
    if (bytes.length > 0) bytes[bytes.length - 1] = sum & 255;
  },
  $fill: (memory: Memory, byte: number) => bytesOf(memory).fill(byte),
  $gc: () => globalThis.gc?.(),
  $tick: () => new Promise((resolve) => setImmediate(resolve)),
  $sleep: (milliseconds: number) => sleep(milliseconds),
  $open() {
    this.own.open();
  },
  $settle() {
    return this.own.settle();
  },
  $drop(step: number) {
    this.own.drop(step);
  },
  $dispose: (handle: unknown) => neverThrows(handle, (sound) => sound[Symbol.dispose]()),
  $inspect: (handle: unknown) => neverThrows(handle, inspect),
  $completed(event: cl.Event) {
    this.own.completed(event);
  },
  /** Writes, copies and reads back otherwise unused memory of a kind, and compares. */
  async $roundTrip(
    context: cl.Context,
    queue: cl.CommandQueue,
    kind: keyof typeof MEMORY,
    size: number,
    blocking: boolean,
    seed: number,
  ) {
    if (!(context instanceof cl.Context) || context.released) return;
    if (!(queue instanceof cl.CommandQueue) || queue.released) return;
    if (!context.equals(cl.getCommandQueueInfo(queue, cl.QUEUE_CONTEXT))) return;
    const host = MEMORY[kind](size);
    const bytes = bytesOf(host);
    if (blocking) this.own.open();
    const strict = this.own.strict();
    try {
      const from = cl.createBuffer(context, cl.MEM_READ_WRITE, bytes.length);
      const to = cl.createBuffer(context, cl.MEM_READ_WRITE, bytes.length);
      const pattern = new Uint8Array(bytes.length).map((_, i) => i * 31 + seed);
      bytes.set(pattern);
      const wrote = cl.enqueueWriteBuffer(queue, from, blocking, 0, bytes.length, host, null, true);
      const copied = cl.enqueueCopyBuffer(queue, from, to, 0, 0, bytes.length, [wrote], true);
      const back = new Uint8Array(bytes.length);
      const read = cl.enqueueReadBuffer(queue, to, blocking, 0, bytes.length, back, [copied], true);
      cl.releaseMemObject(from);
      if (!blocking) {
        this.own.open();
        await read.completed;
      }
      cl.releaseMemObject(to);
      for (const event of [wrote, copied, read]) cl.releaseEvent(event);
      const wrong = back.findIndex((byte, i) => byte !== pattern[i]);
      if (wrong >= 0) throw new Violation(`byte ${wrong} of ${bytes.length} read back wrong`);
    } catch (error) {
      if (error instanceof Violation || !strict || !this.own.strict()) throw error;
      const { reason = '' } = error as cl.OpenCLError;
      // The next wait reports memory that the program detached before, whatever command used it.
      if (/was detached while a command used/.test(reason)) throw error;
      throw new Violation(`a sound transfer failed: ${describe(error)} ${reason}`);
    }
  },
};
