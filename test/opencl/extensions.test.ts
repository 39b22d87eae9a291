import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { UnsupportedError } from '../../src/util/errors.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';

for (const { name, platform, device, context, queue } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;

  test(title('extension functions are only reported if the device has their extension'), (t) => {
    const functions = cl.getExtensionFunctions(platform);
    const extensions: string[] = cl.getDeviceInfo(device, cl.DEVICE_EXTENSIONS).split(' ');
    for (const [extension, one, all] of [
      ['cl_khr_command_buffer', 'clCreateCommandBufferKHR', 14],
      ['cl_khr_external_memory', 'clEnqueueAcquireExternalMemObjectsKHR', 2],
    ] as const) {
      if (!extensions.includes(extension)) t.false(functions.includes(one));
      if (functions.includes(one)) t.true(functions.length >= all);
    }
    t.is(new Set(functions).size, functions.length);
    t.is(thrown(() => cl.getExtensionFunctions(device as never)).message, cl.INVALID_PLATFORM.message);
    // Command buffers and no other extension.
    if (/PoCL 3[.]1/.test(cl.getPlatformInfo(platform, cl.PLATFORM_VERSION))) t.is(functions.length, 14);
  });

  where(
    !cl.getExtensionFunctions(platform).includes('clEnqueueAcquireExternalMemObjectsKHR'),
    'the driver has the function',
    test,
  )(title('without the extension, external memory throws an UnsupportedError'), (t) => {
    const memory = cl.createBuffer(context, 0, 64);
    for (const call of [cl.enqueueAcquireExternalMemObjectsKHR, cl.enqueueReleaseExternalMemObjectsKHR]) {
      const error = thrown(() => call(queue, [memory])) as Error;
      t.true(error instanceof UnsupportedError);
      t.regex(error.message, /cl_khr_external_memory/);
      t.is(thrown(() => call(queue, [queue as never])).message, cl.INVALID_MEM_OBJECT.message);
    }
    cl.releaseMemObject(memory);
  });
}
