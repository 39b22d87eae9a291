import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';

for (const { name, context, queue, version, userEvents } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;
  const bufferOf = (...words: number[]) =>
    cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, words.length * 4, Uint32Array.from(words));
  const endOf = (event: cl.Event | undefined): number => {
    let state: number = cl.COMPLETE;
    if (event) {
      do state = cl.lookAt(event, 1000);
      while (state > cl.COMPLETE);
      cl.releaseEvent(event);
    }
    return state;
  };

  test(
    title('readAndLook reads words of several buffers after all commands that were enqueued before it'),
    (t) => {
      const [from, to, other] = [bufferOf(1, 2, 3, 4), bufferOf(0, 0, 0, 0), bufferOf(7)];
      for (let round = 0; round < 20; round++) {
        cl.enqueueWriteBuffer(queue, from, true, 4, 4, Uint32Array.of(round));
        cl.enqueueCopyBuffer(queue, from, to, 0, 0, 16);
        const [word, three, one] = [new Uint32Array(1), new Uint32Array(3), new Uint32Array(1)];
        const event = cl.readAndLook(
          queue,
          [to, to, other],
          [4, 4, 0],
          [word, three, one],
          round < 10 ? 0 : 1000,
        );
        t.is(endOf(event), cl.COMPLETE);
        t.deepEqual([[...word], [...three], [...one]], [[round], [round, 3, 4], [7]]);
      }
      t.is(endOf(cl.readAndLook(queue, [], [], [], 1000)), cl.COMPLETE);
      for (const buffer of [from, to, other]) cl.releaseMemObject(buffer);
    },
  );

  const withUserEvents = where(
    version >= 120 && userEvents,
    'no user events, or OpenCL below 1.2',
    test.serial,
  );
  withUserEvents(
    title('a read that is not complete returns an event and keeps its host memory'),
    async (t) => {
      const own = cl.createCommandQueue(
        context,
        (cl.getContextInfo(context, cl.CONTEXT_DEVICES) as cl.Device[])[0] as cl.Device,
        0,
      );
      const userEvent = cl.createUserEvent(context);
      const buffer = bufferOf(5);
      cl.enqueueBarrierWithWaitList(own, [userEvent]);
      const [result, gone] = [new Uint32Array(1), new Uint32Array(1)];
      const event = cl.readAndLook(own, [buffer, buffer], [0, 0], [result, gone], 100);
      t.true(event instanceof cl.Event);
      t.true(cl.lookAt(event as cl.Event, 0) > cl.COMPLETE);
      structuredClone(gone.buffer, { transfer: [gone.buffer] });
      cl.releaseMemObject(buffer);
      cl.setUserEventStatus(userEvent, cl.COMPLETE);
      const error = await t.throwsAsync<Error & { code: number }>(cl.waitForEventsAsync([event as cl.Event]));
      t.is(error.code, cl.INVALID_HOST_PTR.code, 'the wait reports the detached memory');
      t.is(endOf(event), cl.COMPLETE);
      t.deepEqual([...result], [5]);
      cl.releaseEvent(userEvent);
      cl.releaseCommandQueue(own);
    },
  );

  withUserEvents(
    title('a completed poll throws if the memory of another command was detached'),
    async (t) => {
      const [device] = cl.getContextInfo(context, cl.CONTEXT_DEVICES) as unknown as cl.Device[];
      const own = cl.createCommandQueue(context, device as cl.Device, 0);
      const buffer = bufferOf(5);
      for (const microseconds of [0, 1000]) {
        const userEvent = cl.createUserEvent(context);
        cl.enqueueBarrierWithWaitList(own, [userEvent]);
        const [result, gone] = [new Uint32Array(1), new Uint32Array(1)];
        cl.enqueueReadBuffer(own, buffer, false, 0, 4, gone);
        structuredClone(gone.buffer, { transfer: [gone.buffer] });
        cl.setUserEventStatus(userEvent, cl.COMPLETE);
        await new Promise((resolve) => setTimeout(resolve, 50));
        const error = thrown(() => {
          const event = cl.readAndLook(own, [buffer], [0], [result], microseconds);
          for (;;) if (!event || cl.lookAt(event, 1000) <= cl.COMPLETE) break;
        });
        t.is(error.code, cl.INVALID_HOST_PTR.code);
        t.deepEqual([...result], [5]);
        cl.releaseEvent(userEvent);
      }
      cl.releaseMemObject(buffer);
      cl.releaseCommandQueue(own);
    },
  );

  test.serial(title('invalid reads are rejected, and nothing is read'), (t) => {
    const buffer = bufferOf(1, 2);
    const word = new Uint32Array([9]);
    const refused = (...args: Parameters<typeof cl.readAndLook>) =>
      thrown(() => cl.readAndLook(...args)).code;
    t.is(refused(queue, [buffer, buffer], [0, 8], [word, word], 0), cl.INVALID_VALUE.code);
    t.is(refused(queue, [buffer], [0, 4], [word], 0), cl.INVALID_VALUE.code);
    t.is(refused(queue, [buffer], [0], [word], 1001), cl.INVALID_VALUE.code);
    t.is(refused(queue, [buffer], [0], [new Uint8Array(0)], 0), cl.INVALID_VALUE.code);
    t.is(word[0], 9);
    cl.releaseMemObject(buffer);
    t.is(refused(queue, [buffer], [0], [word], 0), cl.INVALID_MEM_OBJECT.code);
    t.is(thrown(() => cl.lookAt(queue as unknown as cl.Event, 0)).code, cl.INVALID_EVENT.code);
  });
}
