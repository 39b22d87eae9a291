import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { UnsupportedError } from '../../src/util/errors.js';
import { opened, thrown } from './devices.js';

test('constants are numbers, and status constants are errors with a code', (t) => {
  t.is(cl.DEVICE_TYPE_GPU, 4);
  t.is(cl.DEVICE_TYPE_ALL, 0xffffffff);
  t.is(cl.SUCCESS, 0);
  t.is(cl.BUILD_ERROR, -2); // a value, not a status
  t.true(cl.INVALID_VALUE instanceof Error);
  t.is(cl.INVALID_VALUE.code, -30);
  t.is(cl.INVALID_VALUE.name, 'CL_INVALID_VALUE');
  const errors = Object.values(cl).filter((value) => value instanceof cl.OpenCLError);
  t.true(errors.length >= 58);
  t.is(new Set(errors.map((error) => error.message)).size, errors.length);
});

for (const { name, context, device, version, queue } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;

  test(title('an error carries code, name, call and reason, and the message of its constant'), (t) => {
    const error = thrown(() => cl.createBuffer(context, 0, 0.5));
    t.true(error instanceof cl.OpenCLError);
    t.is(error.message, cl.INVALID_BUFFER_SIZE.message);
    t.is(error.code, -61);
    t.is(error.name, 'CL_INVALID_BUFFER_SIZE');
    t.is(error.call, 'clCreateBuffer');
    t.regex(error.reason ?? '', /whole number/);
    t.regex(error.stack ?? '', /errors\.test/);
  });

  test(title('an error from the driver names the failed call'), (t) => {
    const error = thrown(() => cl.getDeviceInfo(device, 123456));
    t.is(error.code, cl.INVALID_VALUE.code);
    t.is(error.call, 'clGetDeviceInfo');
  });

  test(title('specialization constants of a program from source are rejected'), (t) => {
    const program = cl.createProgramWithSource(context, 'int one(void) { return 1; }');
    const use = () => cl.setProgramSpecializationConstant(program, 0, Int32Array.of(1));
    t.is<unknown, unknown>(
      thrown(use).code,
      version < 220 ? 'ERR_CLSORT_UNSUPPORTED' : cl.INVALID_PROGRAM.code,
    );
    cl.releaseProgram(program);
  });

  test(title('a failed build throws or rejects with the build log'), async (t) => {
    const program = cl.createProgramWithSource(context, 'kernel void broken( {');
    const error = thrown(() => cl.buildProgram(program, [device]));
    t.is(error.code, cl.BUILD_PROGRAM_FAILURE.code);
    t.regex(error.log ?? '', /error/i);
    const again = cl.createProgramWithSource(context, 'kernel void broken( {');
    const rejected = await t.throwsAsync<cl.OpenCLError>(cl.buildProgramAsync(again, [device]));
    t.is(rejected?.message, cl.BUILD_PROGRAM_FAILURE.message);
    t.regex(rejected?.log ?? '', /error/i);
    cl.releaseProgram(program);
    cl.releaseProgram(again);
  });

  test(
    title('functions newer than the platform throw an UnsupportedError and never reach the driver'),
    (t) => {
      const newer: [number, () => unknown][] = [
        [120, () => cl.enqueueFillBuffer(queue, cl.createBuffer(context, 0, 16), 1, 0, 16)],
        [200, () => cl.SVMFree(context, new ArrayBuffer(8))],
        [210, () => cl.getHostTimer(device)],
        [300, () => cl.setContextDestructorCallback(context, () => undefined)],
      ];
      for (const [needed, call] of newer) {
        if (version >= needed) continue;
        const error = thrown(call) as Error;
        t.true(error instanceof UnsupportedError, `OpenCL ${needed}`);
        t.regex(error.message, /needs OpenCL \d\.\d/);
      }
      t.true(thrown(() => cl.enqueueNativeKernel()) instanceof UnsupportedError);
      t.true(thrown(() => cl.setCommandQueueProperty(queue, 0, true)) instanceof UnsupportedError);
    },
  );
}
