import test from 'ava';
import { native } from '../../src/opencl/binding.js';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { copiesImages, forgetsMaps, opened, thrown } from './devices.js';

const bytes = (n: number) => new Uint8Array(n).map((_, i) => i);

for (const under of opened) {
  const { name, context, device, queue, version, images, userEvents } = under;
  const title = (claim: string): string => `${name}: ${claim}`;
  const read = (buffer: cl.MemObject, n: number) => {
    const host = new Uint8Array(n);
    cl.enqueueReadBuffer(queue, buffer, true, 0, n, host);
    return [...host];
  };

  test(title('ranges of buffers are written, copied and read'), (t) => {
    const from = cl.createBuffer(context, cl.MEM_READ_WRITE, 16);
    const to = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 16, new Uint8Array(16));
    cl.enqueueWriteBuffer(queue, from, true, 0, 16, bytes(16));
    t.is(cl.enqueueCopyBuffer(queue, from, to, 4, 2, 3), 0);
    t.deepEqual(read(to, 8), [0, 0, 4, 5, 6, 0, 0, 0]);
    const event = cl.enqueueCopyBuffer(queue, from, to, 0, 8, 8, null, true);
    t.true(event instanceof cl.Event);
    cl.waitForEvents([event]);
    t.is(cl.getEventInfo(event, cl.EVENT_COMMAND_EXECUTION_STATUS), cl.COMPLETE);
    t.is(cl.getEventInfo(event, cl.EVENT_COMMAND_TYPE), cl.COMMAND_COPY_BUFFER);
    cl.releaseEvent(event);
    for (const buffer of [from, to]) cl.releaseMemObject(buffer);
  });

  const withFlushes = where(version >= 120 && userEvents, 'no user events, or OpenCL below 1.2', test); // other threads wait, which needs a thread-safe driver
  withFlushes(
    title('a blocking call is complete when it returns, even if another thread flushes the queue'),
    async (t) => {
      const own = cl.createCommandQueue(context, device, 0);
      const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 16);
      const waits: Promise<void>[] = [];
      let [unread, unmapped, unfinished] = [0, 0, 0];
      for (let round = 1; round <= 300; round++) {
        // A thread that waits for an event flushes its queue at an unpredictable time.
        const fill = (value: number) => {
          waits.push(cl.enqueueFillBuffer(own, buffer, value, 0, 16, null, true).completed);
        };
        const host = new Uint32Array(4);
        fill(3 * round);
        cl.enqueueReadBuffer(own, buffer, true, 0, 16, host);
        if (host[3] !== 3 * round) unread++;
        fill(3 * round + 1);
        const mapped = cl.enqueueMapBuffer(own, buffer, true, cl.MAP_READ, 0, 16);
        if (new Uint32Array(mapped)[3] !== 3 * round + 1) unmapped++;
        cl.enqueueUnmapMemObject(own, buffer, mapped);
        fill(3 * round + 2);
        cl.enqueueReadBuffer(own, buffer, false, 0, 16, host);
        cl.finish(own);
        if (host[3] !== 3 * round + 2) unfinished++;
        if (round % 20 === 0) await Promise.all(waits.splice(0));
      }
      t.deepEqual({ unread, unmapped, unfinished }, { unread: 0, unmapped: 0, unfinished: 0 });
      cl.releaseMemObject(buffer);
      cl.releaseCommandQueue(own);
    },
  );

  where(
    version >= 120,
    'needs OpenCL 1.2',
    test,
  )(title('a fill writes 4 bytes of an integer, 8 of a fraction, or bytes as they are'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 16);
    cl.enqueueFillBuffer(queue, buffer, -2, 0, 16);
    t.deepEqual(read(buffer, 5), [254, 255, 255, 255, 254]);
    cl.enqueueFillBuffer(queue, buffer, 0xfffffffe, 0, 16);
    t.deepEqual(read(buffer, 5), [254, 255, 255, 255, 254]);
    cl.enqueueFillBuffer(queue, buffer, 2.5, 0, 16);
    t.deepEqual(read(buffer, 16), [...new Uint8Array(Float64Array.of(2.5, 2.5).buffer)]);
    cl.enqueueFillBuffer(queue, buffer, Buffer.from([1, 2]), 4, 4);
    t.deepEqual(read(buffer, 8).slice(4), [1, 2, 1, 2]);
    t.is(thrown(() => cl.enqueueFillBuffer(queue, buffer, null as never, 0, 16)).code, cl.INVALID_VALUE.code);
    cl.releaseMemObject(buffer);
  });

  test(title('a sub-buffer can be used as a buffer'), (t) => {
    const whole = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 8192, bytes(8192));
    const part = cl.createSubBuffer(whole, 0, cl.BUFFER_CREATE_TYPE_REGION, { origin: 4096, size: 16n });
    t.is(cl.getMemObjectInfo(part, cl.MEM_OFFSET), 4096);
    t.is(cl.getMemObjectInfo(part, cl.MEM_SIZE), 16);
    t.deepEqual(read(part, 3), [0, 1, 2]);
    cl.releaseMemObject(part);
    cl.releaseMemObject(whole);
  });

  test(title('a mapping is the memory of the buffer until it is unmapped'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 16, bytes(16));
    const mapped = cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_READ | cl.MAP_WRITE, 4, 8);
    t.true(mapped instanceof ArrayBuffer);
    const view = new Uint8Array(mapped);
    t.deepEqual([...view], [4, 5, 6, 7, 8, 9, 10, 11]);
    view.fill(99);
    t.is(cl.enqueueUnmapMemObject(queue, buffer, view), 0);
    t.is(mapped.byteLength, 0);
    t.is(view.length, 0);
    cl.finish(queue);
    t.deepEqual(read(buffer, 14), [0, 1, 2, 3, 99, 99, 99, 99, 99, 99, 99, 99, 12, 13]);
    t.is(thrown(() => cl.enqueueUnmapMemObject(queue, buffer, mapped)).code, cl.INVALID_VALUE.code);
    t.is(
      thrown(() => cl.enqueueUnmapMemObject(queue, buffer, new Uint8Array(8))).code,
      cl.INVALID_VALUE.code,
    );
    cl.releaseMemObject(buffer);
  });

  where(
    userEvents,
    'no user events',
    test,
  )(title('an unmap waits for its map, in any queue'), async (t) => {
    // Separate queues: other tests wait for the common one meanwhile.
    const own = cl.createCommandQueue(context, device, 0);
    const other = cl.createCommandQueue(context, device, 0);
    const buffers = [false, true].map(() =>
      cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 4096, new Uint8Array(4096).fill(7)),
    );
    const userEvent = cl.createUserEvent(context);
    const later: (() => cl.Event)[] = [];
    const forgets = forgetsMaps(under);
    for (const [i, buffer] of buffers.entries()) {
      const mapped = cl.enqueueMapBuffer(own, buffer, false, cl.MAP_WRITE, 0, 4096, [userEvent], i > 0);
      const unmap = () => cl.enqueueUnmapMemObject(other, buffer, mapped, null, true) as cl.Event;
      if (forgets) {
        t.is(thrown(unmap).code, cl.INVALID_VALUE.code, 'it knows of a mapping once the map has run');
        later.push(unmap);
        continue;
      }
      const unmapped = unmap();
      cl.flush(other);
      await new Promise((resolve) => setTimeout(resolve, 20));
      t.true(cl.getEventInfo(unmapped, cl.EVENT_COMMAND_EXECUTION_STATUS) > cl.COMPLETE);
    }
    cl.setUserEventStatus(userEvent, cl.COMPLETE);
    await cl.finishAsync(own);
    for (const unmap of later) unmap();
    await cl.finishAsync(other);
    for (const buffer of buffers) {
      t.deepEqual(read(buffer, 4096).slice(0, 2), [7, 7]);
      cl.releaseMemObject(buffer);
    }
    for (const made of [own, other]) cl.releaseCommandQueue(made);
  });

  test(title('a mapped buffer may be released after the queue of its mapping'), (t) => {
    const others: cl.CommandQueue[] = [];
    for (let round = 0; round < 10; round++) {
      const own = cl.createCommandQueue(context, device, 0);
      const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4096);
      const before = native().setCopyMappings(round % 2 === 1);
      const mapped = cl.enqueueMapBuffer(own, buffer, true, cl.MAP_READ, 0, 4096);
      native().setCopyMappings(before);
      cl.finish(own);
      cl.releaseCommandQueue(own);
      others.push(cl.createCommandQueue(context, device, 0)); // reuses the memory of the released one
      cl.releaseMemObject(buffer);
      t.is(mapped.byteLength, round % 2 === 1 ? 4096 : 0);
    }
    for (const other of others) cl.releaseCommandQueue(other);
  });

  test(title('without external memory a mapping is a copy, is marked as one and is written back'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 8, bytes(8));
    const before = native().setCopyMappings(true);
    const mapped = cl.enqueueMapBuffer(queue, buffer, false, cl.MAP_READ | cl.MAP_WRITE, 2, 4, null, true);
    native().setCopyMappings(before);
    t.true(mapped.copied);
    t.true(mapped.event instanceof cl.Event);
    t.deepEqual([...new Uint8Array(mapped)], [2, 3, 4, 5]);
    new Uint8Array(mapped).fill(7);
    cl.enqueueUnmapMemObject(queue, buffer, mapped);
    t.is(mapped.byteLength, 0);
    cl.finish(queue);
    t.deepEqual(read(buffer, 8), [0, 1, 7, 7, 7, 7, 6, 7]);
    cl.releaseMemObject(buffer);
  });

  test(title('a non-blocking mapping carries its event'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 8, bytes(8));
    const mapped = cl.enqueueMapBuffer(queue, buffer, false, cl.MAP_READ, 0, 8, [], true);
    t.true(mapped.event instanceof cl.Event);
    await mapped.event?.completed;
    t.deepEqual([...new Uint8Array(mapped)], [...bytes(8)]);
    cl.enqueueUnmapMemObject(queue, buffer, mapped);
    cl.finish(queue);
    cl.releaseMemObject(buffer);
  });

  where(
    !(!images || version < 120),
    'no images, or OpenCL below 1.2',
    test,
  )(title('images are written, filled, copied, mapped and read'), (t) => {
    const format = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
    const shape = { type: cl.MEM_OBJECT_IMAGE2D, width: 4, height: 3 };
    const image = cl.createImage(context, cl.MEM_READ_WRITE, format, shape);
    const other = cl.createImage(context, cl.MEM_READ_WRITE | cl.MEM_COPY_HOST_PTR, format, shape, bytes(48));
    t.is(cl.getImageInfo(image, cl.IMAGE_WIDTH), 4);
    const found = cl.getImageInfo(image, cl.IMAGE_FORMAT);
    t.true(Array.isArray(found));
    t.is(found.channel_order, cl.RGBA);
    const readImage = (source: cl.MemObject) => {
      const host = new Uint8Array(48);
      cl.enqueueReadImage(queue, source, true, [0, 0, 0], [4, 3, 1], 0, 0, host);
      return [...host];
    };
    t.deepEqual(readImage(other), [...bytes(48)]);
    cl.enqueueFillImage(queue, image, [1, 2, 3, 4], [0, 0, 0], [4, 3, 1]);
    t.deepEqual(
      readImage(image),
      Array.from({ length: 48 }, (_, i) => (i % 4) + 1),
    );
    cl.enqueueCopyImage(queue, other, image, [0, 0, 0], [1, 1, 0], [2, 1, 1]);
    t.deepEqual(readImage(image).slice(20, 28), [...bytes(8)]);
    cl.enqueueWriteImage(queue, image, true, [0, 0, 0], [1, 1, 1], 0, 0, Uint8Array.of(9, 9, 9, 9));
    t.deepEqual(readImage(image).slice(0, 5), [9, 9, 9, 9, 1]);
    const short = () =>
      cl.enqueueReadImage(queue, image, true, [0, 0, 0], [4, 3, 1], 0, 0, new Uint8Array(47));
    t.is(thrown(short).code, cl.INVALID_VALUE.code);
    const small = () => cl.createImage(context, cl.MEM_COPY_HOST_PTR, format, shape, new Uint8Array(47));
    t.is(thrown(small).code, cl.INVALID_HOST_PTR.code);
    const mapped = cl.enqueueMapImage(queue, other, true, cl.MAP_READ, [0, 0, 0], [4, 2, 1]);
    t.deepEqual([...new Uint8Array(mapped, 0, 4)], [0, 1, 2, 3]);
    t.true((mapped.row_pitch ?? 0) >= 16);
    cl.enqueueUnmapMemObject(queue, other, mapped);
    cl.finish(queue);
    for (const memory of [image, other]) cl.releaseMemObject(memory);
  });

  test(title('boxes are copied from and to sub-buffers'), (t) => {
    const whole = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 8192, bytes(8192));
    const other = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 64, new Uint8Array(64));
    const part = cl.createSubBuffer(whole, 0, cl.BUFFER_CREATE_TYPE_REGION, { origin: 4096, size: 512 });
    cl.enqueueCopyBufferRect(queue, part, other, [1, 2, 0], [3, 0, 0], [5, 2, 1], 20, 0, 16, 0);
    const [a, b] = [[...bytes(46).subarray(41)], [...bytes(66).subarray(61)]];
    t.deepEqual(read(other, 24), [0, 0, 0, ...a, ...Array<number>(11).fill(0), ...b]);
    cl.enqueueCopyBufferRect(queue, other, part, [3, 0, 0], [0, 0, 1], [5, 2, 1], 16, 0, 10, 100);
    t.deepEqual(read(part, 115).slice(100), [...a, 105, 106, 107, 108, 109, ...b]);
    t.deepEqual(read(whole, 4096), [...bytes(4096)]);
    for (const memory of [part, whole, other]) cl.releaseMemObject(memory);
  });

  where(
    copiesImages(under),
    'no images, OpenCL below 1.2, or the driver copies images to other offsets',
    test,
  )(title('images are copied to and from sub-buffers'), (t) => {
    const format = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
    const image = cl.createImage(context, cl.MEM_READ_WRITE, format, {
      type: cl.MEM_OBJECT_IMAGE2D,
      width: 4,
      height: 2,
    });
    const whole = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 8192, bytes(8192));
    const part = cl.createSubBuffer(whole, 0, cl.BUFFER_CREATE_TYPE_REGION, { origin: 4096, size: 64 });
    cl.enqueueCopyBufferToImage(queue, part, image, 8, [0, 0, 0], [4, 2, 1]);
    const host = new Uint8Array(32);
    cl.enqueueReadImage(queue, image, true, [0, 0, 0], [4, 2, 1], 0, 0, host);
    t.deepEqual([...host], [...bytes(40).subarray(8)]);
    cl.enqueueCopyImageToBuffer(queue, image, part, [0, 0, 0], [4, 2, 1], 32);
    t.deepEqual(read(part, 64), [...bytes(32), ...bytes(40).subarray(8)]);
    t.deepEqual(read(whole, 4096), [...bytes(4096)]);
    const beyond = () => cl.enqueueCopyImageToBuffer(queue, image, part, [0, 0, 0], [4, 2, 1], 33);
    t.is(thrown(beyond).message, cl.INVALID_VALUE.message);
    for (const memory of [image, part, whole]) cl.releaseMemObject(memory);
  });

  const withImages = where(images && version >= 120, 'no images, or OpenCL below 1.2', test); // made by clCreateImage
  withImages(title('an image over host memory must be aligned to its pixel size'), (t) => {
    const memory = new ArrayBuffer(1024);
    const at = (offset: number, flags: number, type: number) =>
      cl.createImage(
        context,
        flags,
        { channel_order: cl.RGBA, channel_data_type: type },
        { type: cl.MEM_OBJECT_IMAGE2D, width: 4, height: 2 },
        new Uint8Array(memory, offset),
      );
    for (const offset of [1, 4, 8]) {
      const error = thrown(() => at(offset, cl.MEM_USE_HOST_PTR, cl.FLOAT));
      t.is(error.code, cl.INVALID_HOST_PTR.code);
      t.regex(error.message + error.reason, /multiple of 16 bytes/);
    }
    const made = [
      at(16, cl.MEM_USE_HOST_PTR, cl.FLOAT),
      at(4, cl.MEM_USE_HOST_PTR, cl.UNSIGNED_INT8),
      at(1, cl.MEM_COPY_HOST_PTR, cl.FLOAT),
    ];
    for (const image of made) cl.releaseMemObject(image);
  });

  where(
    !(!images || version < 120),
    'no images, or OpenCL below 1.2',
    test,
  )(title('invalid image formats and shapes throw different errors'), (t) => {
    const format = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
    const shape = { type: cl.MEM_OBJECT_IMAGE2D, width: 4, height: 4 };
    const code = (f: unknown, s: unknown) =>
      thrown(() => cl.createImage(context, 0, f as cl.ImageFormat, s as cl.ImageDescription)).code;
    t.is(code(-1, shape), cl.INVALID_IMAGE_FORMAT_DESCRIPTOR.code);
    t.is(code({}, shape), cl.INVALID_IMAGE_FORMAT_DESCRIPTOR.code);
    t.is(code(format, -1), cl.INVALID_IMAGE_DESCRIPTOR.code);
    t.is(code(format, { ...shape, width: -4 }), cl.INVALID_IMAGE_DESCRIPTOR.code);
    t.true(cl.getSupportedImageFormats(context, cl.MEM_READ_ONLY, cl.MEM_OBJECT_IMAGE2D).length > 0);
  });

  test(title('markers and barriers return events'), (t) => {
    const marker = cl.enqueueMarker(queue, true);
    t.true(marker instanceof cl.Event);
    t.is(cl.enqueueBarrier(queue), 0);
    t.is(cl.enqueueWaitForEvents(queue, [marker]), 0);
    if (version >= 120) {
      const barrier = cl.enqueueBarrierWithWaitList(queue, [marker], true);
      t.true(barrier instanceof cl.Event);
      cl.releaseEvent(barrier);
    }
    cl.finish(queue);
    cl.releaseEvent(marker);
  });
}
