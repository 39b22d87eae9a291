// The statements of docs/node-opencl.md about the differences to node-opencl.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { UnsupportedError } from '../../src/util/errors.js';
import { packageRoot } from '../../src/util/paths.js';
import { kernel, opened, thrown } from './devices.js';

test('the module can be required and has versions, sizes and classes under their old names', (t) => {
  const required = createRequire(import.meta.url)('../../src/opencl/index.js') as typeof cl;
  t.is(required.getPlatformIDs, cl.getPlatformIDs);
  for (const version of ['1_0', '1_1', '1_2', '2_0', '2_1', '2_2', '3_0']) {
    for (const name of [`VERSION_${version}`, `CL_VERSION_${version}`]) {
      t.is((cl as Record<string, unknown>)[name], true, name);
    }
  }
  t.is(cl.size_FLOAT, 4);
  t.false('WebCLContext' in globalThis);
});

test('every constant named in docs/node-opencl.md is exported', (t) => {
  const page = readFileSync(join(packageRoot, 'docs', 'node-opencl.md'), 'utf8');
  const names = page.match(/\b(?:INVALID|MEM|OUT|KERNEL|PROGRAM|PLATFORM)_[A-Z_]+\b/g) ?? [];
  t.true(names.length > 20);
  for (const name of names) t.true(name in cl, name);
});

for (const opening of opened) {
  const { name, platform, context, device, queue, images, version } = opening;
  const title = (claim: string): string => `${name}: ${claim}`;

  test(title('handles are instances of the old classes and equal if they refer to one object'), (t) => {
    const program = cl.createProgramWithSource(context, 'kernel void one(global int* a) { *a = 1; }');
    cl.buildProgram(program);
    const one = cl.createKernel(program, 'one');
    const memory = cl.createBuffer(context, 0, 16);
    const event = cl.enqueueWriteBuffer(queue, memory, true, 0, 16, new Uint8Array(16), null, true);
    const classes: [unknown, abstract new () => cl.WebCLKernel | object][] = [
      [platform, cl.WebCLPlatform],
      [device, cl.WebCLDevice],
      [context, cl.WebCLContext],
      [queue, cl.WebCLCommandQueue],
      [memory, cl.WebCLMemObject],
      [program, cl.WebCLProgram],
      [one, cl.WebCLKernel],
      [event, cl.WebCLEvent],
    ];
    if (images) {
      const sampler = cl.createSampler(context, false, cl.ADDRESS_CLAMP, cl.FILTER_NEAREST);
      classes.push([sampler, cl.WebCLSampler]);
    }
    for (const [handle, type] of classes) t.true(handle instanceof type, type.name);
    t.false(queue instanceof cl.WebCLContext);
    t.true(cl.getKernelInfo(one, cl.KERNEL_CONTEXT).equals(context));
    t.true(cl.getKernelInfo(one, cl.KERNEL_PROGRAM).equals(program));
    t.true(context.equals(context));
    t.false(context.equals(queue));
    t.false(context.equals(5));
    t.false(context.equals(undefined));
    const other = cl.createBuffer(context, 0, 16);
    t.false(memory.equals(other));
    cl.releaseMemObject(other);
    t.true(other.equals(other));
    t.false(other.equals(memory));
    for (const made of [memory]) cl.releaseMemObject(made);
    cl.releaseEvent(event);
    cl.releaseKernel(one);
    cl.releaseProgram(program);
  });

  const buffer = cl.createBuffer(context, 0, 64);
  const add = kernel(opening, 'kernel void add(global int* a, int b, int4 c) { *a += b + c.x; }');
  const bytes = new Uint8Array(64);
  const wrong = (value: unknown) => value as never;
  const refused: [string, cl.OpenCLError, () => unknown][] = [
    ['a size as text', cl.INVALID_BUFFER_SIZE, () => cl.createBuffer(context, 0, wrong('16'))],
    ['a size of 2.7', cl.INVALID_BUFFER_SIZE, () => cl.createBuffer(context, 0, 2.7)],
    ['a negative size', cl.INVALID_BUFFER_SIZE, () => cl.createBuffer(context, 0, -1)],
    [
      'an offset as text',
      cl.INVALID_VALUE,
      () => cl.enqueueReadBuffer(queue, buffer, true, wrong('0'), 4, bytes),
    ],
    ['a name as text', cl.INVALID_VALUE, () => cl.getDeviceInfo(device, wrong('4139'))],
    [
      'an argument outside the range of its type',
      cl.INVALID_ARG_VALUE,
      () => cl.setKernelArg(add, 1, 'int', 2 ** 31),
    ],
    ['a fraction for an int', cl.INVALID_ARG_VALUE, () => cl.setKernelArg(add, 1, 'int', 0.5)],
    ['text for an int', cl.INVALID_ARG_VALUE, () => cl.setKernelArg(add, 1, 'int', wrong('5'))],
    ['three numbers for an int4', cl.INVALID_ARG_SIZE, () => cl.setKernelArg(add, 2, 'int4', [1, 2, 3])],
    [
      'an argument without its type',
      cl.INVALID_VALUE,
      () => cl.setKernelArg(add, 0, wrong(buffer), wrong(undefined)),
    ],
    [
      'a size in place of the type',
      cl.INVALID_VALUE,
      () => cl.setKernelArg(add, 0, wrong(64), wrong(undefined)),
    ],
    [
      'a queue for a buffer',
      cl.INVALID_MEM_OBJECT,
      () => cl.enqueueReadBuffer(queue, wrong(queue), true, 0, 4, bytes),
    ],
    [
      'too little host memory',
      cl.INVALID_VALUE,
      () => cl.enqueueReadBuffer(queue, buffer, true, 0, 64, bytes.subarray(1)),
    ],
    [
      'too little host memory for a buffer',
      cl.INVALID_HOST_PTR,
      () => cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 65, bytes),
    ],
    [
      'an array for a buffer',
      cl.INVALID_HOST_PTR,
      () => cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 3, wrong([1, 2, 3])),
    ],
    [
      'host memory without a flag',
      cl.INVALID_HOST_PTR,
      () => cl.createBuffer(context, cl.MEM_READ_WRITE, 64, bytes),
    ],
    [
      'an array as host memory',
      cl.INVALID_VALUE,
      () => cl.enqueueReadBuffer(queue, buffer, true, 0, 3, wrong([1, 2, 3])),
    ],
    [
      'a read beyond the end',
      cl.INVALID_VALUE,
      () => cl.enqueueReadBuffer(queue, buffer, true, 32, 64, bytes),
    ],
    ['a copy over itself', cl.MEM_COPY_OVERLAP, () => cl.enqueueCopyBuffer(queue, buffer, buffer, 0, 4, 8)],
  ];
  for (const [what, error, call] of refused) {
    test(title(`the binding rejects ${what}`), (t) => {
      t.is(thrown(call).message, error.message);
    });
  }

  test(title('the binding rejects work sizes other than one for each dimension'), (t) => {
    const launch = (offset: number[] | null, global: number[] | null, local: number[] | null) =>
      thrown(() => cl.enqueueNDRangeKernel(queue, add, 2, offset, wrong(global), local)).message;
    t.is(launch(null, [4], null), cl.INVALID_GLOBAL_WORK_SIZE.message);
    t.is(launch(null, [4, 4], [4]), cl.INVALID_WORK_GROUP_SIZE.message);
    t.is(launch([0], [4, 4], null), cl.INVALID_GLOBAL_OFFSET.message);
    const none = () =>
      cl.enqueueNDRangeKernel(queue, kernel(opening, 'kernel void none() {}'), 1, null, wrong(null), null);
    t.is(thrown(none).message, cl.INVALID_GLOBAL_WORK_SIZE.message);
  });

  test(title('a second release is rejected'), (t) => {
    const once = cl.createBuffer(context, 0, 16);
    cl.releaseMemObject(once);
    t.is(thrown(() => cl.releaseMemObject(once)).message, cl.INVALID_MEM_OBJECT.message);
    t.is(thrown(() => cl.getMemObjectInfo(once, cl.MEM_SIZE)).message, cl.INVALID_MEM_OBJECT.message);
  });

  test(title('sizes may be integral numbers or bigints'), (t) => {
    const memory = cl.createBuffer(context, 0, 16.0);
    t.is(cl.enqueueReadBuffer(queue, memory, true, 0n, 2 ** 4, new Uint8Array(16)), cl.SUCCESS);
    t.is(cl.enqueueReadBuffer(queue, memory, 1, -0, 16, Buffer.alloc(16)), cl.SUCCESS);
    cl.releaseMemObject(memory);
  });

  test(title('local and private memory sizes of a kernel are [high, low] pairs'), (t) => {
    t.is(cl.getKernelWorkGroupInfo(add, device, cl.KERNEL_LOCAL_MEM_SIZE).length, 2);
    t.is(cl.getKernelWorkGroupInfo(add, device, cl.KERNEL_PRIVATE_MEM_SIZE).length, 2);
  });

  test(title('unsupported functions throw an UnsupportedError'), (t) => {
    t.true(thrown(() => cl.enqueueNativeKernel()) instanceof UnsupportedError);
    if (version >= 200) {
      if (cl.getDeviceInfo(device, cl.DEVICE_SVM_CAPABILITIES)) {
        t.is(cl.SVMFree(context, new ArrayBuffer(8)), cl.SUCCESS);
      } else {
        t.true(thrown(() => cl.SVMAlloc(context, 0, 64)) instanceof UnsupportedError);
      }
    } else {
      t.true(thrown(() => cl.SVMAlloc(context, 0, 64)) instanceof UnsupportedError);
    }
  });

  test(title('`using` releases a handle at the end of its block'), (t) => {
    let memoryAfter: cl.MemObject;
    {
      using memory = cl.createBuffer(context, 0, 16);
      memoryAfter = memory;
      t.false(memoryAfter.released);
    }
    t.true(memoryAfter.released);
  });
}
