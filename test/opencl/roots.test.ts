import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Lets finalizers of collected handles and the binding's messages run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

for (const device of opened) {
  const { name, context, queue, userEvents } = device;
  const title = (claim: string): string => `${name}: ${claim}`;
  const withUserEvents = where(userEvents, 'no user events', test.serial);

  withUserEvents(title('memory of a command in flight outlives every reference to it'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 1 << 16);
    const userEvent = cl.createUserEvent(context);
    for (let i = 0; i < 20; i++) {
      // Nothing references these arrays; the device writes to them after the collection.
      cl.enqueueReadBuffer(queue, buffer, false, 0, 1 << 16, new Uint8Array(1 << 16), [userEvent]);
    }
    for (let i = 0; i < 3; i++) {
      collectGarbage();
      await turn();
    }
    const fresh = Array.from({ length: 20 }, () => new Uint8Array(1 << 16)); // would reuse freed memory
    cl.setUserEventStatus(userEvent, cl.COMPLETE);
    await cl.finishAsync(queue);
    t.true(fresh.every((array) => array.every((byte) => byte === 0)));
    cl.releaseMemObject(buffer);
  });

  withUserEvents(title('memory can be collected once its command has completed'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 8);
    const userEvent = cl.createUserEvent(context);
    let host: Uint8Array | undefined = new Uint8Array(8);
    const reference = new WeakRef(host.buffer);
    cl.enqueueReadBuffer(queue, buffer, false, 0, 8, host, [userEvent]);
    host = undefined;
    await turn();
    collectGarbage();
    t.not(reference.deref(), undefined, 'still in flight');
    cl.setUserEventStatus(userEvent, cl.COMPLETE);
    await cl.finishAsync(queue);
    for (let i = 0; i < 5 && reference.deref(); i++) {
      await turn();
      collectGarbage();
    }
    t.is(reference.deref(), undefined);
    cl.releaseMemObject(buffer);
  });

  withUserEvents(
    title('memory that is detached while in flight does no harm, and the wait rejects'),
    async (t) => {
      const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 8, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
      const userEvent = cl.createUserEvent(context);
      const host = new Uint8Array(8);
      cl.enqueueReadBuffer(queue, buffer, false, 0, 8, host, [userEvent]);
      const moved = structuredClone(host.buffer, { transfer: [host.buffer] });
      t.is(host.byteLength, 0);
      cl.setUserEventStatus(userEvent, cl.COMPLETE);
      const error = await t.throwsAsync<cl.OpenCLError>(cl.finishAsync(queue));
      t.is(error?.code, cl.INVALID_HOST_PTR.code);
      t.regex(error?.reason ?? '', /detached/);
      t.deepEqual([...new Uint8Array(moved)], [1, 2, 3, 4, 5, 6, 7, 8]); // it was freed together with the memory
      await t.notThrowsAsync(cl.finishAsync(queue), 'said once');
      cl.releaseMemObject(buffer);
    },
  );

  test.serial(title('memory may be transferred as soon as a wait is over'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 1 << 12);
    for (let i = 0; i < 20; i++) {
      const host = new Uint8Array(1 << 12);
      const read = cl.enqueueReadBuffer(
        queue,
        buffer,
        false,
        0,
        host.byteLength,
        host,
        null,
        true,
      ) as cl.Event;
      if (i % 2) cl.finish(queue);
      // rusticl's clFinish may return too early when it is called from another thread than the enqueues.
      else if (name === 'rusticl') await cl.waitForEventsAsync([read]);
      else await cl.finishAsync(queue);
      cl.releaseEvent(read);
      structuredClone(host.buffer, { transfer: [host.buffer] });
      t.is(cl.finish(queue), 0);
    }
    cl.releaseMemObject(buffer);
  });

  test.serial(title('resizable memory is rejected unless the call blocks'), (t) => {
    const Resizable = ArrayBuffer as unknown as new (n: number, o: { maxByteLength: number }) => ArrayBuffer;
    const host = new Resizable(8, { maxByteLength: 64 });
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 8);
    t.regex(thrown(() => cl.enqueueReadBuffer(queue, buffer, false, 0, 8, host)).reason ?? '', /resizable/);
    t.regex(thrown(() => cl.createBuffer(context, cl.MEM_USE_HOST_PTR, 8, host)).reason ?? '', /resizable/);
    t.is(cl.enqueueReadBuffer(queue, buffer, true, 0, 8, host), 0); // over before it could be stopped
    cl.releaseMemObject(buffer);
  });

  test.serial(title('a buffer over host memory keeps it alive and rejects detached memory'), async (t) => {
    const make = () => {
      const host = new Uint8Array(4096).fill(7);
      return cl.createBuffer(context, cl.MEM_USE_HOST_PTR, 4096, host);
    };
    const buffer = make();
    collectGarbage();
    await turn();
    const back = new Uint8Array(4096);
    cl.enqueueReadBuffer(queue, buffer, true, 0, 4096, back);
    t.true(back.every((byte) => byte === 7));
    cl.releaseMemObject(buffer);

    const host = new Uint8Array(64);
    const over = cl.createBuffer(context, cl.MEM_USE_HOST_PTR, 64, host);
    structuredClone(host.buffer, { transfer: [host.buffer] });
    const error = thrown(() => cl.enqueueReadBuffer(queue, over, true, 0, 64, back));
    t.is(error.code, cl.INVALID_MEM_OBJECT.code);
    t.regex(error.reason ?? '', /detached/);
    t.is(cl.releaseMemObject(over), 0);
  });

  test.serial(title('mapped memory cannot be transferred'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const mapped = cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_WRITE, 0, 64);
    try {
      structuredClone(mapped, { transfer: [mapped] }); // refused by newer versions of Node, a plain copy in older ones
    } catch (error) {
      t.is((error as Error).name, 'DataCloneError');
    }
    const { transfer } = mapped as ArrayBuffer & { transfer?: () => ArrayBuffer };
    if (transfer) t.throws(() => transfer.call(mapped), { instanceOf: TypeError });
    t.is(mapped.byteLength, 64);
    cl.enqueueUnmapMemObject(queue, buffer, mapped);
    cl.finish(queue);
    cl.releaseMemObject(buffer);
  });

  test.serial(title('releasing a mapped buffer detaches the mapping'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const mapped = cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_READ, 0, 64);
    t.is(mapped.byteLength, 64);
    cl.releaseMemObject(buffer);
    t.is(mapped.byteLength, 0);
  });

  test.serial(title('a mapping keeps its buffer when the handle is collected'), async (t) => {
    const map = () => {
      const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 4096, new Uint8Array(4096).fill(5));
      return cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_READ, 0, 4096);
    };
    const mapped = map();
    for (let i = 0; i < 3; i++) {
      collectGarbage();
      await turn();
    }
    t.true(new Uint8Array(mapped).every((byte) => byte === 5));
  });

  const references = (): number => cl.getContextInfo(context, cl.CONTEXT_REFERENCE_COUNT);
  const alone = references();
  const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
  // Drivers need not count a context once per buffer; only drivers that do show the release of buffers.
  const counted = where(references() > alone, 'the driver counts no references', test.serial);
  cl.releaseMemObject(buffer);
  counted(title('collected handles release their objects'), async (t) => {
    const before = references();
    for (let i = 0; i < 200; i++) cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const full = references();
    t.true(full > before + 100, `${before} ${full}`);
    for (let i = 0; i < 10; i++) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 20)); // their releases take place on a thread
    }
    const after = references();
    t.true(after < before + 50, `${before} ${full} ${after}`);
  });
}
