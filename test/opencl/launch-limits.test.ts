import test from 'ava';
import { native } from '../../src/opencl/binding.js';
import * as cl from '../../src/opencl/index.js';
import { underLayer } from '../layer/layer.js';
import { kernel, opened, thrown, toNumber } from './devices.js';
import { run } from './run.js';

for (const opening of opened) {
  const { name, context, device, queue, version } = opening;
  const title = (claim: string): string => `${name}: ${claim}`;
  const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4096);

  const plain = () => {
    const made = kernel(
      opening,
      'kernel void plain(global int* a) { local int x[4]; x[0] = 1; barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = x[0]; }',
    );
    cl.setKernelArg(made, 0, 'int*', buffer);
    return made;
  };
  const borrowing = () => {
    const made = kernel(
      opening,
      'kernel void borrowing(global int* a, local int* b) { b[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = b[0]; }',
    );
    cl.setKernelArg(made, 0, 'int*', buffer);
    return made;
  };

  const refused: [string, cl.OpenCLError, cl.Size[] | null, cl.Size[], cl.Size[] | null][] = [
    ['a group of no work-items', cl.INVALID_WORK_ITEM_SIZE, null, [64], [0]],
    ['a group larger than the device allows', cl.INVALID_WORK_ITEM_SIZE, null, [2 ** 20], [2 ** 20]],
    ['a group whose size wraps', cl.INVALID_WORK_ITEM_SIZE, null, [2 ** 33, 2 ** 33], [2 ** 33, 2 ** 33]],
    ['ids that wrap', cl.INVALID_GLOBAL_OFFSET, [2n ** 64n - 16n], [64], [16]],
  ];
  for (const [what, error, offset, global, local] of refused) {
    test(title(`a launch with ${what} is rejected`), (t) => {
      const made = plain();
      const refused = thrown(() =>
        cl.enqueueNDRangeKernel(queue, made, global.length, offset, global, local),
      );
      t.is(refused.message, error.message);
      t.truthy(refused.reason, 'the addon refuses it, not the driver, which may do so, too');
      cl.releaseKernel(made);
    });
  }

  test(title('a launch with too many work-items in a group of two dimensions is rejected'), (t) => {
    const limit = cl.getDeviceInfo(device, cl.DEVICE_MAX_WORK_GROUP_SIZE);
    const made = plain();
    const refused = thrown(() => cl.enqueueNDRangeKernel(queue, made, 2, null, [limit, 2], [limit, 2]));
    t.is(refused.message, cl.INVALID_WORK_GROUP_SIZE.message);
    t.truthy(refused.reason, 'the addon refuses it, not the driver, which may do so, too');
    cl.releaseKernel(made);
  });

  test(title('a launch with partial groups is rejected unless the device supports them'), (t) => {
    const may = version >= 300 && cl.getDeviceInfo(device, cl.DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT);
    const made = plain();
    const launch = () => cl.enqueueNDRangeKernel(queue, made, 1, null, [24], [16]);
    if (may || (version >= 200 && version < 300)) t.notThrows(launch);
    else t.is(thrown(launch).message, cl.INVALID_WORK_GROUP_SIZE.message);
    cl.finish(queue);
    cl.releaseKernel(made);
  });

  test(title('a launch with another group size than the kernel requires is rejected'), (t) => {
    const made = kernel(
      opening,
      'kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fixed(global int* a) { a[get_global_id(0)] = 1; }',
    );
    cl.setKernelArg(made, 0, 'int*', buffer);
    const [reported] = cl.getKernelWorkGroupInfo(made, device, cl.KERNEL_COMPILE_WORK_GROUP_SIZE);
    if (reported === 4) {
      for (const local of [[8], null]) {
        const refused = thrown(() => cl.enqueueNDRangeKernel(queue, made, 1, null, [16], local));
        t.is(refused.message, cl.INVALID_WORK_GROUP_SIZE.message);
        t.truthy(refused.reason, 'the addon refuses it, not the driver, which may do so, too');
      }
      t.is(thrown(() => cl.enqueueTask(queue, made)).message, cl.INVALID_WORK_GROUP_SIZE.message);
    }
    t.is(cl.enqueueNDRangeKernel(queue, made, 1, null, [16], [4]), 0);
    cl.finish(queue);
    cl.releaseKernel(made);
  });

  const localBytes = toNumber(cl.getDeviceInfo(device, cl.DEVICE_LOCAL_MEM_SIZE));
  const nvidia = /nvidia/i.test(cl.getDeviceInfo(device, cl.DEVICE_VENDOR));
  for (const [what, bytes] of [
    ['one byte above the limit', localBytes + 1],
    ['64 MiB', 64 * 2 ** 20],
    ['2^63 bytes', 2n ** 63n],
  ] as const) {
    // NVIDIA's driver reports less local memory than it has, and rejects excessive sizes itself at the launch.
    const atLaunch = nvidia && bytes <= 2 ** 20;
    test(title(`local memory of ${what} is rejected until it is reduced`), (t) => {
      const made = borrowing();
      const launch = () => cl.enqueueNDRangeKernel(queue, made, 1, null, [16], [16]);
      cl.setKernelArg(made, 1, 'local', 64);
      t.is(launch(), 0);
      const refused = thrown(() => {
        cl.setKernelArg(made, 1, 'local', bytes);
        if (atLaunch) launch();
      });
      t.is(refused.message, cl.OUT_OF_RESOURCES.message);
      if (atLaunch) cl.setKernelArg(made, 1, 'local', 64);
      t.is(launch(), 0);
      cl.finish(queue);
      cl.releaseKernel(made);
    });
  }

  test(title('local memory arguments above the limit together are rejected until reduced'), (t) => {
    const made = kernel(
      opening,
      'kernel void two(global int* a, local int* b, local int* c) { b[0] = 1; c[0] = 2; a[0] = b[0] + c[0]; }',
    );
    cl.setKernelArg(made, 0, 'int*', buffer);
    cl.setKernelArg(made, 1, 'local', localBytes);
    cl.setKernelArg(made, 2, 'local', 16);
    const kernels = [made, ...(version >= 210 ? [cl.cloneKernel(made)] : [])];
    for (const each of kernels) {
      const launch = () => cl.enqueueNDRangeKernel(queue, each, 1, null, [1], [1]);
      t.is(thrown(launch).message, cl.OUT_OF_RESOURCES.message);
      t.is(thrown(() => cl.enqueueTask(queue, each)).message, cl.OUT_OF_RESOURCES.message);
      cl.setKernelArg(each, 1, 'local', 16);
      t.is(launch(), 0);
      cl.finish(queue);
      cl.releaseKernel(each);
    }
  });

  test(title('lists of launches are checked against the same limits'), (t) => {
    const made = borrowing();
    const list = (local: number, bytes: number) => {
      const words = Float64Array.of(0, 1, 1, 16, local, 1, 1, 2, bytes, 0);
      return native().enqueueKernels(queue, words, words.length, [made], [], new Uint8Array(8), false);
    };
    t.is(list(16, 64), 0);
    t.is(thrown(() => list(0, 64)).message, cl.INVALID_WORK_ITEM_SIZE.message);
    t.is(thrown(() => list(16, 64 * 2 ** 20)).message, cl.OUT_OF_RESOURCES.message);
    cl.finish(queue);
    cl.releaseKernel(made);
  });

  for (const [spoof, driver] of [
    [{}, 'the device'],
    [{ nvidiaLocalBytes: 1024 }, 'an NVIDIA device, which reports too little'],
  ] as const) {
    // No group of NVIDIA's has as much as some processors provide.
    const limit = 'nvidiaLocalBytes' in spoof ? Math.min(localBytes, 2 ** 19) : localBytes;
    test(title(`a kernel may use all local memory of ${driver}`), async (t) => {
      const { result, control } = await underLayer(
        (env) => run('full-local', [name, String(limit)], env),
        spoof,
      );
      control.close();
      t.is(result.code, 0, result.stderr);
    });
  }
}
