import { type InspectOptions, inspect } from 'node:util';
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { UnsupportedError } from '../../src/util/errors.js';
import { where } from '../where.js';
import { kernel, opened, thrown, toNumber } from './devices.js';

for (const opening of opened) {
  const { name, context, device, platform, queue, version, images } = opening;
  const title = (claim: string): string => `${name}: ${claim}`;

  test(title('device queries return numbers, booleans, strings, arrays and handles'), (t) => {
    const ask = (what: number) => cl.getDeviceInfo(device, what);
    t.is(typeof ask(cl.DEVICE_NAME), 'string');
    t.false(ask(cl.DEVICE_EXTENSIONS).includes('\0'));
    t.true(ask(cl.DEVICE_MAX_COMPUTE_UNITS) > 0);
    t.is(ask(cl.DEVICE_AVAILABLE), true);
    t.is(ask(cl.DEVICE_MAX_WORK_ITEM_SIZES).length, ask(cl.DEVICE_MAX_WORK_ITEM_DIMENSIONS));
    t.true(toNumber(ask(cl.DEVICE_GLOBAL_MEM_SIZE)) > 2 ** 20);
    t.is(ask(cl.DEVICE_MAX_MEM_ALLOC_SIZE).length, 2);
    t.true(ask(cl.DEVICE_PLATFORM) instanceof cl.Platform);
    t.is(
      cl.getPlatformInfo(ask(cl.DEVICE_PLATFORM), cl.PLATFORM_NAME),
      cl.getPlatformInfo(platform, cl.PLATFORM_NAME),
    );
    for (const wrong of [-1, -123.56, 'a string', 123456, null] as never[]) {
      t.is(thrown(() => ask(wrong)).code, cl.INVALID_VALUE.code);
    }
    if (version >= 300) {
      const [first] = ask(cl.DEVICE_OPENCL_C_ALL_VERSIONS);
      t.is(first.name, 'OpenCL C');
      t.is(typeof first.version, 'number');
    }
  });

  test(title('a device that is listed twice in a build counts once'), async (t) => {
    const program = cl.createProgramWithSource(context, 'kernel void put(global int* a) { a[0] = 1; }');
    t.is(cl.buildProgram(program, [device, device]), 0);
    await cl.buildProgramAsync(program, [device, device]);
    if (version >= 120) {
      const part = cl.createProgramWithSource(context, 'kernel void put(global int* a) { a[0] = 1; }');
      t.is(cl.compileProgram(part, [device, device]), 0);
      t.true(cl.linkProgram(context, [device, device], null, [part]) instanceof cl.Program);
    }
    t.deepEqual(cl.getProgramInfo(program, cl.PROGRAM_DEVICES), [device]);
  });

  test(title('a program with live kernels cannot be built again'), async (t) => {
    const program = cl.createProgramWithSource(context, 'kernel void put(global int* a) { a[0] = 1; }');
    cl.buildProgram(program);
    const put = cl.createKernel(program, 'put');
    for (const build of [cl.buildProgram, ...(version >= 120 ? [cl.compileProgram] : [])]) {
      t.is(thrown(() => build(program)).code, cl.INVALID_OPERATION.code);
    }
    await t.throwsAsync(async () => cl.buildProgramAsync(program), { code: cl.INVALID_OPERATION.code });
    t.is(cl.getKernelInfo(put, cl.KERNEL_NUM_ARGS), 1);
    cl.releaseKernel(put);
    t.is(cl.buildProgram(program), 0);
  });

  test(title('root devices can be neither retained nor released'), (t) => {
    t.is(thrown(() => cl.retainDevice(device)).code, cl.INVALID_DEVICE.code);
    t.is(thrown(() => cl.releaseDevice(device)).code, cl.INVALID_DEVICE.code);
  });

  // Sub-devices need OpenCL 1.2.
  where(
    version >= 120,
    'needs OpenCL 1.2',
    test,
  )(title('sub-devices can be released, if the device can be partitioned'), (t) => {
    let parts: cl.Device[];
    try {
      parts = cl.createSubDevices(device, [cl.DEVICE_PARTITION_EQUALLY, 1]);
    } catch (error) {
      const codes: unknown[] = [
        'ERR_CLSORT_UNSUPPORTED',
        cl.INVALID_VALUE.code,
        cl.DEVICE_PARTITION_FAILED.code,
      ];
      t.true(codes.includes((error as cl.OpenCLError).code), String(error));
      return;
    }
    t.true(parts.length > 0);
    for (const part of parts) {
      t.is(cl.getDeviceInfo(part, cl.DEVICE_MAX_COMPUTE_UNITS), 1);
      t.is(cl.releaseDevice(part), 0);
      t.true(part.released);
    }
  });

  test(title('contexts are created from devices or from a device type'), (t) => {
    t.is(thrown(() => cl.createContext(null, null as never)).code, cl.INVALID_VALUE.code);
    t.is(thrown(() => cl.createContext(null, [])).code, cl.INVALID_VALUE.code);
    t.is(thrown(() => cl.createContext(['x' as never], [device])).code, cl.INVALID_PROPERTY.code);
    const made = cl.createContextFromType([cl.CONTEXT_PLATFORM, platform], cl.DEVICE_TYPE_ALL);
    t.is(cl.getContextInfo(made, cl.CONTEXT_REFERENCE_COUNT), 1);
    t.true(cl.getContextInfo(made, cl.CONTEXT_DEVICES)[0] instanceof cl.Device);
    t.true(Array.isArray(cl.getContextInfo(made, cl.CONTEXT_PROPERTIES)));
    t.is(thrown(() => cl.getContextInfo(made, -1)).code, cl.INVALID_VALUE.code);
    cl.releaseContext(made);
  });

  test(title('queues report the properties that they were created with'), (t) => {
    const plain = cl.createCommandQueueWithProperties(context, device, []);
    t.is(cl.getCommandQueueInfo(plain, cl.QUEUE_PROPERTIES) & cl.QUEUE_PROFILING_ENABLE, 0);
    const timed = cl.createCommandQueueWithProperties(context, device, [
      cl.QUEUE_PROPERTIES,
      cl.QUEUE_PROFILING_ENABLE,
    ]);
    t.is(
      cl.getCommandQueueInfo(timed, cl.QUEUE_PROPERTIES) & cl.QUEUE_PROFILING_ENABLE,
      cl.QUEUE_PROFILING_ENABLE,
    );
    t.true(cl.getCommandQueueInfo(timed, cl.QUEUE_DEVICE) instanceof cl.Device);
    t.is(thrown(() => cl.createCommandQueue(context, 'x' as never)).code, cl.INVALID_DEVICE.code);
    t.is(
      thrown(() => cl.createCommandQueueWithProperties(context, device, ['x' as never])).code,
      cl.INVALID_VALUE.code,
    );
    t.throws(() => cl.createCommandQueue(context, device, -1));
    for (const made of [plain, timed]) cl.releaseCommandQueue(made);
  });

  test(title('profiling times are [high, low] pairs in ascending order'), (t) => {
    const nothing = kernel(opening, 'kernel void nothing(int a) {}'); // NVIDIA accepts no kernel without arguments
    cl.setKernelArg(nothing, 0, 'int', 1);
    const event = cl.enqueueNDRangeKernel(queue, nothing, 1, null, [64], null, null, true);
    cl.waitForEvents([event]);
    const at = (what: number) => toNumber(cl.getEventProfilingInfo(event, what));
    t.true(at(cl.PROFILING_COMMAND_QUEUED) <= at(cl.PROFILING_COMMAND_START));
    t.true(at(cl.PROFILING_COMMAND_START) <= at(cl.PROFILING_COMMAND_END));
    cl.releaseEvent(event);
    cl.releaseKernel(nothing);
  });

  test(title('programs are created from source and from binaries'), (t) => {
    const source = 'kernel void twice(global int* a) { a[get_global_id(0)] *= 2; }';
    const program = cl.createProgramWithSource(context, source);
    t.is(cl.getProgramInfo(program, cl.PROGRAM_SOURCE), source);
    t.is(cl.buildProgram(program, [device], '-D UNUSED=1'), 0);
    t.is(cl.getProgramBuildInfo(program, device, cl.PROGRAM_BUILD_STATUS), cl.BUILD_SUCCESS);
    t.true(cl.getProgramBuildInfo(program, device, cl.PROGRAM_BUILD_OPTIONS).includes('-D UNUSED=1'));
    const sizes = cl.getProgramInfo(program, cl.PROGRAM_BINARY_SIZES);
    const binaries: Uint8Array[] = cl.getProgramInfo(program, cl.PROGRAM_BINARIES);
    t.is(binaries[0]?.byteLength, sizes[0]);
    t.is(binaries[0]?.buffer.byteLength, sizes[0]);
    const again = cl.createProgramWithBinary(context, [device], sizes, binaries);
    cl.buildProgram(again, [device]);
    const twice = cl.createKernel(again, 'twice');
    const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 8, Int32Array.of(21, 4));
    cl.setKernelArg(twice, 0, 'int*', buffer);
    cl.enqueueNDRangeKernel(queue, twice, 1, null, [2], null);
    const host = new Int32Array(2);
    cl.enqueueReadBuffer(queue, buffer, true, 0, 8, host);
    t.deepEqual([...host], [42, 8]);
    t.is(thrown(() => cl.createProgramWithBinary(context, [device], [], [])).code, cl.INVALID_VALUE.code);
    const lie = () => cl.createProgramWithBinary(context, [device], [1e6], binaries);
    t.is(thrown(lie).code, cl.INVALID_VALUE.code);
    cl.releaseMemObject(buffer);
    cl.releaseKernel(twice);
    for (const made of [program, again]) cl.releaseProgram(made);
  });

  test(title('truncated binaries are rejected, if their format contains lengths'), (t) => {
    const known = ['pocl', 'rusticl', 'clover'].includes(name);
    const program = cl.createProgramWithSource(context, 'kernel void one(global int* a) { *a = 1; }');
    cl.buildProgram(program, [device]);
    const [whole]: [Uint8Array] = cl.getProgramInfo(program, cl.PROGRAM_BINARIES);
    // PoCL 3 has format 9, rusticl format 1; a binary of Clover begins with the number of kernels.
    if (known && [9, 1].includes(new DataView(whole.buffer).getUint32(name === 'pocl' ? 16 : 0, true))) {
      const lengths = [2, 20, 60, 90, whole.length >> 1, whole.length - 1];
      for (const length of lengths) {
        const cut = () => cl.createProgramWithBinary(context, [device], [length], [whole]);
        t.is(thrown(cut).message, cl.INVALID_BINARY.message, `${length} of ${whole.length} bytes`);
      }
      const longer = Buffer.concat([whole, Buffer.alloc(8)]);
      const more = () => cl.createProgramWithBinary(context, [device], [longer.length], [longer]);
      t.is(thrown(more).message, cl.INVALID_BINARY.message);
      const garbage = () =>
        cl.createProgramWithBinary(context, [device], [99], [new Uint8Array(99).fill(65)]);
      t.is(thrown(garbage).message, cl.INVALID_BINARY.message);
    }
    // An ELF file whose tables would lie beyond its end: no driver receives it.
    const elf = Buffer.alloc(64);
    elf.write('\x7fELF\x02\x01', 'latin1');
    elf.writeBigUInt64LE(4096n, 40); // offset of the sections
    elf.writeUInt16LE(64, 58); // bytes of one section
    elf.writeUInt16LE(3, 60); // number of sections
    const sections = () => cl.createProgramWithBinary(context, [device], [64], [elf]);
    t.is(thrown(sections).message, cl.INVALID_BINARY.message);
    t.regex(thrown(sections).reason ?? '', /damaged/);
    const again = cl.createProgramWithBinary(context, [device], [whole.length], [whole]);
    t.is(cl.buildProgram(again, [device]), 0);
    for (const made of [program, again]) cl.releaseProgram(made);
  });

  where(
    version >= 120,
    'needs OpenCL 1.2',
    test,
  )(title('programs are compiled with headers and linked'), async (t) => {
    const header = cl.createProgramWithSource(context, '#define ANSWER 42');
    const user = cl.createProgramWithSource(
      context,
      '#include "answer.h"\nkernel void put(global int* a) { *a = ANSWER; }',
    );
    try {
      await cl.compileProgramAsync(user, [device], '', [header], ['answer.h']);
    } catch (error) {
      t.is((error as cl.OpenCLError).code, cl.COMPILE_PROGRAM_FAILURE.code); // a driver that cannot compile headers
      return;
    }
    const linked = cl.linkProgram(context, [device], '', [user]);
    t.deepEqual(cl.getProgramInfo(linked, cl.PROGRAM_KERNEL_NAMES), 'put');
    t.is(thrown(() => cl.compileProgram(user, null, null, [header], [])).code, cl.INVALID_VALUE.code);
    t.is(thrown(() => cl.linkProgram(context, null, null, [context as never])).code, cl.INVALID_PROGRAM.code);
    for (const program of [header, user, linked]) cl.releaseProgram(program);
  });

  test(title('util.inspect shows the type, size and flags of a memory object'), (t) => {
    const print = (memory: cl.MemObject, options: InspectOptions = {}) =>
      inspect(memory, { breakLength: Number.POSITIVE_INFINITY, ...options });
    const buffer = cl.createBuffer(context, cl.MEM_READ_ONLY | cl.MEM_ALLOC_HOST_PTR, 4096);
    t.is(
      print(buffer),
      "MemObject { type: 'BUFFER', bytes: 4096, flags: [ 'MEM_READ_ONLY', 'MEM_ALLOC_HOST_PTR' ] }",
    );
    t.is(print(buffer, { depth: -1 }), '[MemObject]');
    t.regex(inspect({ of: [buffer] }), /of: \[\s+MemObject {\s+type: 'BUFFER'/);
    const mapped = cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_READ, 0, 64);
    if (cl.getMemObjectInfo(buffer, cl.MEM_MAP_COUNT)) t.regex(print(buffer), /maps: 1 }$/); // not all of them count
    cl.enqueueUnmapMemObject(queue, buffer, mapped);
    cl.finish(queue);
    if (version >= 110) {
      const origin = cl.getDeviceInfo(device, cl.DEVICE_MEM_BASE_ADDR_ALIGN); // bits, hence more than enough as bytes
      const whole = cl.createBuffer(context, cl.MEM_READ_WRITE, origin + 64);
      const part = cl.createSubBuffer(whole, 0, cl.BUFFER_CREATE_TYPE_REGION, { origin, size: 64 });
      t.regex(print(part), new RegExp(`bytes: 64,.* offset: ${origin} }$`));
      cl.releaseMemObject(part);
      cl.releaseMemObject(whole);
    }
    if (images && version >= 120) {
      const format = { channel_order: cl.RGBA, channel_data_type: cl.UNORM_INT8 };
      const shape = { type: cl.MEM_OBJECT_IMAGE2D, width: 4, height: 3 };
      const image = cl.createImage(context, cl.MEM_READ_WRITE, format, shape);
      t.regex(print(image), /type: 'IMAGE2D',.* size: \[ 4, 3 \], format: 'RGBA UNORM_INT8' }$/);
      cl.releaseMemObject(image);
    }
    cl.releaseMemObject(buffer);
    t.is(print(buffer), 'MemObject { released: true }');
  });

  test(title('programs that are not SPIR-V reject specialization constants'), (t) => {
    const program = cl.createProgramWithSource(context, 'int one(void) { return 1; }');
    const set = () => cl.setProgramSpecializationConstant(program, 0, Uint32Array.of(1));
    if (version >= 220) {
      const codes: unknown[] = ['ERR_CLSORT_UNSUPPORTED', cl.INVALID_PROGRAM.code];
      t.true(codes.includes(thrown(set).code));
    } else {
      t.true(thrown(set) instanceof UnsupportedError);
    }
    cl.releaseProgram(program);
  });

  where(
    images,
    'no images',
    test,
  )(title('samplers report the properties that they were created with'), (t) => {
    const sampler = cl.createSampler(context, true, cl.ADDRESS_CLAMP, cl.FILTER_NEAREST);
    t.is(cl.getSamplerInfo(sampler, cl.SAMPLER_REFERENCE_COUNT), 1);
    t.is(cl.getSamplerInfo(sampler, cl.SAMPLER_NORMALIZED_COORDS), true);
    t.is(cl.getSamplerInfo(sampler, cl.SAMPLER_ADDRESSING_MODE), cl.ADDRESS_CLAMP);
    t.is(cl.getSamplerInfo(sampler, cl.SAMPLER_FILTER_MODE), cl.FILTER_NEAREST);
    t.is(cl.releaseSampler(sampler), 0);
    t.is(thrown(() => cl.releaseSampler(sampler)).code, cl.INVALID_SAMPLER.code);
  });

  where(
    version >= 200,
    'needs OpenCL 2.0',
    test,
  )(title('pipes report their sizes, if the device has pipes'), (t) => {
    t.is(thrown(() => cl.createPipe(context, 0, 0, 100)).code, cl.INVALID_PIPE_SIZE.code);
    t.is(thrown(() => cl.createPipe(context, 0, 8, 0)).code, cl.INVALID_PIPE_SIZE.code);
    t.is(thrown(() => cl.createPipe(context, 0, 8, 100, ['a'] as never)).code, cl.INVALID_VALUE.code);
    try {
      const pipe = cl.createPipe(context, 0, 8, 100);
      t.is(cl.getPipeInfo(pipe, cl.PIPE_PACKET_SIZE), 8);
      t.is(cl.getPipeInfo(pipe, cl.PIPE_MAX_PACKETS), 100);
      cl.releaseMemObject(pipe);
    } catch (error) {
      t.is((error as cl.OpenCLError).code, cl.INVALID_OPERATION.code);
    }
  });

  test(title('shared virtual memory is written, filled, used by a kernel, and detached when freed'), (t) => {
    if (version < 200 || !cl.getDeviceInfo(device, cl.DEVICE_SVM_CAPABILITIES)) {
      t.throws(() => cl.SVMAlloc(context, 0, 64), { instanceOf: UnsupportedError });
      return;
    }
    const memory = cl.SVMAlloc(context, 0, 64);
    t.true(memory instanceof ArrayBuffer);
    t.is(memory.byteLength, 64);
    cl.enqueueSVMMemcpy(queue, true, memory, Uint8Array.of(1, 2, 3, 4), 4);
    const increment = kernel(opening, 'kernel void increment(global uchar* a) { a[get_global_id(0)]++; }');
    t.is(
      thrown(() => cl.setKernelArgSVMPointer(increment, 0, new Uint8Array(8))).code,
      cl.INVALID_ARG_VALUE.code,
    );
    cl.setKernelArgSVMPointer(increment, 0, memory);
    cl.enqueueNDRangeKernel(queue, increment, 1, null, [4], null);
    cl.enqueueSVMMap(queue, true, cl.MAP_READ | cl.MAP_WRITE, memory, 64);
    t.deepEqual([...new Uint8Array(memory, 0, 4)], [2, 3, 4, 5]);
    cl.enqueueSVMUnmap(queue, memory);
    cl.enqueueSVMMemFill(queue, memory, Uint8Array.of(9, 8), 64);
    const host = new Uint8Array(64);
    cl.enqueueSVMMemcpy(queue, true, host, memory, 64);
    t.deepEqual([...host.subarray(0, 4)], [9, 8, 9, 8]);
    t.is(thrown(() => cl.enqueueSVMMemcpy(queue, true, memory, host, 65)).code, cl.INVALID_VALUE.code);
    cl.finish(queue);
    cl.SVMFree(context, memory);
    t.is(memory.byteLength, 0);
    t.is(cl.SVMFree(context, memory), 0);
    t.is(cl.SVMFree(context, new ArrayBuffer(8)), 0);
    const launch = () => cl.enqueueNDRangeKernel(queue, increment, 1, null, [4], null);
    t.is(thrown(launch).code, cl.INVALID_KERNEL_ARGS.code);
    cl.releaseKernel(increment);
  });

  where(
    !(version < 200 || !cl.getDeviceInfo(device, cl.DEVICE_SVM_CAPABILITIES)),
    'no shared virtual memory',
    test,
  )(title('enqueueSVMFree frees memory in queue order and calls back'), async (t) => {
    const memory = [cl.SVMAlloc(context, 0, 64), cl.SVMAlloc(context, 0, 64)];
    const keepAlive = setTimeout(() => t.fail('never called'), 10_000);
    const freed = new Promise((resolve) => cl.enqueueSVMFree(queue, memory, resolve, 'freed'));
    t.deepEqual(
      memory.map((one) => one.byteLength),
      [0, 0],
    );
    await cl.finishAsync(queue);
    t.is(await freed, 'freed');
    clearTimeout(keepAlive);
    t.is(thrown(() => cl.enqueueSVMFree(queue, [])).code, cl.INVALID_VALUE.code);
  });
}
