import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened } from './devices.js';
import { run } from './run.js';

for (const { name, context, device, version, userEvents } of opened) {
  const withUserEvents = where(
    userEvents && version >= 120,
    'no user events, or OpenCL below 1.2',
    test.serial,
  );
  const svm = version >= 200 && cl.getDeviceInfo(device, cl.DEVICE_SVM_CAPABILITIES) > 0;
  const calls = ['finish', 'waitForEvents', 'enqueueReadBuffer', 'enqueueMapBuffer', 'releaseCommandQueue'];

  for (const call of [...calls, ...(svm ? ['enqueueSVMMemcpy'] : [])]) {
    withUserEvents(`${name}: a worker in ${call} behind its own user event can be terminated`, async (t) => {
      const { code, signal, stdout, stderr } = await run('self-blocked', [name, call, 'terminate'], {}, 20);
      t.is(signal, null, 'it hung');
      t.is(code, 0, stderr);
      t.is(stdout, call === 'releaseCommandQueue' ? stdout : '1\n');
    });

    withUserEvents(
      `${name}: a process exits while its worker is in ${call} behind its own user event`,
      async (t) => {
        const { code, signal, stderr } = await run('self-blocked', [name, call, 'exit'], {}, 20);
        t.is(signal, null, 'it hung');
        t.is(code, 7, stderr);
      },
    );
  }

  withUserEvents(
    `${name}: calls that block work beside an open user event that they do not wait for`,
    (t) => {
      const queue = cl.createCommandQueue(context, device);
      const open = cl.createUserEvent(context);
      const bytes = Uint8Array.of(1, 2, 3, 4);
      const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 4, bytes);
      const host = new Uint8Array(4);
      t.is(cl.enqueueReadBuffer(queue, buffer, true, 0, 4, host), 0);
      t.deepEqual(host, bytes);
      const written = cl.enqueueWriteBuffer(
        queue,
        buffer,
        true,
        0,
        4,
        bytes.toReversed(),
        null,
        true,
      ) as cl.Event;
      t.is(cl.getEventInfo(written, cl.EVENT_COMMAND_EXECUTION_STATUS), cl.COMPLETE);
      const mapped = cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_READ, 0, 4);
      t.deepEqual([...new Uint8Array(mapped)], [4, 3, 2, 1]);
      cl.enqueueUnmapMemObject(queue, buffer, mapped);
      t.is(cl.waitForEvents([written]), 0);
      t.is(cl.finish(queue), 0);
      cl.setUserEventStatus(open, cl.COMPLETE);
      for (const made of [written, open]) cl.releaseEvent(made);
      cl.releaseMemObject(buffer);
      cl.releaseCommandQueue(queue);
    },
  );
}
