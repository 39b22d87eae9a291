import { existsSync, readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';
import { run } from './run.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const POCL = '/etc/OpenCL/vendors/pocl.icd';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const threads = (): number => readdirSync('/proc/self/task').length;
/** Beside other drivers PoCL's first enumeration begins later in each thread. */
const DRIVERS: Record<string, NodeJS.ProcessEnv> = {
  'with all drivers': {},
  ...(existsSync(POCL) ? { 'PoCL alone': { OCL_ICD_VENDORS: POCL } } : {}),
};
const EXEC_STATUS_ERROR = cl.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.code;

for (const device of opened) {
  const { name, context, userEvents } = device;
  const title = (claim: string): string => `${name}: ${claim}`;
  const withUserEvents = where(userEvents, 'no user events', test.serial);

  /** Commands that wait for a user event, each with its event. */
  function enqueueBehind(queue: cl.CommandQueue, userEvent: cl.Event, count: number): cl.Event[] {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const events = Array.from({ length: count }, () =>
      cl.enqueueCopyBuffer(queue, buffer, buffer, 0, 32, 16, [userEvent], true),
    ) as cl.Event[];
    cl.releaseMemObject(buffer);
    return events;
  }

  withUserEvents(title('a wait for several events ends with the last of them'), async (t) => {
    const [first, last] = [cl.createUserEvent(context), cl.createUserEvent(context)];
    const marker = cl.enqueueMarker(device.queue, true);
    // A few waits block in threads; later ones are notified of each event.
    const before = Array.from({ length: 8 }, () => cl.waitForEventsAsync([last]));
    let settled = 0;
    const waits = [
      [marker, first, last],
      [last, first],
    ].map((events) => cl.waitForEventsAsync(events).then(() => settled++));
    cl.setUserEventStatus(first, cl.COMPLETE);
    await Promise.all([first.completed, marker.completed, cl.waitForEventsAsync([first])]);
    for (let i = 0; i < 100; i++) await turn();
    t.is(settled, 0, 'the last event is open');
    cl.setUserEventStatus(last, cl.COMPLETE);
    await Promise.all([...before, ...waits]);
    for (const event of [first, last, marker]) cl.releaseEvent(event);
  });

  for (const [how, wait] of [
    ['promise', (event: cl.Event) => event.completed],
    ['wait on a thread', (event: cl.Event) => cl.waitForEventsAsync([event])],
    ['blocking wait', (event: cl.Event) => cl.waitForEvents([event])],
  ] as const) {
    test.serial(title(`a command of another queue is awaited without a flush by a ${how}`), async (t) => {
      const other = cl.createCommandQueue(context, device.device);
      const buffers = [0, 0].map(() => cl.createBuffer(context, cl.MEM_READ_WRITE, 64));
      const [from, to] = buffers as [cl.MemObject, cl.MemObject];
      const written = cl.enqueueWriteBuffer(
        other,
        from,
        false,
        0,
        64,
        new Uint8Array(64).fill(7),
        null,
        true,
      );
      const copied = cl.enqueueCopyBuffer(device.queue, from, to, 0, 0, 64, [written as cl.Event], true);
      await wait(copied as cl.Event);
      const result = new Uint8Array(64);
      cl.enqueueReadBuffer(device.queue, to, true, 0, 64, result);
      t.deepEqual(result, new Uint8Array(64).fill(7));
      for (const buffer of buffers) cl.releaseMemObject(buffer);
      for (const event of [written, copied]) cl.releaseEvent(event as cl.Event);
      cl.releaseCommandQueue(other);
    });
  }

  withUserEvents(title('pending waits do not delay builds and short commands'), async (t) => {
    const queue = cl.createCommandQueue(context, device.device);
    const userEvent = cl.createUserEvent(context);
    const pending: Promise<unknown>[] = [userEvent.completed];
    for (const event of enqueueBehind(queue, userEvent, 100)) {
      pending.push(event.completed, cl.waitForEventsAsync([userEvent, event]));
      pending.push(new Promise((resolve) => cl.setEventCallback(event, cl.COMPLETE, resolve)));
      pending.push(cl.finishAsync(queue));
    }
    let settled = 0;
    for (const promise of pending) void promise.then(() => settled++);
    const program = cl.createProgramWithSource(context, `kernel void fresh(int a) {} // ${Math.random()}`);
    await cl.buildProgramAsync(program, [device.device]);
    const event = cl.enqueueMarker(device.queue, true);
    await event.completed;
    await new Promise((resolve) => cl.setEventCallback(event, cl.COMPLETE, resolve));
    await cl.finishAsync(device.queue);
    t.is(settled, 0);
    cl.setUserEventStatus(userEvent, cl.COMPLETE);
    await Promise.all(pending);
    t.is(settled, pending.length);
    cl.releaseCommandQueue(queue);
    cl.releaseProgram(program);
  });

  // Threads are counted on Linux only.
  const counted = where(process.platform === 'linux', 'only on Linux', withUserEvents);
  counted(title('10,000 pending waits start at most 8 threads'), async (t) => {
    const queue = cl.createCommandQueue(context, device.device);
    const userEvent = cl.createUserEvent(context);
    const events = enqueueBehind(queue, userEvent, 100);
    // The driver's threads exist by now, and so do those that release dropped objects of earlier tests.
    collectGarbage();
    await turn();
    await cl.finishAsync(device.queue);
    const before = threads();
    const pending: Promise<unknown>[] = [];
    for (let i = 0; i < 10_000; i++) pending.push(cl.waitForEventsAsync([events[i % 100] as cl.Event]));
    await new Promise((resolve) => setTimeout(resolve, 50));
    t.true(threads() - before <= 8, `${threads()} threads, ${before} before`);
    cl.setUserEventStatus(userEvent, cl.COMPLETE);
    await Promise.all(pending);
    cl.releaseCommandQueue(queue);
  });

  withUserEvents(title('every wait for a failed command rejects, even behind released events'), async (t) => {
    const queue = cl.createCommandQueue(context, device.device);
    const userEvent = cl.createUserEvent(context);
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    for (let i = 0; i < 20; i++) {
      cl.enqueueCopyBuffer(queue, buffer, buffer, 0, 32, 16, i % 2 ? null : [userEvent]); // an unreferenced event
      cl.enqueueBarrier(queue);
    }
    const last = cl.enqueueCopyBuffer(queue, buffer, buffer, 0, 32, 16, [userEvent], true) as cl.Event;
    const waits = Array.from({ length: 20 }, () => cl.waitForEventsAsync([last]));
    const calls = Array.from(
      { length: 20 },
      () =>
        new Promise<number>((resolve) =>
          cl.setEventCallback(last, cl.COMPLETE, (_, status) => resolve(status)),
        ),
    );
    cl.setUserEventStatus(userEvent, -5);
    for (const wait of waits) {
      const error = await t.throwsAsync<cl.OpenCLError>(wait);
      t.is(error?.code, EXEC_STATUS_ERROR);
    }
    for (const status of await Promise.all(calls)) t.true(status < 0, String(status));
    // The queue continues, and so does another one.
    await cl.enqueueMarker(cl.createCommandQueue(context, device.device), true).completed;
    cl.releaseCommandQueue(queue);
    cl.releaseMemObject(buffer);
  });

  withUserEvents(title('a user event can fail with any number of commands behind it'), async (t) => {
    const queue = cl.createCommandQueue(context, device.device);
    const userEvent = cl.createUserEvent(context);
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const first = cl.enqueueCopyBuffer(queue, buffer, buffer, 0, 32, 16, [userEvent], true) as cl.Event;
    for (let i = 0; i < 60_000; i++) cl.enqueueCopyBuffer(queue, buffer, buffer, 0, 32, 16);
    const finished = cl.finishAsync(queue).catch(() => undefined); // drivers differ in which later commands fail
    cl.setUserEventStatus(userEvent, -5);
    await t.throwsAsync(first.completed);
    await finished;
    cl.releaseCommandQueue(queue);
    cl.releaseMemObject(buffer);
  });

  const recorded =
    userEvents && cl.getExtensionFunctions(device.platform).includes('clCreateCommandBufferKHR');
  const withCommandBuffers = where(recorded, 'no command buffers', test.serial);
  withCommandBuffers(title('a user event that a command buffer waits for cannot be failed'), async (t) => {
    const queue = cl.createCommandQueue(context, device.device);
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const commands = cl.createCommandBufferKHR([queue]);
    cl.commandFillBufferKHR(commands, null, buffer, Uint8Array.of(7), 0, 64);
    cl.finalizeCommandBufferKHR(commands);
    const userEvent = cl.createUserEvent(context);
    cl.enqueueCommandBufferKHR(null, commands, [userEvent]);
    t.is(thrown(() => cl.setUserEventStatus(userEvent, -5)).code, cl.INVALID_OPERATION.code);
    cl.setUserEventStatus(userEvent, cl.COMPLETE);
    await cl.finishAsync(queue);
    const other = cl.createUserEvent(context);
    cl.setUserEventStatus(other, -5); // the command buffer has been executed
    for (const event of [userEvent, other]) cl.releaseEvent(event);
    cl.releaseCommandBufferKHR(commands);
    cl.releaseCommandQueue(queue);
    cl.releaseMemObject(buffer);
  });

  withUserEvents(title('collecting a user event fails the commands that wait for it'), async (t) => {
    const queue = cl.createCommandQueue(context, device.device);
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const wait = (() => {
      const userEvent = cl.createUserEvent(context);
      cl.enqueueCopyBuffer(queue, buffer, buffer, 0, 32, 16, [userEvent]);
      return (cl.enqueueCopyBuffer(queue, buffer, buffer, 0, 32, 16, [userEvent], true) as cl.Event)
        .completed;
    })();
    const collecting = setInterval(collectGarbage, 5);
    const error = await t.throwsAsync<cl.OpenCLError>(wait);
    clearInterval(collecting);
    t.is(error?.code, EXEC_STATUS_ERROR);
    cl.releaseCommandQueue(queue);
    cl.releaseMemObject(buffer);
  });

  withUserEvents(title('a command that waits for a failed event is rejected'), async (t) => {
    // PoCL never ended such a command, nor a call that waited for it.
    const own = cl.createCommandQueue(context, device.device, 0);
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 16);
    const host = new Uint8Array(16);
    const userEvent = cl.createUserEvent(context);
    cl.setUserEventStatus(userEvent, -5);
    for (const blocking of [true, false]) {
      const { code, reason } = thrown(() =>
        cl.enqueueReadBuffer(own, buffer, blocking, 0, 16, host, [userEvent, userEvent]),
      );
      t.is(code, cl.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.code);
      t.regex(reason ?? '', /-5/);
    }
    await cl.finishAsync(own);
    cl.releaseEvent(userEvent);
    cl.releaseMemObject(buffer);
    cl.releaseCommandQueue(own);
  });

  test.serial(title("a context's error callback is collected with the context"), async (t) => {
    const references = Array.from({ length: 4 }, (_, i) => {
      const notify = (): void => undefined;
      const made = cl.createContext([cl.CONTEXT_PLATFORM, device.platform], [device.device], notify, { i });
      cl.releaseCommandQueue(cl.createCommandQueue(made, device.device));
      if (i % 2) cl.releaseContext(made); // the others are collected
      return new WeakRef(notify);
    });
    for (let i = 0; i < 200 && references.some((reference) => reference.deref()); i++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      collectGarbage();
    }
    t.deepEqual(
      references.map((reference) => reference.deref()),
      references.map(() => undefined),
    );
  });

  test.serial(title("a context's error callback stays while the context lives"), async (t) => {
    const notify = new WeakRef((): void => undefined);
    const retained = cl.createContext(
      [cl.CONTEXT_PLATFORM, device.platform],
      [device.device],
      notify.deref() as () => void,
    );
    for (let i = 0; i < 5; i++) {
      await turn();
      collectGarbage();
    }
    t.not(notify.deref(), undefined);
    cl.releaseContext(retained);
  });

  const parallel = where(!device.singleThreaded, 'driven from one thread', test.serial);
  for (const [drivers, env] of Object.entries(DRIVERS)) {
    if (name !== 'pocl' && drivers !== 'with all drivers') continue;
    parallel(title(`eight workers use a driver for the first time at once, ${drivers}`), async (t) => {
      for (let i = 0; i < 3; i++) {
        const { code, signal, stdout, stderr } = await run('first-use', [name], env);
        t.is(signal, null, stderr);
        t.is(code, 0, stderr);
        t.is(stdout, 'used\n');
      }
    });
  }

  const queueEnds = ['kept', 'released', 'released later'];
  const ends = [
    'script',
    'exit',
    'exit handler',
    'releaseAll',
    ...(device.singleThreaded ? [] : ['terminate']),
  ];
  const userEventEnds = ['none', ...(userEvents ? ['kept', 'dropped', 'collected'] : [])];
  for (const [g, userEvent] of userEventEnds.entries()) {
    for (const [h, how] of ends.entries()) {
      // All of them at once if possible, otherwise each in turn.
      for (const queues of userEvent === 'none'
        ? queueEnds
        : [queueEnds[(g + h) % queueEnds.length] as string]) {
        const claim = `by '${how}', queues ${queues}, commands behind ${userEvent === 'none' ? 'nothing' : `a user event that is ${userEvent}`}`;
        test.serial(title(`the process ends cleanly with work in flight: ${claim}`), async (t) => {
          const { code, signal, stderr } = await run('end', [name, how, queues, userEvent], {}, 60, [
            '--expose-gc',
          ]);
          t.is(signal, null, stderr);
          t.is(code, how === 'terminate' || how === 'script' ? 0 : 7, stderr);
        });
      }
    }
  }
}
