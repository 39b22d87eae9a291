// The classic first programs, written as for node-opencl.
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened } from './devices.js';

for (const { name, platform, version, images } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;

  test(title('vector add works with copied inputs, a kernel and a blocking read'), (t) => {
    const n = 1000;
    const a = new Uint32Array(n);
    const b = new Uint32Array(n);
    const c = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      a[i] = i;
      b[i] = i * 2;
    }
    const context = cl.createContextFromType([cl.CONTEXT_PLATFORM, platform], cl.DEVICE_TYPE_ALL, null, null);
    const device = cl.getContextInfo(context, cl.CONTEXT_DEVICES)[0];
    const program = cl.createProgramWithSource(
      context,
      `__kernel void vadd(__global int *a, __global int *b, __global int *c, uint count) {
         size_t i = get_global_id(0);
         if (i < count) c[i] = a[i] + b[i];
       }`,
    );
    cl.buildProgram(program);
    const kernel = cl.createKernel(program, 'vadd');
    const size = n * Uint32Array.BYTES_PER_ELEMENT;
    const aBuffer = cl.createBuffer(context, cl.MEM_READ_ONLY, size);
    const bBuffer = cl.createBuffer(context, cl.MEM_READ_ONLY, size);
    const cBuffer = cl.createBuffer(context, cl.MEM_WRITE_ONLY, size);
    cl.setKernelArg(kernel, 0, 'uint*', aBuffer);
    cl.setKernelArg(kernel, 1, 'uint*', bBuffer);
    cl.setKernelArg(kernel, 2, 'uint*', cBuffer);
    cl.setKernelArg(kernel, 3, 'uint', n);
    const queue = cl.createCommandQueueWithProperties(context, device, []);
    cl.enqueueWriteBuffer(queue, aBuffer, true, 0, size, a);
    cl.enqueueWriteBuffer(queue, bBuffer, true, 0, size, b);
    cl.enqueueNDRangeKernel(queue, kernel, 1, null, [1024], [64]);
    cl.enqueueReadBuffer(queue, cBuffer, true, 0, size, c);
    t.deepEqual(
      c,
      a.map((value) => value * 3),
    );
    for (const buffer of [aBuffer, bBuffer, cBuffer]) cl.releaseMemObject(buffer);
    cl.releaseKernel(kernel);
    cl.releaseProgram(program);
    cl.releaseCommandQueue(queue);
    cl.releaseContext(context);
  });

  test(title('vector add works with buffers over host memory and a mapping of the result'), (t) => {
    const n = 10;
    const a = new Uint32Array(n).map((_, i) => i);
    const b = new Uint32Array(n).map((_, i) => i * 2);
    const c = new Uint32Array(n).fill(10);
    const size = c.byteLength;
    const [device] = cl.getDeviceIDs(platform) as [cl.Device];
    const context = cl.createContext([cl.CONTEXT_PLATFORM, platform], [device], null, null);
    const program = cl.createProgramWithSource(
      context,
      '__kernel void vadd(__global uint *a, __global uint *b, __global uint *c) { size_t i = get_global_id(0); c[i] = a[i] + b[i]; }',
    );
    cl.buildProgram(program);
    const kernel = cl.createKernel(program, 'vadd');
    const buffers = [
      cl.createBuffer(context, cl.MEM_READ_ONLY | cl.MEM_USE_HOST_PTR, size, a),
      cl.createBuffer(context, cl.MEM_READ_ONLY | cl.MEM_USE_HOST_PTR, size, b),
      cl.createBuffer(context, cl.MEM_WRITE_ONLY | cl.MEM_USE_HOST_PTR, size, c),
    ] as const;
    buffers.forEach((buffer, i) => {
      cl.setKernelArg(kernel, i, 'uint*', buffer);
    });
    const queue = cl.createCommandQueue(context, device, 0);
    cl.enqueueNDRangeKernel(queue, kernel, 1, null, [n], null);
    const map = cl.enqueueMapBuffer(queue, buffers[2], cl.TRUE, cl.MAP_READ, 0, size);
    t.deepEqual([...new Uint32Array(map)], [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
    cl.enqueueUnmapMemObject(queue, buffers[2], map);
    cl.finish(queue);
    t.deepEqual([...c], [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
    for (const buffer of buffers) cl.releaseMemObject(buffer);
    cl.releaseKernel(kernel);
    cl.releaseProgram(program);
    cl.releaseCommandQueue(queue);
    cl.releaseContext(context);
  });

  test(title('saxpy works with a scalar argument and a buffer that is read and written'), (t) => {
    const n = 256;
    const x = new Float32Array(n).map((_, i) => i);
    const y = new Float32Array(n).fill(1);
    const [device] = cl.getDeviceIDs(platform) as [cl.Device];
    const context = cl.createContext([cl.CONTEXT_PLATFORM, platform], [device]);
    const queue = cl.createCommandQueue(context, device);
    const program = cl.createProgramWithSource(
      context,
      '__kernel void saxpy(float a, __global float *x, __global float *y) { size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }',
    );
    cl.buildProgram(program, [device], '-cl-fast-relaxed-math');
    const kernel = cl.createKernel(program, 'saxpy');
    const xBuffer = cl.createBuffer(context, cl.MEM_READ_ONLY | cl.MEM_COPY_HOST_PTR, x.byteLength, x);
    const yBuffer = cl.createBuffer(context, cl.MEM_READ_WRITE | cl.MEM_COPY_HOST_PTR, y.byteLength, y);
    cl.setKernelArg(kernel, 0, 'float', 0.5);
    cl.setKernelArg(kernel, 1, 'float*', xBuffer);
    cl.setKernelArg(kernel, 2, 'float*', yBuffer);
    cl.enqueueNDRangeKernel(queue, kernel, 1, null, [n], null);
    cl.enqueueReadBuffer(queue, yBuffer, true, 0, y.byteLength, y);
    t.deepEqual(
      y,
      x.map((value) => value / 2 + 1),
    );
    cl.releaseMemObject(xBuffer);
    cl.releaseMemObject(yBuffer);
    cl.releaseKernel(kernel);
    cl.releaseProgram(program);
    cl.releaseCommandQueue(queue);
    cl.releaseContext(context);
  });

  test(title('square works with Node Buffers, a wait list and a callback at the end'), async (t) => {
    const n = 100;
    const inputs = Buffer.alloc(n * 4);
    const outputs = Buffer.alloc(n * 4);
    for (let i = 0; i < n; i++) inputs.writeUInt32LE(i, i * 4);
    const [device] = cl.getDeviceIDs(platform, cl.DEVICE_TYPE_ALL) as [cl.Device];
    const context = cl.createContext([cl.CONTEXT_PLATFORM, platform], [device]);
    const program = cl.createProgramWithSource(
      context,
      '__kernel void square(__global uint *in, __global uint *out, uint n) { size_t i = get_global_id(0); if (i < n) out[i] = in[i] * in[i]; }',
    );
    cl.buildProgram(program);
    const kernel = cl.createKernel(program, 'square');
    const inputsMem = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, n * 4, inputs);
    const outputsMem = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, n * 4, outputs);
    cl.setKernelArg(kernel, 0, 'uint*', inputsMem);
    cl.setKernelArg(kernel, 1, 'uint*', outputsMem);
    cl.setKernelArg(kernel, 2, 'uint', n);
    const queue = cl.createCommandQueue(context, device, 0);
    const launched = cl.enqueueNDRangeKernel(queue, kernel, 1, null, [n], null, [], true);
    const read = cl.enqueueReadBuffer(queue, outputsMem, false, 0, n * 4, outputs, [launched], true);
    const last = await new Promise((resolve) => {
      cl.setEventCallback(read, cl.COMPLETE, () => resolve(outputs.readUInt32LE(4 * (n - 1))));
    });
    t.is(last, 99 * 99);
    for (const event of [launched, read]) cl.releaseEvent(event);
    for (const buffer of [inputsMem, outputsMem]) cl.releaseMemObject(buffer);
    cl.releaseKernel(kernel);
    cl.releaseProgram(program);
    cl.releaseCommandQueue(queue);
    cl.releaseContext(context);
  });

  test(
    title('saxpy works with non-blocking writes, a kernel that waits for them, and profiling times'),
    (t) => {
      const n = 4096;
      const alpha = 2.0;
      const x = new Float32Array(n).map((_, i) => i);
      const y = new Float32Array(n).map((_, i) => n - i);
      const z = new Float32Array(n);
      const size = n * Float32Array.BYTES_PER_ELEMENT;
      const context = cl.createContextFromType(
        [cl.CONTEXT_PLATFORM, platform],
        cl.DEVICE_TYPE_ALL,
        null,
        null,
      );
      const device = cl.getContextInfo(context, cl.CONTEXT_DEVICES)[0];
      // Programs look for the newer function, and fall back to the older one on older platforms.
      const queue =
        version >= 200
          ? cl.createCommandQueueWithProperties(context, device, [
              cl.QUEUE_PROPERTIES,
              cl.QUEUE_PROFILING_ENABLE,
            ])
          : cl.createCommandQueue(context, device, cl.QUEUE_PROFILING_ENABLE);
      const program = cl.createProgramWithSource(
        context,
        [
          '__kernel void saxpy_kernel(float alpha, __global float *x, __global float *y, __global float *z)',
          '{',
          '  int i = get_global_id(0);',
          '  z[i] = alpha * x[i] + y[i];',
          '}',
        ].join('\n'),
      );
      cl.buildProgram(program);
      const kernel = cl.createKernel(program, 'saxpy_kernel');
      const xBuffer = cl.createBuffer(context, cl.MEM_READ_ONLY, size);
      const yBuffer = cl.createBuffer(context, cl.MEM_READ_ONLY, size);
      const zBuffer = cl.createBuffer(context, cl.MEM_WRITE_ONLY, size);
      cl.setKernelArg(kernel, 0, 'float', alpha);
      cl.setKernelArg(kernel, 1, 'float*', xBuffer);
      cl.setKernelArg(kernel, 2, 'float*', yBuffer);
      cl.setKernelArg(kernel, 3, 'float*', zBuffer);
      const written = [
        cl.enqueueWriteBuffer(queue, xBuffer, false, 0, size, x, null, true),
        cl.enqueueWriteBuffer(queue, yBuffer, false, 0, size, y, null, true),
      ];
      const launched = cl.enqueueNDRangeKernel(queue, kernel, 1, null, [n], null, written, true);
      t.is(cl.waitForEvents([launched]), cl.SUCCESS);
      const read = cl.enqueueReadBuffer(queue, zBuffer, false, 0, size, z, [launched], true);
      cl.waitForEvents([read]);
      t.deepEqual(
        z,
        x.map((value, i) => alpha * value + (y[i] ?? 0)),
      );
      const started = cl.getEventProfilingInfo(launched, cl.PROFILING_COMMAND_START);
      const ended = cl.getEventProfilingInfo(launched, cl.PROFILING_COMMAND_END);
      t.is(started.length, 2);
      t.true(Number.isFinite((ended[1] - started[1]) * 1e-6));
      t.is(cl.getEventInfo(read, cl.EVENT_COMMAND_EXECUTION_STATUS), cl.COMPLETE);
      for (const event of [...written, launched, read]) cl.releaseEvent(event);
      for (const buffer of [xBuffer, yBuffer, zBuffer]) cl.releaseMemObject(buffer);
      cl.releaseKernel(kernel);
      cl.releaseProgram(program);
      cl.releaseCommandQueue(queue);
      cl.releaseContext(context);
    },
  );

  test(title('devices report the properties by which a program chooses one'), (t) => {
    const platforms = cl.getPlatformIDs();
    t.true(platforms.some((each) => each.equals(platform)));
    for (const what of [cl.PLATFORM_PROFILE, cl.PLATFORM_VERSION, cl.PLATFORM_NAME, cl.PLATFORM_VENDOR]) {
      t.true(cl.getPlatformInfo(platform, what).trim().length > 0);
    }
    for (const device of cl.getDeviceIDs(platform, cl.DEVICE_TYPE_ALL)) {
      const ask = (what: number) => cl.getDeviceInfo(device, what);
      t.regex(`${ask(cl.DEVICE_VENDOR).trim()} ${ask(cl.DEVICE_NAME)}`, /\S \S/);
      t.regex(ask(cl.DEVICE_VERSION), /^OpenCL \d\.\d/);
      t.true(ask(cl.DEVICE_OPENCL_C_VERSION).startsWith('OpenCL C'));
      for (const what of [
        cl.DEVICE_MAX_COMPUTE_UNITS,
        cl.DEVICE_MAX_WORK_GROUP_SIZE,
        cl.DEVICE_MAX_WORK_ITEM_DIMENSIONS,
        cl.DEVICE_ADDRESS_BITS,
      ]) {
        t.true(ask(what) > 0);
      }
      t.is(ask(cl.DEVICE_MAX_WORK_ITEM_SIZES).length, ask(cl.DEVICE_MAX_WORK_ITEM_DIMENSIONS));
      for (const what of [
        cl.DEVICE_GLOBAL_MEM_SIZE,
        cl.DEVICE_LOCAL_MEM_SIZE,
        cl.DEVICE_MAX_MEM_ALLOC_SIZE,
      ]) {
        const [high, low] = ask(what);
        t.true(high * 2 ** 32 + low > 0);
      }
      t.is(typeof ask(cl.DEVICE_IMAGE_SUPPORT), 'boolean');
      t.true((ask(cl.DEVICE_TYPE) & cl.DEVICE_TYPE_ALL) !== 0);
    }
    t.throws(() => cl.getDeviceIDs(platform, cl.DEVICE_TYPE_CUSTOM), {
      message: cl.DEVICE_NOT_FOUND.message,
    });
  });

  where(
    !(!images || version < 120),
    'no images, or OpenCL below 1.2',
    test,
  )(title('images are written, filled, copied to another and to a buffer, and mapped with pitches'), (t) => {
    const context = cl.createContextFromType([cl.CONTEXT_PLATFORM, platform], cl.DEVICE_TYPE_ALL, null, null);
    const device = cl.getContextInfo(context, cl.CONTEXT_DEVICES)[0];
    const queue = cl.createCommandQueue(context, device, null);
    const imageFormat = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
    const imageDesc = { type: cl.MEM_OBJECT_IMAGE2D, width: 8, height: 8, image_row_pitch: 8 };
    const image = cl.createImage(context, 0, imageFormat, imageDesc, null);
    const other = cl.createImage(context, cl.MEM_READ_WRITE, imageFormat, imageDesc, null);
    const pixels = Buffer.alloc(8 * 8 * 4, 7);
    t.is(cl.enqueueWriteImage(queue, image, true, [0, 0, 0], [8, 8, 1], 0, 0, pixels), cl.SUCCESS);
    cl.enqueueFillImage(queue, other, new Uint32Array([1, 2, 3, 4]), [0, 0, 0], [8, 8, 1]);
    cl.enqueueCopyImage(queue, image, other, [0, 0, 0], [0, 4, 0], [8, 4, 1]);
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, pixels.length);
    cl.enqueueCopyImageToBuffer(queue, other, buffer, [0, 0, 0], [8, 8, 1], 0);
    cl.enqueueReadBuffer(queue, buffer, true, 0, pixels.length, pixels);
    t.deepEqual([...pixels.subarray(0, 5)], [1, 2, 3, 4, 1]);
    t.deepEqual([...pixels.subarray(124, 132)], [1, 2, 3, 4, 7, 7, 7, 7]);
    cl.enqueueCopyBufferToImage(queue, buffer, image, 0, [0, 0, 0], [8, 8, 1]);
    const map = cl.enqueueMapImage(queue, image, true, cl.MAP_READ, [0, 0, 0], [8, 8, 1]);
    const pitch = map.image_row_pitch ?? 0;
    t.deepEqual([...new Uint8Array(map, 0, 4)], [1, 2, 3, 4]);
    t.deepEqual([...new Uint8Array(map, 4 * pitch, 4)], [7, 7, 7, 7]);
    cl.enqueueUnmapMemObject(queue, image, map);
    cl.finish(queue);
    t.is(cl.getImageInfo(image, cl.IMAGE_ELEMENT_SIZE), 4);
    for (const memory of [image, other, buffer]) cl.releaseMemObject(memory);
    cl.releaseCommandQueue(queue);
    cl.releaseContext(context);
  });

  test(title('user events, markers and barriers invoke callbacks with their data'), async (t) => {
    const context = cl.createContextFromType([cl.CONTEXT_PLATFORM, platform], cl.DEVICE_TYPE_ALL, null, null);
    const device = cl.getContextInfo(context, cl.CONTEXT_DEVICES)[0];
    const queue = cl.createCommandQueue(context, device, null);
    const userEvent = cl.createUserEvent(context);
    t.is(cl.getEventInfo(userEvent, cl.EVENT_COMMAND_EXECUTION_STATUS), cl.SUBMITTED);
    const called = new Promise((resolve) => {
      cl.setEventCallback(
        userEvent,
        cl.COMPLETE,
        (userData, status, event) => resolve([userData, status, event instanceof cl.WebCLEvent]),
        { my: 'data' },
      );
    });
    t.is(cl.setUserEventStatus(userEvent, cl.COMPLETE), cl.SUCCESS);
    t.deepEqual(await called, [{ my: 'data' }, cl.COMPLETE, true]);
    const marker =
      version >= 120
        ? cl.enqueueMarkerWithWaitList(queue, [userEvent], true)
        : (cl.enqueueMarker(queue, true) as cl.Event);
    t.is(cl.enqueueBarrier(queue), cl.SUCCESS);
    cl.flush(queue);
    cl.waitForEvents([marker]);
    t.true(cl.getEventInfo(marker, cl.EVENT_COMMAND_QUEUE).equals(queue));
    t.is(cl.retainEvent(marker), cl.SUCCESS);
    for (const event of [marker, marker, userEvent]) cl.releaseEvent(event);
    cl.releaseCommandQueue(queue);
    cl.releaseContext(context);
  });
}
