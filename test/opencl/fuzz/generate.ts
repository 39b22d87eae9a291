import * as cl from '../../../src/opencl/index.js';
import { Random } from '../../../src/util/random.js';
import { CALLS, type Call } from './calls.js';
import { Draft, NothingFits } from './draft.js';
import { BUFFER_BYTES, kernelNames, kernelSource, SIGNATURES } from './kernels.js';
import { argumentValue, waitList } from './kinds.js';
import { MEMORY } from './machine.js';
import { Model, type Thing, type Traits } from './model.js';
import { type Argument, list, type Program, record, result, type Step, value } from './program.js';
import { forbidding } from './rules.js';

/** Percentage of calls with an invalid argument. */
const WRONG_PERCENT = 18;

const MEMORY_KINDS = Object.keys(MEMORY) as (keyof typeof MEMORY)[];

/** Parameters of programs, independent of their seed. */
export interface Shape {
  /** Approximate number of steps. */
  readonly length: number;
  /** Excluded calls; `$trap` for code that runs while arguments are read, `$wrong` for wrong arguments. */
  readonly without: readonly string[];
}

/** Generates programs: the same one for the same seed and the same kind of device. */
class Generator {
  readonly #random: Random;
  readonly #traits: Traits;
  readonly #model = new Model();
  readonly #steps: Step[] = [];
  readonly #without: ReadonlySet<string>;
  readonly #weights: readonly (readonly [string, Call, number])[];
  readonly #total: number;
  #next = 0;
  #depth = 0;
  #contexts: number[] = [];

  constructor(seed: number, traits: Traits, { without }: Shape) {
    this.#random = new Random(seed);
    this.#traits = traits;
    this.#without = new Set(without);
    // Each program prefers other calls, so that rare combinations occur.
    const drawn = Object.entries(CALLS).filter(([, { weight }]) => weight !== 0);
    this.#weights = drawn.map(([name, call]) => {
      const swarm = [0, 0.3, 1, 1, 1, 4][this.#random.below(6)] ?? 1;
      return [name, call, this.#without.has(name) ? 0 : (call.weight ?? 1) * swarm];
    });
    this.#total = this.#weights.reduce((sum, [, , weight]) => sum + weight, 0);
  }

  program(seed: number, length: number): Program {
    this.#prelude();
    while (this.#steps.length < length) this.#more();
    return { seed, steps: this.#steps };
  }

  #step(call: string, ...args: Argument[]): Step {
    return { id: this.#next++, call, arguments: args };
  }

  #add(call: string, ...args: Argument[]): Step {
    const step = this.#step(call, ...args);
    this.#steps.push(step);
    return step;
  }

  /** The start of every program: two contexts, three queues, built kernels, and memory. */
  #prelude(): void {
    const model = this.#model;
    const platform = this.#add('$platform');
    const device = this.#add('$device');
    model.add('platform', platform.id);
    model.add('device', device.id);
    for (let i = 0; i < 2; i++) {
      const context = this.#add('createContext', value(null), list([result(device.id)]));
      this.#contexts.push(context.id);
      model.add('context', context.id, { context: context.id });
      const own = result(context.id);
      const queues = i === 0 ? 2 : 1;
      for (let q = 0; q < queues; q++) {
        const outOfOrder = q === 1 && this.#traits.outOfOrder ? cl.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;
        const properties = value(outOfOrder | cl.QUEUE_PROFILING_ENABLE);
        const queue = this.#add('createCommandQueue', own, result(device.id), properties);
        model.add('queue', queue.id, { context: context.id });
      }
      for (const size of i === 0 ? [1024, BUFFER_BYTES, 4096] : [1024]) {
        const buffer = this.#add('createBuffer', own, value(cl.MEM_READ_WRITE), value(size));
        model.add('buffer', buffer.id, { context: context.id, bytes: size });
      }
      if (i > 0) continue;
      const program = this.#add('createProgramWithSource', own, value(kernelSource(this.#traits.images)));
      this.#add('buildProgram', result(program.id), value(null), value('-cl-kernel-arg-info'));
      model.add('program', program.id, { context: context.id });
      for (const name of kernelNames(this.#traits.images)) {
        const kernel = this.#add('createKernel', result(program.id), value(name));
        model.add('kernel', kernel.id, { context: context.id, name });
      }
    }
    const first = this.#contexts[0] as number;
    if (this.#traits.svm && this.#chance(50)) this.#shared(first);
    if (this.#traits.images && this.#chance(40)) this.#images(first);
    for (const [kind, bytes] of [
      ['Uint8Array', 4096],
      ['Uint8Array', 16],
      ['Buffer', 1024],
      ['ArrayBuffer', 65536],
    ] as const) {
      this.#memory(kind, bytes);
    }
  }

  #shared(context: number): void {
    for (const bytes of [1024, 4096]) {
      const svm = this.#add('SVMAlloc', result(context), value(cl.MEM_READ_WRITE), value(bytes));
      this.#model.add('svm', svm.id, { context, bytes });
    }
  }

  #images(context: number): void {
    const own = result(context);
    const format = record({ channel_order: value(cl.RGBA), channel_data_type: value(cl.UNORM_INT8) });
    for (const pixels of [[4, 4, 1] as const, [8, 4, 1] as const]) {
      const [width, height] = pixels.map(value) as [Argument, Argument, Argument];
      const image = this.#add('createImage2D', own, value(cl.MEM_READ_WRITE), format, width, height);
      this.#model.add('image', image.id, { context, pixels, bytes: 512 });
    }
    const modes = [cl.ADDRESS_CLAMP_TO_EDGE, cl.FILTER_NEAREST].map(value);
    const sampler = this.#add('createSampler', own, value(false), ...modes);
    this.#model.add('sampler', sampler.id, { context });
  }

  #memory(kind: keyof typeof MEMORY, bytes: number): void {
    const step = this.#add('$memory', value(kind), value(bytes));
    const thing = this.#model.add('host', step.id, { bytes, memory: kind });
    if (kind === 'detached') thing.alive = false;
  }

  #chance(percent: number): boolean {
    return this.#random.below(100) < percent;
  }

  #pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new NothingFits();
    return from[this.#random.below(from.length)] as T;
  }

  /** A context to choose objects from: usually the first, which has the most. */
  #draft(): Draft {
    const live = this.#contexts.filter(
      (id) => this.#model.of(['context'], (of) => of.context === id).length > 0,
    );
    const context = this.#chance(80)
      ? (this.#contexts[0] ?? 0)
      : (live[this.#random.below(live.length)] ?? 0);
    const traps = !this.#without.has('$trap');
    return new Draft(this.#random, this.#model, this.#traits, context, () => this.#inner(), traps);
  }

  /** A nested call. User events created there would stay open while the other call waits. */
  #inner(): Step | undefined {
    if (this.#depth > 0) return undefined;
    this.#depth++;
    try {
      if (this.#chance(40)) return this.#disturbance();
      const name = this.#pick([
        'releaseEvent',
        'releaseMemObject',
        'releaseKernel',
        'releaseProgram',
        'releaseCommandQueue',
        'releaseContext',
        'releaseAsync',
        'SVMFree',
        'enqueueUnmapMemObject',
        'enqueueSVMFree',
        'setKernelArg',
        'enqueueReadBuffer',
        'enqueueNDRangeKernel',
        'finish',
        'releaseAll',
        'setUserEventStatus',
      ]);
      if (this.#without.has(name)) return undefined;
      return this.#call(name, CALLS[name] as Call);
    } catch (error) {
      if (!(error instanceof NothingFits)) throw error;
      return undefined;
    } finally {
      this.#depth--;
    }
  }

  /** One random call from the table. */
  #call(name: string, call: Call): Step {
    const draft = this.#draft();
    const isWrong = this.#chance(WRONG_PERCENT) && call.takes.length > 0 && !this.#without.has('$wrong');
    const wrongAt = isWrong ? this.#random.below(call.takes.length) : -1;
    const args = call.takes.map((taken, i) => (i === wrongAt ? taken.wrong(draft) : taken.right(draft)));
    const step = this.#step(name, ...args);
    if (forbidding(step, draft)) throw new NothingFits();
    if (this.#traits.singleThreaded && name === 'createUserEvent') throw new NothingFits();
    if (name.startsWith('createContext')) this.#contexts.push(step.id);
    call.leaves?.(draft, step, wrongAt < 0);
    return step;
  }

  /** Actions that a program may take on its own memory and handles at any time. */
  #disturbance(): Step {
    const host = (): Argument => this.#pick(this.#model.of(['host', 'mapping', 'svm'])).from;
    const any = (): Thing => this.#pick(this.#model.things);
    switch (this.#random.below(9)) {
      case 0: {
        const thing = this.#pick(this.#model.of(['host'], ({ facts }) => facts.memory !== 'Uint8Array'));
        thing.alive = false;
        return this.#step(this.#chance(50) ? '$detach' : '$transfer', thing.from);
      }
      case 1:
        return this.#step(
          this.#chance(50) ? '$detach' : '$transfer',
          this.#pick(this.#model.of(['mapping', 'svm'])).from,
        );
      case 2:
        return this.#step('$resize', host(), value(this.#pick([0, 1, 64, 5000])));
      case 3:
        return this.#step('$gc');
      case 4:
        return this.#step('$touch', host());
      case 5: {
        // Never the first context and its objects, without which few calls remain possible.
        const thing = this.#pick(
          this.#model.of(['buffer', 'event', 'kernel', 'sampler', 'image', 'mapping', 'host']),
        );
        if (thing.from.is !== 'result') throw new NothingFits();
        thing.alive = false;
        return this.#step('$drop', value(thing.from.step));
      }
      case 6: {
        const thing = this.#pick(
          this.#model.of([
            'buffer',
            'event',
            'kernel',
            'sampler',
            'image',
            'program',
            'recording',
            'commandBuffer',
          ]),
        );
        thing.alive = false;
        return this.#step('$dispose', thing.from);
      }
      case 7:
        return this.#step('$inspect', any().from);
      default:
        return this.#step('$completed', this.#pick(this.#model.of(['event'])).from);
    }
  }

  /** Sets all arguments of a kernel and enqueues it. */
  #launch(): void {
    const draft = this.#draft();
    const kernel = draft.thing(['kernel']);
    const types = SIGNATURES[kernel.facts.name ?? ''] ?? [];
    const args = types.map((type) => argumentValue(draft, type));
    for (const [i, argument] of args.entries()) {
      this.#add('setKernelArg', kernel.from, value(i), value(null), argument);
    }
    const queue = draft.thing(['queue']);
    const sizes = list([value(this.#pick([1, 4, 16, 64]))]);
    const waits = waitList.right(draft);
    const step = this.#add(
      'enqueueNDRangeKernel',
      queue.from,
      kernel.from,
      value(1),
      value(null),
      sizes,
      value(null),
      waits,
      value(true),
    );
    this.#model.add('event', step.id, { context: draft.context });
  }

  /** Commands behind two user events and each other; some are not referenced any more when a user event fails. */
  #behindUserEvents(): void {
    if (this.#traits.singleThreaded) throw new NothingFits();
    const draft = this.#draft();
    const context = draft.thing(['context'], (thing) => thing.context === draft.context);
    const userEvents = [0, 1].map(() => result(this.#add('createUserEvent', context.from).id));
    const events: Argument[] = [];
    for (let i = 0; i < 5; i++) {
      const queue = draft.thing(['queue']).from;
      const buffer = draft.thing(['buffer']).from;
      const waits = list([this.#pick([...userEvents, ...events])]);
      const one = value(1);
      const ways: Readonly<Record<string, readonly Argument[]>> = {
        enqueueMarkerWithWaitList: [],
        enqueueBarrierWithWaitList: [],
        enqueueFillBuffer: [buffer, one, value(0), value(64)],
        enqueueMigrateMemObjects: [list([buffer]), one],
      };
      const name = this.#pick(Object.keys(ways).filter((way) => !this.#without.has(way)));
      const step = this.#add(name, queue, ...(ways[name] ?? []), waits, value(true));
      events.push(result(step.id));
    }
    for (const event of events) if (this.#chance(60)) this.#add('releaseEvent', event);
    for (const userEvent of userEvents)
      this.#add('setUserEventStatus', userEvent, value(this.#pick([cl.COMPLETE, -5, -9999])));
  }

  /** A transfer of which every byte is compared. */
  #roundTrip(): void {
    const draft = this.#draft();
    const context = draft.thing(['context'], (thing) => thing.context === draft.context);
    const queue = draft.thing(['queue']);
    const kind = this.#pick(MEMORY_KINDS.filter((name) => name !== 'detached'));
    const blocking = this.#chance(40) || ['resizable', 'tracking'].includes(kind);
    const bytes = value(this.#pick([8, 64, 1000, 4096, 70_000]));
    this.#add(
      '$roundTrip',
      context.from,
      queue.from,
      value(kind),
      bytes,
      value(blocking),
      value(this.#random.below(256)),
    );
  }

  #more(): void {
    try {
      const kind = this.#random.below(100);
      if (kind < 6) this.#launch();
      else if (kind < 8) this.#roundTrip();
      else if (kind < 13) this.#memory(this.#pick(MEMORY_KINDS), this.#pick([8, 16, 64, 256, 1024, 4096]));
      else if (kind < 20) this.#steps.push(this.#disturbance());
      else if (kind < 23) this.#add('$tick');
      else if (kind < 24) this.#add('$sleep', value(this.#random.below(4)));
      else if (kind < 25) this.#add('$settle');
      else if (kind < 27) this.#behindUserEvents();
      else this.#steps.push(this.#drawn());
    } catch (error) {
      if (!(error instanceof NothingFits)) throw error;
    }
  }

  #drawn(): Step {
    let at = (this.#random.u32() / 2 ** 32) * this.#total;
    for (const [name, call, weight] of this.#weights) {
      at -= weight;
      if (at < 0) return this.#call(name, call);
    }
    throw new NothingFits();
  }
}

/** The program of a seed. */
export const generate = (seed: number, traits: Traits, shape: Shape): Program =>
  new Generator(seed, traits, shape).program(seed, shape.length);
