import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';

const SOURCE = 'kernel void put(global uint* out, uint n) { out[0] = n; }';
const BROKEN = 'kernel void put( {';
const PARAMETERS = `
  kernel void take(read_only image2d_t from, write_only image2d_t to, sampler_t how, ulong big, uint n,
                   global uint* out) {
    out[0] = n + (uint) big;
  }`;

for (const { name, context, device, queue, version, images } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;
  const withCompiler = where(version >= 120, 'from OpenCL 1.2 on', test.serial); // programs are compiled and linked

  const fromSource = (source: string): cl.Program => cl.createProgramWithSource(context, source);
  const built = (source: string): cl.Program => {
    const program = fromSource(source);
    cl.buildProgram(program);
    return program;
  };
  const compiled = (source: string): cl.Program => {
    const program = fromSource(source);
    cl.compileProgram(program);
    return program;
  };
  const link = (...programs: cl.Program[]): cl.Program => cl.linkProgram(context, null, null, programs);
  /** A program from the binary of another. */
  const fromBinary = (program: cl.Program): cl.Program => {
    const [binary] = cl.getProgramInfo(program, cl.PROGRAM_BINARIES) as [Uint8Array];
    return cl.createProgramWithBinary(context, [device], [binary.length], [binary]);
  };
  const failing = (build: (program: cl.Program) => unknown): cl.Program => {
    const program = fromSource(BROKEN);
    thrown(() => build(program));
    return program;
  };
  const runs = (program: cl.Program): number | undefined => {
    const put = cl.createKernel(program, 'put');
    const out = cl.createBuffer(context, cl.MEM_READ_WRITE, 4);
    cl.setKernelArg(put, 0, 'uint*', out);
    cl.setKernelArg(put, 1, 'uint', 42);
    cl.enqueueNDRangeKernel(queue, put, 1, null, [1], [1]);
    const host = new Uint32Array(1);
    cl.enqueueReadBuffer(queue, out, true, 0, 4, host);
    cl.releaseKernel(put);
    cl.releaseMemObject(out);
    return host[0];
  };

  withCompiler(title('a program whose compilation failed is not linked, and the log says why'), (t) => {
    for (const build of [cl.compileProgram, cl.buildProgram]) {
      for (const programs of [[failing(build)], [compiled(SOURCE), failing(build)]]) {
        const error = thrown(() => link(...programs));
        t.is(error.code, cl.INVALID_OPERATION.code);
        t.regex(
          error.reason ?? '',
          new RegExp(`program ${programs.length} is not compiled: its build failed`),
        );
        t.true((error.log ?? '').length > 10);
      }
    }
  });

  withCompiler(title('a program that was not compiled is not linked'), (t) => {
    const error = thrown(() => link(compiled(SOURCE), fromSource(SOURCE)));
    t.is(error.code, cl.INVALID_OPERATION.code);
    t.regex(error.reason ?? '', /program 2 is not compiled: call compileProgram/);
  });

  withCompiler(title('compiled programs are linked, also from their binaries'), (t) => {
    t.is(runs(link(compiled(SOURCE))), 42);
    t.true(link(fromBinary(compiled(SOURCE))) instanceof cl.Program);
  });

  withCompiler(title('a header is a program created from source'), (t) => {
    const includes = fromSource(`#include "a.h"\n${SOURCE}`);
    for (const header of [fromBinary(built(SOURCE)), link(compiled(SOURCE))]) {
      const error = thrown(() => cl.compileProgram(includes, null, null, [header], ['a.h']));
      t.is(error.code, cl.INVALID_PROGRAM.code);
      t.regex(error.reason ?? '', /source/);
    }
    t.is(cl.compileProgram(includes, null, null, [fromSource('#define UNUSED')], ['a.h']), 0);
  });

  test.serial(title('a program from a binary is built as often as one likes'), async (t) => {
    const program = fromBinary(built(SOURCE));
    for (let i = 0; i < 3; i++) t.is(cl.buildProgram(program), 0);
    await cl.buildProgramAsync(program, [device], '-cl-fast-relaxed-math');
    await new Promise((resolve) => cl.buildProgram(program, null, null, resolve));
    t.is(runs(program), 42);
  });

  test.serial(title('a program is built again after it failed, and fails again after it was built'), (t) => {
    const program = fromSource('kernel void put(global uint* out, uint n) { out[0] = n + ADDED; }');
    const build = (options: string) => () => cl.buildProgram(program, null, options);
    thrown(build(''));
    build('-DADDED=0')();
    t.is(runs(program), 42);
    thrown(build(''));
    t.is(cl.createProgramWithSource(context, SOURCE).released, false);
  });

  const withImages = where(images && version >= 120, 'no images, or OpenCL below 1.2', test.serial);
  withImages(
    title('linked programs and those from binaries check the argument types of their kernels'),
    (t) => {
      const ofBinary = fromBinary(built(PARAMETERS));
      cl.buildProgram(ofBinary);
      const linked = link(compiled(PARAMETERS));
      for (const program of [ofBinary, linked]) {
        const take = cl.createKernel(program, 'take');
        const codes = [0, 1, 2, 5].map(
          (i) => thrown(() => cl.setKernelArg(take, i, 'ulong', 0xdeadbeefn)).code,
        );
        const { INVALID_MEM_OBJECT: mem, INVALID_SAMPLER: sampler } = cl;
        t.deepEqual(codes, [mem.code, mem.code, sampler.code, mem.code]);
        t.is(cl.setKernelArg(take, 3, 'ulong', 0xdeadbeefn), 0);
        t.is(cl.setKernelArg(take, 3, null, 5), 0);
        const options = String(cl.getProgramBuildInfo(program, device, cl.PROGRAM_BUILD_OPTIONS));
        t.false(options.includes('arg-info'), options);
        cl.releaseKernel(take);
      }
    },
  );

  test.serial(title('a kernel that a program lacks is named beside those that it has'), (t) => {
    const program = built(SOURCE);
    const error = thrown(() => cl.createKernel(program, 'putt'));
    t.is(error.code, cl.INVALID_KERNEL_NAME.code);
    t.regex(
      error.reason ?? '',
      version >= 120 ? /no kernel 'putt'; its kernels are: put$/ : /no kernel 'putt'/,
    );
  });

  // The simulator creates kernels of unlinked programs; Clover reports that the program lacks the kernel.
  where(
    name !== 'oclgrind' && name !== 'clover',
    'the driver does not tell',
    test.serial,
  )(title('kernels come of programs that are built, and the error says so'), (t) => {
    for (const program of [fromSource(SOURCE), failing(cl.buildProgram)]) {
      for (const make of [() => cl.createKernel(program, 'put'), () => cl.createKernelsInProgram(program)]) {
        const error = thrown(make);
        t.is(error.code, cl.INVALID_PROGRAM_EXECUTABLE.code);
        t.regex(error.reason ?? '', /not built.*buildProgram/);
      }
    }
  });

  test.serial(title('text with a NUL is refused, which drivers would cut there'), (t) => {
    const program = built(SOURCE);
    const uses = [
      () => cl.createKernel(program, 'put\0junk'),
      () => cl.createProgramWithSource(context, `${SOURCE}\0 and more`),
      () => cl.buildProgram(fromSource(SOURCE), null, '-DA=1\0-DB=2'),
      () => cl.setKernelArg(cl.createKernel(program, 'put'), 1, 'uint\0', 5),
      ...(version >= 120
        ? [() => cl.compileProgram(fromSource(SOURCE), null, null, [fromSource('')], ['a.h\0'])]
        : []),
    ];
    for (const use of uses) t.regex(thrown(use).reason ?? '', /NUL/, `${use}`);
  });
}
