// No test driver has unified shared memory: the test layer emulates it with PoCL's shared virtual memory.
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { UnsupportedError } from '../../src/util/errors.js';
import { underLayer } from '../layer/layer.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';
import { run } from './run.js';

for (const { name, context, device, platform, queue, version } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;

  where(
    !cl.getExtensionFunctions(platform).includes('clHostMemAllocINTEL'),
    'the driver has the function',
    test,
  )(title('without the extension, unified shared memory throws an error that names it'), (t) => {
    for (const call of [
      () => cl.hostMemAllocINTEL(context, null, 64),
      () => cl.sharedMemAllocINTEL(context, device, null, 64),
      () => cl.enqueueMemcpyINTEL(queue, true, new Uint8Array(8), new Uint8Array(8), 8),
    ]) {
      const error = thrown(call) as Error;
      t.true(error instanceof UnsupportedError);
      t.regex(error.message, /cl_intel_unified_shared_memory/);
    }
    t.true(thrown(() => cl.deviceMemAllocINTEL(context, device, null, 64)) instanceof UnsupportedError);
    t.is(thrown(() => cl.memFreeINTEL(context, new ArrayBuffer(8))).message, cl.INVALID_VALUE.message);
  });

  where(
    !(version < 200 || !cl.getDeviceInfo(device, cl.DEVICE_SVM_CAPABILITIES)),
    'no shared virtual memory',
    test,
  )(
    title('unified shared memory is used, freed after the commands that use it, and not leaked'),
    async (t) => {
      const { result, control } = await underLayer((env) =>
        run('unified', [name], { ...env, CLSORT_LAYER_UNIFIED: '1' }),
      );
      t.is(result.code, 0, result.stderr);
      t.is(result.stdout.trim(), 'all of it');
      t.true(control.loaded);
      t.deepEqual(control.live, {});
      t.deepEqual(control.misuses, { count: 0, last: '' });
      control.close();
    },
  );
}
