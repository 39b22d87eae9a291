// The classic first programs, written the way programs for node-opencl are.
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { opened } from './devices.js';

for (const { name, platform } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;

  test(title('vector add: copies in, a kernel, a blocking read'), (t) => {
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

  test(title('mapped vector add: buffers over host memory, and a mapping of the result'), (t) => {
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

  test(title('saxpy: a scalar argument and a buffer that is read and written'), (t) => {
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

  test(title('square with events: Buffers, a wait list and a callback at the end'), async (t) => {
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
}
