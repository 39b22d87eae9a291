import test, { type ExecutionContext } from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { kernel, type Opened, opened, thrown } from './devices.js';

type Offer = readonly [type: string | null, value: cl.KernelArgumentValue];

const BASIC = `
  typedef struct { int a, b; } image_params;
  kernel void take(global uint* out, constant uint* fixed, local uint* scratch, uint n, ulong big, uint4 many,
                  image_params named) {
    scratch[0] = fixed[0];
    *out = n + (uint) big + many.w + named.b + scratch[0];
  }`;
const IMAGES = 'kernel void take(read_only image2d_t from, write_only image2d_t to, sampler_t how) {}';

/** A kernel of a program from a binary; most drivers provide no argument info for it. */
function fromBinary({ context, device, version }: Opened, source: string): cl.Kernel {
  let program = cl.createProgramWithSource(context, source);
  cl.buildProgram(program, [device]);
  if (version >= 120) {
    const [binary] = cl.getProgramInfo(program, cl.PROGRAM_BINARIES) as [Uint8Array];
    cl.releaseProgram(program);
    program = cl.createProgramWithBinary(context, [device], [binary.byteLength], [binary]);
    cl.buildProgram(program, [device]);
  }
  const made = cl.createKernel(program, 'take');
  cl.releaseProgram(program);
  return made;
}

for (const device of opened) {
  const { name, context, queue, version } = device;
  const title = (claim: string): string => `${name}: ${claim}`;
  const withImages = where(device.images, 'no images', test.serial);
  const withInfo = where(version >= 120, 'needs OpenCL 1.2', test); // for argument info
  const svm = version >= 200 && cl.getDeviceInfo(device.device, cl.DEVICE_SVM_CAPABILITIES) > 0;
  const withSvm = where(svm, 'no shared virtual memory', test.serial);

  const format = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
  const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
  const sampler = cl.createSampler(context, false, cl.ADDRESS_CLAMP, cl.FILTER_NEAREST);
  const eight = Uint32Array.of(0xdead, 0xbeef);
  const image2d = (flags: number) => cl.createImage2D(context, flags, format, 4, 4, 0, null);
  const image = device.images ? image2d(cl.MEM_READ_WRITE) : null;
  const volume = device.images
    ? cl.createImage3D(context, cl.MEM_READ_ONLY, format, 2, 2, 2, 0, 0, null)
    : null;

  /**
   * Values that are not memory objects, and ones that a pointer argument does not accept; 8 bytes each, like a handle.
   */
  const NO_POINTER: Offer[] = [
    ['ulong', 0xdeadbeefn],
    ['ulong', eight],
    ['float2', [1, 2]],
    ['double', 1],
    ['uint', 5],
    ['pair', eight],
    [null, eight],
    [null, 5 as never],
    ['sampler_t', sampler],
    [null, sampler],
    ['queue_t', queue],
    [null, queue],
    ['local', 8],
    ...(image
      ? ([
          ['image2d_t', image],
          ['uint*', image],
          [null, image],
        ] as Offer[])
      : []),
  ];
  const NO_VALUE: Offer[] = [
    ['uint*', buffer],
    ['cl_mem', buffer],
    [null, buffer],
    ['uint*', null],
    ['local', 8],
  ];

  const refuses = (t: ExecutionContext) => (made: cl.Kernel, i: number, offers: readonly Offer[]) => {
    for (const [type, value] of offers) {
      const { code } = thrown(() => cl.setKernelArg(made, i, type, value));
      t.is(typeof code, 'number', `${i} ${type} ${value}`);
    }
  };

  /** Each parameter of BASIC, with values that it rejects and, last, one that it accepts. */
  const PARAMETERS: readonly { refused: readonly Offer[]; taken: readonly Offer[] }[] = [
    {
      refused: NO_POINTER,
      taken: [
        ['uint*', null],
        [null, buffer],
        ['cl_mem', buffer],
        ['uint*', buffer],
      ],
    },
    { refused: NO_POINTER, taken: [['uint*', buffer]] },
    {
      refused: [
        ['uint*', buffer],
        [null, buffer],
        ['ulong', 8],
        [null, eight],
        ['uint*', null],
      ],
      taken: [['local', 4]],
    },
    {
      refused: [
        ...NO_VALUE,
        ['ulong', 5],
        ['ushort', 5],
        ['uint2', [1, 2]],
        [null, eight],
        [null, new Uint8Array(5)],
      ],
      taken: [
        [null, Uint32Array.of(5)],
        ['float', 1],
        ['uint', 5],
      ],
    },
    {
      refused: [...NO_VALUE, ['uint', 5], ['uint4', [1, 2, 3, 4]], [null, new Uint8Array(7)]],
      taken: [['ulong', 6]],
    },
    {
      refused: [...NO_VALUE, ['ulong', 5], ['uint2', [1, 2]], [null, eight]],
      taken: [
        [null, new Uint8Array(16)],
        ['uint4', [1, 2, 3, 7]],
      ],
    },
    { refused: NO_VALUE, taken: [['image_params', Int32Array.of(0, 8)]] },
  ];

  test.serial(
    title('each parameter accepts only values of its type, with and without argument info'),
    (t) => {
      for (const make of [kernel, fromBinary]) {
        const made = make(device, BASIC);
        PARAMETERS.forEach(({ refused, taken }, i) => {
          refuses(t)(made, i, refused);
          for (const [type, value] of taken) t.is(cl.setKernelArg(made, i, type, value), 0, `${i} ${type}`);
          refuses(t)(made, i, refused); // and the earlier value stays
        });
        cl.enqueueWriteBuffer(queue, buffer, true, 0, 4, Uint32Array.of(100));
        cl.enqueueNDRangeKernel(queue, made, 1, null, [1], [1]);
        const host = new Uint32Array(1);
        cl.enqueueReadBuffer(queue, buffer, true, 0, 4, host);
        t.is(host[0], 5 + 6 + 7 + 8 + 100);
        cl.releaseKernel(made);
      }
    },
  );

  test.serial(title('a list of launches accepts only arguments of the right type'), (t) => {
    const made = kernel(device, BASIC);
    for (const [i, { taken }] of PARAMETERS.entries()) {
      for (const [type, value] of taken) cl.setKernelArg(made, i, type, value);
    }
    const memory = [buffer, ...(image ? [image] : [])];
    const bytes = new Uint8Array(64).fill(0xee);
    const set = (...argument: readonly number[]) => {
      const words = Float64Array.of(0, 1, 0, 1, 1, ...argument);
      cl.enqueueKernels(queue, { words, count: words.length, kernels: [made], memory, bytes });
    };
    const refused = [
      [0, 1, 0, 8], // bytes for a pointer
      [0, 2, 8, 0],
      [2, 0, 0, 0], // a buffer for local memory
      [2, 1, 0, 8],
      [3, 0, 0, 0], // a buffer for a value
      [3, 1, 0, 8],
      [3, 2, 4, 0],
      [4, 0, 0, 0],
      [0.5, 0, 0, 0],
      [2 ** 32, 0, 0, 0],
      [0, 0, 2 ** 32, 0],
      [7, 1, 0, 4],
      ...(image ? [[0, 0, 1, 0]] : []),
    ];
    for (const argument of refused) t.is(typeof thrown(() => set(...argument)).code, 'number', `${argument}`);
    cl.releaseKernel(made);
  });

  withImages(title('image and sampler parameters accept only values of their type'), (t) => {
    const readOnly = image2d(cl.MEM_READ_ONLY);
    const writeOnly = image2d(cl.MEM_WRITE_ONLY);
    const noImage: Offer[] = [
      ['uint*', buffer],
      ['image2d_t', buffer],
      [null, buffer],
      ['image2d_t', null],
      [null, eight],
      ['uint', 5],
      ['local', 8],
    ];
    const noSampler: Offer[] = [
      ['uint*', buffer],
      ['sampler_t', buffer as never],
      [null, buffer],
      [null, eight],
      ['uint', 5],
    ];
    for (const make of [kernel, fromBinary]) {
      const made = make(device, IMAGES);
      refuses(t)(made, 0, noImage);
      refuses(t)(made, 1, noImage);
      refuses(t)(made, 2, noSampler);
      t.is(cl.setKernelArg(made, 0, 'image2d_t', image), 0);
      t.is(cl.setKernelArg(made, 0, null, readOnly), 0);
      t.is(cl.setKernelArg(made, 1, 'image2d_t', writeOnly), 0);
      t.is(cl.setKernelArg(made, 2, 'sampler_t', sampler), 0);
      t.is(cl.setKernelArg(made, 2, null, sampler), 0);
      if (make === kernel && version >= 120) {
        refuses(t)(made, 0, [
          ['image3d_t', volume],
          [null, volume],
          ['image2d_t', writeOnly],
          ['ulong', 8n],
          ['sampler_t', sampler],
        ]);
        refuses(t)(made, 1, [
          ['image2d_t', readOnly],
          ['ulong', eight],
          ['sampler_t', sampler],
        ]);
        refuses(t)(made, 2, [
          ['ulong', 8n],
          ['image2d_t', image],
          ['queue_t', queue],
        ]);
      }
      cl.releaseKernel(made);
    }
    cl.releaseMemObject(readOnly);
    cl.releaseMemObject(writeOnly);
  });

  test.serial(title('8 bytes without a type are rejected if the driver may take them for a handle'), (t) => {
    const basic = kernel(device, BASIC);
    const set = (made: cl.Kernel, type: string | null) => cl.setKernelArg(made, 4, type, eight);
    if (version >= 120) t.is(set(basic, null), 0);
    else t.regex(thrown(() => set(basic, null)).reason ?? '', /name the type/);
    t.is(set(basic, 'ulong'), 0);
    cl.releaseKernel(basic);
  });

  withSvm(title('shared virtual memory can be freed once its argument has another value'), (t) => {
    const made = kernel(device, 'kernel void put(global uint* out, uint n) { if (out) *out = n; }');
    const memory = cl.SVMAlloc(context, 0, 64, 0);
    cl.setKernelArg(made, 0, null, memory);
    cl.setKernelArg(made, 1, 'uint', 77);
    cl.enqueueNDRangeKernel(queue, made, 1, null, [1], null);
    cl.finish(queue);
    cl.enqueueSVMMap(queue, true, cl.MAP_READ, memory, 64);
    t.is(new Uint32Array(memory)[0], 77);
    cl.enqueueSVMUnmap(queue, memory);
    cl.finish(queue);
    cl.setKernelArg(made, 0, 'uint*', null);
    cl.SVMFree(context, memory);
    t.is(cl.enqueueNDRangeKernel(queue, made, 1, null, [1], null), 0);
    cl.finish(queue);
    cl.releaseKernel(made);
  });

  withInfo(title('the build options of a program are returned unchanged'), (t) => {
    for (const options of ['', '-DA=1', '-cl-kernel-arg-info', '-cl-kernel-arg-info -DA=1']) {
      const program = cl.createProgramWithSource(context, 'kernel void nothing(int a) {}');
      cl.buildProgram(program, [device.device], options);
      const reported = String(cl.getProgramBuildInfo(program, device.device, cl.PROGRAM_BUILD_OPTIONS));
      t.is(reported.trim(), options);
      cl.releaseProgram(program);
    }
  });

  withInfo(title('a kernel reports its signature'), (t) => {
    const made = kernel(device, BASIC, '');
    t.deepEqual(
      made.signature.map(({ name, type, address, access }) => [name, type, address, access]),
      [
        ['out', 'uint*', 'global', 'none'],
        ['fixed', 'uint*', 'constant', 'none'],
        ['scratch', 'uint*', 'local', 'none'],
        ['n', 'uint', 'private', 'none'],
        ['big', 'ulong', 'private', 'none'],
        ['many', 'uint4', 'private', 'none'],
        ['named', 'image_params', 'private', 'none'],
      ],
    );
    t.true(made.signature[1]?.qualifiers.includes('const'));
    t.is(made.signature, made.signature);
    cl.releaseKernel(made);
  });

  const withBoth = where(device.images, 'no images', withInfo);
  withBoth(title('a kernel reports which images it reads and which it writes'), (t) => {
    const images = kernel(device, IMAGES, '');
    t.deepEqual(
      images.signature.map(({ type, access }) => [type, access]),
      [
        ['image2d_t', 'read_only'],
        ['image2d_t', 'write_only'],
        ['sampler_t', 'none'],
      ],
    );
    cl.releaseKernel(images);
  });

  test(title('a signature that the driver does not know throws an error with a reason'), (t) => {
    const made = fromBinary(device, BASIC);
    try {
      t.is(made.signature.length, 7); // some drivers store it in the binary
    } catch (error) {
      const { code, message, reason } = error as cl.OpenCLError;
      t.true(code === cl.KERNEL_ARG_INFO_NOT_AVAILABLE.code || /OpenCL 1.2/.test(message), message);
      if (reason) t.regex(reason, /source/);
    }
    cl.releaseKernel(made);
  });

  const PUT =
    'kernel void put(global uint* out, uint4 n) { out[get_global_id(0)] = n.x + get_global_id(0); }';
  /** An argument of PUT, with and without type information from the driver. */
  const four = (n: number): cl.KernelArgumentValue =>
    version >= 120 ? [n, 0, 0, 0] : Uint32Array.of(n, 0, 0, 0);
  const read = (memory: cl.MemObject, count: number) => {
    const host = new Uint32Array(count);
    cl.enqueueReadBuffer(queue, memory, true, 0, host.byteLength, host);
    return [...host];
  };

  test.serial(title('call sets all arguments of a kernel and launches it'), async (t) => {
    const put = kernel(device, PUT);
    const event = put.call(queue, 4, null, buffer, four(5));
    t.true(event instanceof cl.Event);
    await event.completed;
    t.deepEqual(read(buffer, 4), [5, 6, 7, 8]);
    for (const [global, local] of [
      [
        [2, 1],
        [1, 1],
      ],
      [2n, null],
      [[2], 1],
    ] as const) {
      put.call(queue, global, local, buffer, four(9))[Symbol.dispose]();
      t.deepEqual(read(buffer, 2), [9, 10]);
    }
    // Too few, too many, or a wrong one at the end: none changes the earlier values.
    const other = cl.createBuffer(context, 0, 64);
    for (const wrong of [
      [],
      [other],
      [other, four(1), 2],
      [other, 'x'],
      [other, new Uint8Array(4)],
      [other, other],
    ]) {
      const { code } = thrown(() => put.call(queue, 1, null, ...(wrong as never[])));
      t.is(typeof code, 'number', String(wrong));
    }
    t.is(thrown(() => put.call(queue, 1, null, buffer)).code, cl.INVALID_KERNEL_ARGS.code);
    for (const sizes of [[], [1, 1, 1, 1], null, 'x', -1]) {
      t.is(typeof thrown(() => put.call(queue, sizes as never, null, buffer, four(1))).code, 'number');
    }
    cl.enqueueNDRangeKernel(queue, put, 1, null, [1], null);
    t.deepEqual(read(buffer, 1), [9]);
    cl.releaseMemObject(other);
    t.is(thrown(() => put.call(queue, 1, null, other, four(1))).code, cl.INVALID_MEM_OBJECT.code);
    cl.releaseKernel(put);
    t.is(thrown(() => put.call(queue, 1, null, buffer, four(1))).code, cl.INVALID_KERNEL.code);
  });

  test.serial(title('calls of one kernel from concurrent code do not mix their arguments'), async (t) => {
    const put = kernel(device, PUT);
    const worker = async (seed: number) => {
      const mine = cl.createBuffer(context, cl.MEM_READ_WRITE, 16);
      for (let round = 0; round < 20; round++) {
        await put.call(queue, 4, null, mine, four(seed + round)).completed;
        t.deepEqual(
          read(mine, 4),
          [0, 1, 2, 3].map((i) => seed + round + i),
        );
      }
      cl.releaseMemObject(mine);
    };
    await Promise.all([worker(100), worker(1000), worker(10_000)]);
    // Neither does a call that is made while the arguments of another are read.
    const other = cl.createBuffer(context, cl.MEM_READ_WRITE, 16);
    const nested = version >= 120 ? [40, 0, 0, 0] : null;
    if (nested) {
      Object.defineProperty(nested, 3, {
        get() {
          put.call(queue, 1, null, other, four(3))[Symbol.dispose]();
          return 0;
        },
      });
      await put.call(queue, 1, null, buffer, nested).completed;
      t.deepEqual([...read(buffer, 1), ...read(other, 1)], [40, 3]);
    }
    cl.releaseMemObject(other);
    cl.releaseKernel(put);
  });

  test.after.always(() => {
    cl.releaseSampler(sampler);
    for (const memory of [buffer, image, volume]) if (memory) cl.releaseMemObject(memory);
  });
}
