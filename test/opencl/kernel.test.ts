import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { kernel, opened, thrown } from './devices.js';

/** Runs `kernel void k(global T* out, T value)` and returns the bytes that the device received. */
function echo(
  device: (typeof opened)[number],
  type: string,
  bytes: number,
  value: cl.KernelArgumentValue,
  named = true,
) {
  const { context, queue } = device;
  const pragma = type.startsWith('double') ? '#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n' : '';
  const put = kernel(
    device,
    `${pragma}kernel void put(global ${type}* out, ${type} value) { *out = value; }`,
  );
  const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, bytes);
  const host = new Uint8Array(bytes);
  try {
    cl.setKernelArg(put, 0, `${type}*`, buffer);
    cl.setKernelArg(put, 1, named ? type : null, value);
    cl.enqueueNDRangeKernel(queue, put, 1, null, [1], null);
    cl.enqueueReadBuffer(queue, buffer, true, 0, bytes, host);
  } finally {
    cl.releaseKernel(put);
    cl.releaseMemObject(buffer);
  }
  return host.buffer;
}

for (const device of opened) {
  const { name, context, queue, version } = device;
  const title = (claim: string): string => `${name}: ${claim}`;

  where(
    version >= 210,
    'needs OpenCL 2.1',
    test,
  )(title('a cloned kernel keeps null arguments'), (t) => {
    const pick = kernel(
      device,
      'kernel void pick(global const int* a, global int* b) { b[0] = a ? a[0] : 7; }',
    );
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const host = new Int32Array(1);
    cl.setKernelArg(pick, 0, null, null);
    cl.setKernelArg(pick, 1, null, buffer);
    cl.enqueueTask(queue, cl.cloneKernel(pick));
    cl.enqueueReadBuffer(queue, buffer, true, 0, 4, host);
    t.is(host[0], 7);
  });

  test(title('scalars reach the kernel unchanged, up to the ends of their ranges'), (t) => {
    t.is(new Int8Array(echo(device, 'char', 1, -128))[0], -128);
    t.is(new Uint8Array(echo(device, 'uchar', 1, 255))[0], 255);
    t.is(new Int16Array(echo(device, 'short', 2, -32768))[0], -32768);
    t.is(new Uint32Array(echo(device, 'uint', 4, 0xffffffff))[0], 0xffffffff);
    t.is(new Int32Array(echo(device, 'int', 4, -(2 ** 31)))[0], -(2 ** 31));
    t.is(new BigUint64Array(echo(device, 'ulong', 8, 2n ** 64n - 1n))[0], 2n ** 64n - 1n);
    t.is(new BigInt64Array(echo(device, 'long', 8, -(2n ** 63n)))[0], -(2n ** 63n));
    t.is(new Float32Array(echo(device, 'float', 4, Math.PI))[0], Math.fround(Math.PI));
  });

  test(title('vector arguments accept an array or the bytes of the vector'), (t) => {
    t.deepEqual([...new Uint32Array(echo(device, 'uint4', 16, [1, 2, 3, 4]))], [1, 2, 3, 4]);
    t.deepEqual([...new Float32Array(echo(device, 'float2', 8, Float32Array.of(0.5, -2)))], [0.5, -2]);
    t.deepEqual(
      [...new Int16Array(echo(device, 'short8', 16, [1, 2, 3, 4, 5, 6, 7, -8]))],
      [1, 2, 3, 4, 5, 6, 7, -8],
    );
    t.is(thrown(() => echo(device, 'uint4', 16, [1, 2, 3])).code, cl.INVALID_ARG_SIZE.code);
    t.is(thrown(() => echo(device, 'uint4', 16, new Uint8Array(12))).code, cl.INVALID_ARG_SIZE.code);
  });

  test(title('bytes without a type are passed unchanged'), (t) => {
    t.deepEqual(
      [...new Uint32Array(echo(device, 'uint4', 16, Uint32Array.of(5, 6, 7, 8), false))],
      [5, 6, 7, 8],
    );
  });

  test(title('a value outside the range of its type is rejected, not truncated'), (t) => {
    const misfits: [string, number, cl.KernelArgumentValue][] = [
      ['uchar', 1, 256],
      ['char', 1, -129],
      ['uint', 4, -1],
      ['int', 4, 0.5],
      ['int', 4, Number.NaN],
      ['ulong', 8, -1n],
      ['ulong', 8, 2n ** 64n],
      ['float', 4, 'x' as never],
      ['uint', 4, [1]],
    ];
    for (const [type, bytes, value] of misfits) {
      t.is(
        thrown(() => echo(device, type, bytes, value)).code,
        cl.INVALID_ARG_VALUE.code,
        `${type} ${String(value)}`,
      );
    }
  });

  test(title('halves are rounded to nearest even, including infinities and denormals'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 2);
    // Passed as a ushort: half arithmetic is optional, and not tested here.
    const put = kernel(device, 'kernel void put(global ushort* out, ushort value) { *out = value; }', '');
    const expected: [number, number][] = [
      [1, 0x3c00],
      [-2, 0xc000],
      [65504, 0x7bff],
      [65519.99, 0x7bff],
      [65520, 0x7c00],
      [Number.NEGATIVE_INFINITY, 0xfc00],
      [2 ** -24, 1],
      [2 ** -25, 0],
      [2 ** -25 * 1.0001, 1],
      [1 + 2 ** -11, 0x3c00],
      [1 + 3 * 2 ** -11, 0x3c02],
      [-0, 0x8000],
    ];
    cl.setKernelArg(put, 0, 'ushort*', buffer);
    for (const [value, bits] of expected) {
      cl.setKernelArg(put, 1, 'half', value);
      cl.enqueueNDRangeKernel(queue, put, 1, null, [1], null);
      const host = new Uint16Array(1);
      cl.enqueueReadBuffer(queue, buffer, true, 0, 2, host);
      t.is(host[0], bits, String(value));
    }
    cl.releaseKernel(put);
    cl.releaseMemObject(buffer);
  });

  test(title('local memory arguments take a size, and struct arguments their bytes'), (t) => {
    const source = `
      typedef struct { int a; float b; } pair;
      kernel void use(global float* out, local float* scratch, pair p) {
        scratch[get_local_id(0)] = p.b;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = scratch[3 - get_local_id(0)] + p.a;
      }`;
    const use = kernel(device, source);
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 16);
    const bytes = Buffer.alloc(8);
    bytes.writeInt32LE(40, 0);
    bytes.writeFloatLE(2, 4);
    cl.setKernelArg(use, 0, 'float*', buffer);
    cl.setKernelArg(use, 1, 'local', 16);
    // Without type information from the driver, 8 bytes may be a handle.
    cl.setKernelArg(use, 2, version >= 120 ? null : 'pair', bytes);
    t.is(thrown(() => cl.setKernelArg(use, 1, 'local', buffer as never)).code, cl.INVALID_ARG_VALUE.code);
    t.is(thrown(() => cl.setKernelArg(use, 2, 'pair', 5)).code, cl.INVALID_ARG_VALUE.code);
    cl.enqueueNDRangeKernel(queue, use, 1, null, [4], [4]);
    const host = new Float32Array(4);
    cl.enqueueReadBuffer(queue, buffer, true, 0, 16, host);
    t.deepEqual([...host], [42, 42, 42, 42]);
    cl.releaseKernel(use);
    cl.releaseMemObject(buffer);
  });

  test(title('a mismatch throws a different error for memory objects, values and indices'), (t) => {
    const put = kernel(device, 'kernel void put(global float* out, uint n) { *out = n; }');
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4);
    for (const wrong of [5, [1, 2], 'x', context, null === buffer] as never[]) {
      t.is(thrown(() => cl.setKernelArg(put, 0, 'float*', wrong)).code, cl.INVALID_MEM_OBJECT.code);
    }
    for (const wrong of ['a', [1, 2, 3], buffer, {}, undefined] as never[]) {
      t.is(thrown(() => cl.setKernelArg(put, 1, 'uint', wrong)).code, cl.INVALID_ARG_VALUE.code);
    }
    t.is(thrown(() => cl.setKernelArg(put, 2, 'uint', 1)).code, cl.INVALID_ARG_INDEX.code);
    t.is(thrown(() => cl.setKernelArg(put, -1, 'uint', 1)).code, cl.INVALID_ARG_INDEX.code);
    cl.releaseKernel(put);
    cl.releaseMemObject(buffer);
  });

  test(title('without a type, the argument info of the kernel decides if there is any'), (t) => {
    const put = kernel(device, 'kernel void put(global float* out, uint n) { *out = n; }');
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4);
    t.is(cl.setKernelArg(put, 0, null, buffer), 0);
    if (version >= 120) {
      t.is(cl.getKernelArgInfo(put, 1, cl.KERNEL_ARG_TYPE_NAME), 'uint');
      t.is(cl.getKernelArgInfo(put, 0, cl.KERNEL_ARG_NAME), 'out');
      t.is(cl.setKernelArg(put, 1, null, 5), 0);
      t.is(thrown(() => cl.setKernelArg(put, 1, null, buffer)).code, cl.INVALID_ARG_VALUE.code);
      t.is(thrown(() => cl.setKernelArg(put, 0, null, 5)).code, cl.INVALID_MEM_OBJECT.code);
    } else {
      t.regex(thrown(() => cl.setKernelArg(put, 1, null, 5)).reason ?? '', /type/);
    }
    cl.releaseKernel(put);
    cl.releaseMemObject(buffer);
  });

  test(title('kernel queries return strings, numbers, handles and [high, low] sizes'), (t) => {
    const put = kernel(
      device,
      'kernel __attribute__((reqd_work_group_size(4, 1, 1))) void put(global int* a) { *a = 1; }',
    );
    t.is(cl.getKernelInfo(put, cl.KERNEL_FUNCTION_NAME), 'put');
    t.is(cl.getKernelInfo(put, cl.KERNEL_NUM_ARGS), 1);
    t.true(cl.getKernelInfo(put, cl.KERNEL_CONTEXT) instanceof cl.Context);
    t.true(cl.getKernelInfo(put, cl.KERNEL_PROGRAM) instanceof cl.Program);
    const ask = (what: number) => cl.getKernelWorkGroupInfo(put, device.device, what);
    t.deepEqual(ask(cl.KERNEL_COMPILE_WORK_GROUP_SIZE), [4, 1, 1]);
    t.true(ask(cl.KERNEL_WORK_GROUP_SIZE) > 0);
    t.is(ask(cl.KERNEL_LOCAL_MEM_SIZE).length, 2);
    cl.releaseKernel(put);
  });
}
