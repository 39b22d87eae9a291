import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';
import { run } from './run.js';

for (const device of opened) {
  const { name, context, queue, version, userEvents } = device;
  const title = (claim: string): string => `${name}: ${claim}`;
  const withUserEvents = where(userEvents, 'no user events', test);

  withUserEvents(title('an event callback gets user data, status and event, on a later turn'), async (t) => {
    const event = cl.createUserEvent(context);
    const data = { some: 'data' };
    let early = true;
    const called = new Promise<unknown[]>((resolve) => {
      cl.setEventCallback(event, cl.COMPLETE, (...args) => resolve([...args, early]), data);
    });
    cl.setUserEventStatus(event, cl.COMPLETE);
    early = false;
    t.deepEqual(await called, [data, cl.COMPLETE, event, false]);
    cl.releaseEvent(event);
  });

  withUserEvents(title('a failed event passes its status to callbacks and rejects promises'), async (t) => {
    const event = cl.createUserEvent(context);
    const completed = event.completed;
    t.is(event.completed, completed);
    const called = new Promise<number>((resolve) => {
      cl.setEventCallback(event, cl.COMPLETE, (_, reached) => resolve(reached));
    });
    cl.setUserEventStatus(event, -5);
    t.is(await called, -5);
    const error = await t.throwsAsync<cl.OpenCLError>(completed);
    t.is(error?.code, cl.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.code);
    t.is(error?.call, 'clWaitForEvents');
    cl.releaseEvent(event);
  });

  withUserEvents(title('waiting for several events does not block the event loop'), async (t) => {
    const events = [cl.createUserEvent(context), cl.createUserEvent(context)];
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const waiting = cl.waitForEventsAsync(events);
    await new Promise((resolve) => setTimeout(resolve, 30));
    t.true(ticks > 0);
    for (const event of events) cl.setUserEventStatus(event, cl.COMPLETE);
    await waiting;
    clearInterval(timer);
    for (const event of events) cl.releaseEvent(event);
  });

  test(title('waiting for a command that was never flushed completes it'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 8);
    const host = new Uint8Array(8);
    const first = cl.enqueueWriteBuffer(queue, buffer, false, 0, 8, host, null, true);
    if (version >= 110) {
      const status = await new Promise((resolve) =>
        cl.setEventCallback(first, cl.COMPLETE, (_, reached) => resolve(reached)),
      );
      t.is(status, cl.COMPLETE);
    }
    const second = cl.enqueueReadBuffer(queue, buffer, false, 0, 8, host, [first], true);
    await second.completed;
    t.is(cl.getEventInfo(second, cl.EVENT_COMMAND_EXECUTION_STATUS), cl.COMPLETE);
    for (const event of [first, second]) cl.releaseEvent(event);
    cl.releaseMemObject(buffer);
  });

  test(
    title('a build with a callback returns at once and calls back after success and failure'),
    async (t) => {
      for (const [source, expected] of [
        ['kernel void fine() {}', cl.BUILD_SUCCESS],
        ['kernel void broken( {', cl.BUILD_ERROR],
      ] as const) {
        const program = cl.createProgramWithSource(context, source);
        const [data, same] = await new Promise<unknown[]>((resolve) => {
          t.is(
            cl.buildProgram(program, null, null, (...args) => resolve(args), 'mine'),
            0,
          );
        });
        t.is(data, 'mine');
        t.is(same, program);
        t.is(cl.getProgramBuildInfo(program, device.device, cl.PROGRAM_BUILD_STATUS), expected);
        cl.releaseProgram(program);
      }
    },
  );

  const withCallbacks = where(version >= 110, 'needs OpenCL 1.1', test);
  withCallbacks(title('a callback that is set on a completed event is called'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4);
    const event = cl.enqueueWriteBuffer(
      queue,
      buffer,
      false,
      0,
      4,
      new Uint8Array(4),
      null,
      true,
    ) as cl.Event;
    cl.finish(queue);
    for (const type of [cl.COMPLETE, cl.RUNNING, cl.SUBMITTED]) {
      const status = await new Promise<number>((resolve) => {
        cl.setEventCallback(event, type, (_, reached) => resolve(reached));
      });
      t.true(status <= type, `${status} for ${type}`);
    }
    cl.releaseMemObject(buffer);
  });

  test(title('a destructor callback is called when the object is released'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 8);
    const gone = new Promise((resolve) => cl.setMemObjectDestructorCallback(buffer, resolve, 'gone'));
    cl.releaseMemObject(buffer);
    const keepAlive = setTimeout(() => t.fail('never called'), 5000);
    t.is(await gone, 'gone');
    clearTimeout(keepAlive);
  });

  test(title('callbacks that are not functions are rejected'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 8);
    const event = cl.enqueueMarker(queue, true);
    for (const wrong of [5, 'x', {}] as never[]) {
      t.is(thrown(() => cl.setEventCallback(event, cl.COMPLETE, wrong)).code, cl.INVALID_VALUE.code);
      t.is(thrown(() => cl.setMemObjectDestructorCallback(buffer, wrong)).code, cl.INVALID_VALUE.code);
    }
    cl.releaseEvent(event);
    cl.releaseMemObject(buffer);
  });

  test.serial(title('pending callbacks keep the process alive until they are called'), async (t) => {
    const { code, signal, stdout, stderr } = await run('pending', [name], {}, 60);
    t.is(signal, null, 'it was killed: something idle kept it alive');
    t.is(code, 0, stderr);
    t.deepEqual(stdout.trim().split('\n'), ['end of the script', 'built', 'read', 'finished']);
  });
}
