import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { kernel, opened, thrown } from './devices.js';

const NO_SIZES: unknown[] = [
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  -1n,
  2n ** 64n,
  '8',
  {},
  [],
  true,
];

for (const device of opened) {
  const { name, context, queue } = device;
  const title = (claim: string): string => `${name}: ${claim}`;

  test(title('sizes and offsets are 64-bit integers that are never truncated or rounded'), (t) => {
    const buffer = cl.createBuffer(context, 0, 64n);
    const host = new Uint8Array(64);
    for (const size of NO_SIZES) {
      t.is(thrown(() => cl.createBuffer(context, 0, size as number)).code, cl.INVALID_BUFFER_SIZE.code);
      const use = () => cl.enqueueReadBuffer(queue, buffer, true, size as number, 1, host);
      t.is(thrown(use).code, cl.INVALID_VALUE.code, String(size));
    }
    // Truncated to 32 bits, these would be 0 and 8, which are within the buffer.
    for (const offset of [2 ** 32, 2n ** 32n + 8n, 2 ** 53 - 1]) {
      t.is(
        thrown(() => cl.enqueueReadBuffer(queue, buffer, true, offset, 8, host)).code,
        cl.INVALID_VALUE.code,
      );
    }
    t.is(cl.enqueueReadBuffer(queue, buffer, true, 8n, 8n, host), 0);
    cl.releaseMemObject(buffer);
  });

  test(title('host memory that is too small or of the wrong type is rejected'), (t) => {
    const buffer = cl.createBuffer(context, 0, 64);
    const small = new Uint8Array(8);
    const view = new Uint8Array(new ArrayBuffer(64), 60); // the rest of its ArrayBuffer is not included
    for (const host of [small, view, new ArrayBuffer(63), Buffer.alloc(1)]) {
      t.is(thrown(() => cl.enqueueReadBuffer(queue, buffer, true, 0, 64, host)).code, cl.INVALID_VALUE.code);
      t.is(
        thrown(() => cl.enqueueWriteBuffer(queue, buffer, false, 0, 64, host)).code,
        cl.INVALID_VALUE.code,
      );
      const copy = () => cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 64, host);
      t.is(thrown(copy).code, cl.INVALID_HOST_PTR.code);
    }
    for (const none of [null, undefined, 'text', [1, 2], {}, 5] as never[]) {
      t.is(thrown(() => cl.enqueueReadBuffer(queue, buffer, true, 0, 4, none)).code, cl.INVALID_VALUE.code);
    }
    cl.releaseMemObject(buffer);
  });

  test(title('a view transfers only its own bytes, at any offset in its ArrayBuffer'), (t) => {
    const all = new Uint8Array(64).map((_, i) => i);
    const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 8, all.subarray(10, 18));
    const back = new Uint8Array(16);
    cl.enqueueReadBuffer(queue, buffer, true, 0, 8, new DataView(back.buffer, 4, 8));
    t.deepEqual([...back], [0, 0, 0, 0, 10, 11, 12, 13, 14, 15, 16, 17, 0, 0, 0, 0]);
    const pooled = Buffer.from('pooled!!');
    cl.enqueueWriteBuffer(queue, buffer, true, 0, 8, pooled);
    cl.enqueueReadBuffer(queue, buffer, true, 0, 8, back);
    t.is(Buffer.from(back.subarray(0, 8)).toString(), 'pooled!!');
    const shared = new Uint8Array(new SharedArrayBuffer(8));
    cl.enqueueReadBuffer(queue, buffer, false, 0, 8, shared);
    cl.finish(queue);
    t.is(Buffer.from(shared).toString(), 'pooled!!');
    cl.releaseMemObject(buffer);
  });

  where(
    device.version >= 110,
    'needs OpenCL 1.1',
    test,
  )(title('a box needs host memory up to its last byte and no further'), (t) => {
    const buffer = cl.createBuffer(
      context,
      cl.MEM_COPY_HOST_PTR,
      64,
      new Uint8Array(64).map((_, i) => i),
    );
    const read = (bytes: number) => {
      const host = new Uint8Array(bytes);
      cl.enqueueReadBufferRect(queue, buffer, true, [1, 2, 0], [2, 1, 0], [3, 2, 1], 8, 0, 6, 0, host);
      return host;
    };
    // The last byte is at row 2, byte 4 of rows of 6: 17 bytes are enough, 16 are not.
    t.deepEqual([...read(17)], [0, 0, 0, 0, 0, 0, 0, 0, 17, 18, 19, 0, 0, 0, 25, 26, 27]);
    t.is(thrown(() => read(16)).code, cl.INVALID_VALUE.code);
    const huge: [number, number, number] = [2 ** 53 - 1, 2 ** 53 - 1, 2 ** 53 - 1];
    const beyond = () =>
      cl.enqueueReadBufferRect(
        queue,
        buffer,
        true,
        [0, 0, 0],
        huge,
        [1, 1, 1],
        0,
        0,
        2 ** 52,
        0,
        new Uint8Array(8),
      );
    t.is(thrown(beyond).code, cl.INVALID_VALUE.code);
    cl.releaseMemObject(buffer);
  });

  test(title('work sizes need one valid number for each dimension'), (t) => {
    const nothing = kernel(device, 'kernel void nothing(int a) {}');
    cl.setKernelArg(nothing, 0, 'int', 1);
    const launch = (dimensions: unknown, offset: unknown, global: unknown, local: unknown) =>
      thrown(() =>
        cl.enqueueNDRangeKernel(
          queue,
          nothing,
          dimensions as number,
          offset as [],
          global as [],
          local as [],
        ),
      ).code;
    for (const dimensions of [0, 4, -1, 1.5, 'x', null]) {
      t.is(launch(dimensions, null, [1], null), cl.INVALID_WORK_DIMENSION.code);
    }
    t.is(launch(1, null, [1, 2], null), cl.INVALID_GLOBAL_WORK_SIZE.code);
    t.is(launch(2, null, [1], null), cl.INVALID_GLOBAL_WORK_SIZE.code);
    t.is(launch(1, null, null, null), cl.INVALID_GLOBAL_WORK_SIZE.code);
    for (const wrong of [[-1], [0.5], ['1'], [null], [[1]], 1, '1', {}]) {
      t.is(launch(1, null, wrong, null), cl.INVALID_GLOBAL_WORK_SIZE.code);
      t.is(launch(1, null, [1], wrong), cl.INVALID_WORK_GROUP_SIZE.code);
      t.is(launch(1, wrong, [1], null), cl.INVALID_GLOBAL_OFFSET.code);
    }
    t.is(launch(2, null, [1, 1], [1]), cl.INVALID_WORK_GROUP_SIZE.code);
    t.is(launch(1, [0, 0], [1], null), cl.INVALID_GLOBAL_OFFSET.code);
    t.is(launch(1, null, [1], [1, 1]), cl.INVALID_WORK_GROUP_SIZE.code);
    t.is(cl.enqueueNDRangeKernel(queue, nothing, 3, [0, 0, 0], [1, 1, 1], [1, 1, 1]), 0);
    cl.finish(queue);
    cl.releaseKernel(nothing);
  });

  test(title('wait lists accept only events'), (t) => {
    const buffer = cl.createBuffer(context, 0, 8);
    const host = new Uint8Array(8);
    for (const list of [[null], [context], [{}], 'x', {}, [0]]) {
      const use = () => cl.enqueueReadBuffer(queue, buffer, true, 0, 8, host, list as never);
      t.is(thrown(use).code, cl.INVALID_EVENT_WAIT_LIST.code);
    }
    for (const list of [null, undefined, []])
      t.is(cl.enqueueReadBuffer(queue, buffer, true, 0, 8, host, list), 0);
    cl.releaseMemObject(buffer);
  });

  test(title('a call throws the error of a getter in its arguments'), (t) => {
    const region = {
      get origin(): number {
        throw new RangeError('mine');
      },
      size: 4,
    };
    const buffer = cl.createBuffer(context, 0, 8);
    t.throws(() => cl.createSubBuffer(buffer, 0, cl.BUFFER_CREATE_TYPE_REGION, region), {
      instanceOf: RangeError,
      message: 'mine',
    });
    cl.releaseMemObject(buffer);
  });
}
