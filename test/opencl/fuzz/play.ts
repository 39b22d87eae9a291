import { writeSync } from 'node:fs';
import { isMainThread, parentPort } from 'node:worker_threads';
import { native } from '../../../src/opencl/binding.js';
import * as cl from '../../../src/opencl/index.js';
import { type Opened, opened } from '../devices.js';
import { generate, type Shape } from './generate.js';
import { Machine, OnPurpose, Violation } from './machine.js';
import type { Traits } from './model.js';
import type { Program } from './program.js';
import type { Ending, Planned } from './session.js';

/** The task of a process; steps that are not listed are left out. */
export interface Order {
  readonly seed: number;
  readonly shape: Shape;
  /**
   * Ids of the steps to run, by index of the program; programs without an entry are left out. By default all steps run.
   */
  readonly keep?: Readonly<Record<number, readonly number[]>>;
  /** A fault to inject into the first call of this name, for tests of the fuzzer. */
  readonly plant?: { readonly call: string; readonly how: 'crash' | 'hang' | 'violation' };
}

/** File descriptor that the parent reads. */
const TRACE = 3;

/** Reports to the parent synchronously, since the process may end at any moment. */
export const trace = (line: string): void => {
  try {
    writeSync(TRACE, `${line}\n`);
  } catch {
    // No reader: the program was started by hand.
  }
};

export const device = opened[0] as Opened;

/** Features of the device, queried before a program can release its handle. */
export const traits: Traits = (() => {
  const { name, version, images, singleThreaded } = device;
  const svm = version >= 200 && cl.getDeviceInfo(device.device, cl.DEVICE_SVM_CAPABILITIES) !== 0;
  const properties: number = cl.getDeviceInfo(device.device, cl.DEVICE_QUEUE_PROPERTIES);
  const outOfOrder = (properties & cl.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) !== 0;
  return { name, version, images, svm, outOfOrder, singleThreaded };
})();

/** A program without the omitted steps. */
export function withSteps(program: Program, ids: readonly number[] | undefined): Program {
  if (!ids) return program;
  const wanted = new Set(ids);
  return { ...program, steps: program.steps.filter(({ id }) => wanted.has(id)) };
}

/** Errors that no step threw but that reached the event loop; those that programs throw are expected. */
export function watchLoop(): void {
  process.on('uncaughtException', (error) => {
    if (error instanceof OnPurpose) return;
    trace(
      `V uncaught ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`.replaceAll(
        '\n',
        ' | ',
      ),
    );
    process.exit(3);
  });
}

/** Ends this process or worker during its work; the rest of the program may run meanwhile. */
async function end(how: Ending, rest: () => void): Promise<never> {
  trace(`E ${how}`);
  if (how === 'releaseAll, exit') process.on('exit', () => cl.releaseAll());
  if (how === 'exit in exit') process.on('exit', rest);
  if (how === 'throw') {
    setImmediate(() => {
      process.removeAllListeners('uncaughtException'); // not earlier: a callback of the program may throw until then
      throw new Error('on purpose');
    });
  } else if (how === 'terminate' && !isMainThread) {
    parentPort?.postMessage('terminate');
    rest();
    setInterval(() => undefined, 1000);
  } else {
    process.exit(7);
  }
  return new Promise(() => undefined);
}

function fail(how: 'crash' | 'hang' | 'violation'): void {
  if (how === 'crash') process.abort();
  if (how === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Violation('on purpose');
}

/**
 * Runs one program of a session, and ends this process or worker if the program requests it.
 * @throws Violation
 */
export async function play(planned: Planned, ending: Ending, order: Order, copies: boolean): Promise<void> {
  const { index, seed, shape, cut } = planned;
  if (copies) native().setCopyMappings(true);
  const whole = generate(seed, traits, shape);
  const program = withSteps(whole, order.keep?.[index]);
  const machine = new Machine(
    device.platform,
    (step) => {
      trace(`s ${index} ${step.id}`);
      if (order.plant?.call === step.call) fail(order.plant.how);
    },
    copies,
  );
  const last = ending === 'natural' ? undefined : whole.steps[Math.floor(cut)]?.id;
  await machine.run(program, 0, last);
  trace(`c ${index} ${machine.succeeded} ${machine.refused}`);
  if (ending !== 'natural') await end(ending, () => void machine.run(program, last).catch(() => undefined));
  await machine.settle();
}
