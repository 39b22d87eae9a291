import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { kernel, opened, thrown } from './devices.js';
import { run } from './run.js';

const SOURCE = `
  typedef uint number;
  kernel void put(global uint* out, uint n, uint4 many) { out[0] = n + many.x; }`;
const FORMAT = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
const SHAPE = { type: cl.MEM_OBJECT_IMAGE2D, width: 4, height: 4 };

for (const opening of opened) {
  const { name, context, device, platform, queue, version, images } = opening;
  const title = (claim: string): string => `${name}: ${claim}`;
  const reason = (call: () => unknown): string => thrown(call).reason ?? '';
  const withInfo = where(version >= 120, 'from OpenCL 1.2 on', test.serial); // argument info needs OpenCL 1.2

  withInfo(title('kernel.call reports the number of the wrong argument, counted from 1'), (t) => {
    const put = kernel(opening, SOURCE);
    const out = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const call = (...args: unknown[]) => reason(() => put.call(queue, [1], [1], ...(args as [])));
    const many = [1, 2, 3, 4];
    t.regex(call('x', 5, many), /^kernel argument 1\b.*MemObject/);
    t.regex(call(out, 'x', many), /^kernel argument 2: expected a number/);
    t.regex(call(out, -1, many), /^kernel argument 2: expected a whole number from 0/);
    t.regex(call(out, 5, [1, 2, 3]), /^kernel argument 3: expected 4 numbers/);
    t.regex(call(out, 5, [1, 2, 3, 'x']), /^kernel argument 3: expected a number/);
    t.regex(call(out, 5, new Uint8Array(3)), /^kernel argument 3: expected 16 bytes for uint4 but got 3/);
    t.regex(
      reason(() => cl.setKernelArg(put, 1, 'ulong', 5)),
      /^kernel argument 2 \(uint\): expected 4 bytes but got 8/,
    );
    t.notThrows(() => put.call(queue, [1], [1], out, 5, many));
    cl.finish(queue);
    cl.releaseMemObject(out);
    t.regex(
      reason(() => cl.enqueueTask(queue, put)),
      /^kernel argument 1 \(uint\*\) was released/,
    );
    cl.releaseKernel(put);
  });

  withInfo(title("an argument of the program's own type reports the accepted type"), (t) => {
    const put = kernel(
      opening,
      'typedef uint number; kernel void put(number n, global uint* out) { out[0] = n; }',
    );
    t.is(cl.setKernelArg(put, 0, 'uint', 5), 0);
    t.is(cl.setKernelArg(put, 0, null, Uint32Array.of(5)), 0);
    const set = () => cl.setKernelArg(put, 0, null, 5);
    // Some drivers report the enumeration type behind the number.
    if (put.signature[0]?.type === 'number') {
      t.regex(
        reason(set),
        /^kernel argument 1: expected the bytes of number.*setKernelArg\(k, i, 'uint', 5\)/,
      );
    } else {
      t.is(set(), 0);
    }
    cl.releaseKernel(put);
  });

  test.serial(title('flags that are undefined are refused, as those of a misspelt name'), (t) => {
    const { MEM_READONLY, QUEUE_PROFILING, DEVICE_TYPE_GPUS } = cl as unknown as Record<string, undefined>;
    const buffer = cl.createBuffer(context, null, 64);
    const uses: (() => unknown)[] = [
      () => cl.createBuffer(context, MEM_READONLY, 64),
      () => cl.createSubBuffer(buffer, MEM_READONLY, cl.BUFFER_CREATE_TYPE_REGION, { origin: 0, size: 8 }),
      () => cl.enqueueMapBuffer(queue, buffer, true, MEM_READONLY, 0, 64),
      () => cl.createCommandQueue(context, device, QUEUE_PROFILING),
      () => cl.getDeviceIDs(platform, DEVICE_TYPE_GPUS),
      () => cl.createImage(context, MEM_READONLY, FORMAT, SHAPE),
      () => cl.createImage2D(context, MEM_READONLY, FORMAT, 4, 4, 0, null),
      () => cl.enqueueMigrateMemObjects(queue, [buffer], MEM_READONLY),
      () => cl.SVMAlloc(context, MEM_READONLY, 64),
    ];
    for (const use of uses) {
      const error = thrown(use);
      t.is(error.code, cl.INVALID_VALUE.code, `${use}`);
      t.regex(error.reason ?? '', /expected flags but got undefined/, `${use}`);
    }
    const plain = cl.createCommandQueue(context, device);
    t.true(cl.getDeviceIDs(platform).length > 0);
    cl.releaseCommandQueue(plain);
    cl.releaseMemObject(buffer);
  });

  where(
    images && version >= 120,
    'no images, or OpenCL below 1.2',
    test.serial,
  )(title('image keys with the names of the C API are reported with the expected names'), (t) => {
    const make = (format: object, shape: object) =>
      reason(() => cl.createImage(context, 0, format as cl.ImageFormat, shape as cl.ImageDescription));
    t.regex(
      make({ image_channel_order: cl.RGBA, image_channel_data_type: cl.FLOAT }, SHAPE),
      /expected channel_order but got image_channel_order/,
    );
    t.regex(
      make({ channel_order: cl.RGBA, image_channel_data_type: cl.FLOAT }, SHAPE),
      /expected channel_data_type but got image_channel_data_type/,
    );
    t.regex(
      make(FORMAT, { ...SHAPE, image_width: 4, width: undefined }),
      /expected width but got image_width/,
    );
    t.regex(make(FORMAT, { image_type: SHAPE.type, width: 4 }), /expected type but got image_type/);
    t.regex(make(FORMAT, { ...SHAPE, height: -4 }), /^height: expected a whole number/);
    t.regex(make({ channel_order: cl.RGBA }, SHAPE), /^channel_data_type: expected a whole number/);
  });

  where(
    version >= 110,
    'OpenCL 1.0 has none',
    test.serial,
  )(title('parts of a buffer begin where the device can reach them'), (t) => {
    const align = cl.getDeviceInfo(device, cl.DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4 * align);
    const part = (origin: number) =>
      cl.createSubBuffer(buffer, 0, cl.BUFFER_CREATE_TYPE_REGION, { origin, size: 8 });
    for (const origin of [1, align - 1, align / 2, align + 4]) {
      const error = thrown(() => part(origin));
      t.is(error.code, cl.MISALIGNED_SUB_BUFFER_OFFSET.code);
      t.regex(error.reason ?? '', new RegExp(`multiple of ${align} bytes but got ${origin}$`));
    }
    for (const origin of [0, align, 3 * align]) cl.releaseMemObject(part(origin));
    cl.releaseMemObject(buffer);
  });

  test.serial(title('handles are not cloned, nor sent to other threads'), (t) => {
    const { port1, port2 } = new MessageChannel();
    for (const value of [context, { queue }, [device, platform]]) {
      t.is(thrown(() => structuredClone(value)).name, 'DataCloneError');
      t.is(thrown(() => port1.postMessage(value)).name, 'DataCloneError');
    }
    for (const port of [port1, port2]) port.close();
  });
}

test.serial('the binding is imported with frozen intrinsics', async (t) => {
  const { code, stderr } = await run('frozen', [], {}, 60, ['--frozen-intrinsics']);
  t.is(code, 0, stderr);
});

test.serial('where Node loads no addons the error names the flag that lets it', async (t) => {
  const { stdout, stderr } = await run('first-call', [], {}, 60, ['--no-addons']);
  const { message } = JSON.parse(stdout || stderr);
  t.regex(message, /--allow-addons/);
  t.notRegex(message, /node-gyp/);
});
