import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { forgetsMaps, opened, thrown } from './devices.js';
import { run } from './run.js';

const FORMAT = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
const IMAGE = { type: cl.MEM_OBJECT_IMAGE2D, width: 64, height: 64 };

for (const under of opened) {
  const { name, context, device, queue, version, images, userEvents } = under;
  const title = (claim: string): string => `${name}: ${claim}`;

  where(
    userEvents && images && version >= 120,
    'no user events or no images',
    test.serial,
  )(title('an unmap waits for the map of an image that has no event, in whatever queue'), async (t) => {
    const own = cl.createCommandQueue(context, device);
    const other = cl.createCommandQueue(context, device);
    const forgets = forgetsMaps(under);
    for (const wanted of [false, true]) {
      const image = cl.createImage(context, cl.MEM_READ_WRITE, FORMAT, IMAGE);
      cl.enqueueFillImage(own, image, [1, 2, 3, 4], [0, 0, 0], [64, 64, 1]);
      cl.finish(own);
      const userEvent = cl.createUserEvent(context);
      const mapped = cl.enqueueMapImage(
        own,
        image,
        false,
        cl.MAP_WRITE,
        [0, 0, 0],
        [64, 64, 1],
        [userEvent],
        wanted,
      );
      const unmap = () => cl.enqueueUnmapMemObject(other, image, mapped, null, true) as cl.Event;
      if (forgets) {
        t.is(thrown(unmap).code, cl.INVALID_VALUE.code, 'it knows of a mapping once the map has run');
      } else {
        const unmapped = unmap();
        cl.flush(other);
        await new Promise((resolve) => setTimeout(resolve, 20));
        t.true(cl.getEventInfo(unmapped, cl.EVENT_COMMAND_EXECUTION_STATUS) > cl.COMPLETE);
        t.is(mapped.byteLength, 0);
        cl.releaseEvent(unmapped);
      }
      cl.setUserEventStatus(userEvent, cl.COMPLETE);
      await cl.finishAsync(own);
      if (forgets) unmap();
      await cl.finishAsync(other);
      const host = new Uint8Array(4);
      cl.enqueueReadImage(own, image, true, [63, 63, 0], [1, 1, 1], 0, 0, host);
      t.deepEqual([...host], [1, 2, 3, 4]);
      cl.releaseMemObject(image);
    }
    for (const made of [own, other]) cl.releaseCommandQueue(made);
  });

  for (const how of ['in turns', 'at once'] as const) {
    test.serial(title(`mapped memory that a program drops is given back, ${how}`), async (t) => {
      const { code, signal, stdout, stderr } = await run('dropped-mappings', [name, how]);
      t.is(signal ?? code, 0, stderr);
      const mebibytes = Number(stdout);
      t.true(mebibytes < 400, `${mebibytes} MiB more for 1200 that were mapped one after the other`);
    });
  }

  test.serial(title('a mapping lasts while its memory or its object is in use'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 64, new Uint8Array(64).fill(3));
    const view = new Uint8Array(cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_WRITE, 0, 64));
    // Others are created and released meanwhile.
    for (let i = 0; i < 100; i++) cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_READ, 0, 64);
    await new Promise((resolve) => setImmediate(resolve));
    view.fill(9);
    t.is(cl.enqueueUnmapMemObject(queue, buffer, view), 0);
    const host = new Uint8Array(64);
    cl.enqueueReadBuffer(queue, buffer, true, 0, 64, host);
    t.true(host.every((byte) => byte === 9));
    cl.releaseMemObject(buffer);
  });
}
