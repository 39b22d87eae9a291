import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';

const SOURCE = 'kernel void put(global int* out) { *out = VALUE; }';

/** Options that crashed the process on one of the drivers, or made it read files. */
const REFUSED = [
  ...['-D', '-I', '-D ', '-cl-mad-enable -I', '-D -I', '-D -D', '-D -', '-I @x', '-D ""'],
  ...['-', '@x', 'a', 'a.cl', '/dev/zero', '-D A=1 b', '-w b.cl'],
  ...['-x c', '-U A', '-o x', '-include x', '-load x', '-target x'],
  ...['"', "'", '-D "', '-I "a', '-D A="1'],
];

for (const { name, context, device, queue, version } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;
  const withLinker = where(version >= 120, 'needs OpenCL 1.2', test); // separate compilation needs OpenCL 1.2

  for (const options of REFUSED) {
    test(title(`the build options ${JSON.stringify(options)} are rejected`), (t) => {
      const program = cl.createProgramWithSource(context, SOURCE);
      const { code, message } = thrown(() => cl.buildProgram(program, [device], options));
      t.is(code, cl.INVALID_BUILD_OPTIONS.code, message);
      cl.releaseProgram(program);
    });
  }

  withLinker(title('invalid compiler and linker options are rejected'), (t) => {
    const program = cl.createProgramWithSource(context, SOURCE);
    const compiled = thrown(() => cl.compileProgram(program, [device], '-D'));
    t.is(compiled.code, cl.INVALID_COMPILER_OPTIONS.code, compiled.message);
    cl.compileProgram(program, [device], '-D VALUE=1');
    const linked = thrown(() => cl.linkProgram(context, [device], 'a.o', [program]));
    t.is(linked.code, cl.INVALID_LINKER_OPTIONS.code, linked.message);
    cl.releaseProgram(program);
  });

  for (const options of ['-D VALUE=7', '-DVALUE=7', ' -w  -D\tVALUE=7 -I . ', '-DVALUE="(3 + 4)"']) {
    test(title(`the build options ${JSON.stringify(options)} are accepted`), (t) => {
      const program = cl.createProgramWithSource(context, SOURCE);
      try {
        cl.buildProgram(program, [device], options);
      } catch (error) {
        // Drivers interpret quotation marks differently: rusticl treats one as the end of a word.
        t.true(options.includes('"'), (error as Error).message);
        cl.releaseProgram(program);
        return;
      }
      const kernel = cl.createKernel(program, 'put');
      const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4);
      cl.setKernelArg(kernel, 0, null, buffer);
      cl.enqueueNDRangeKernel(queue, kernel, 1, null, [1]);
      const out = new Int32Array(1);
      cl.enqueueReadBuffer(queue, buffer, true, 0, 4, out);
      t.is(out[0], 7);
      cl.releaseKernel(kernel);
      cl.releaseMemObject(buffer);
      cl.releaseProgram(program);
    });
  }

  test(title('the binaries of an unbuilt program can be queried or are INVALID_PROGRAM'), (t) => {
    const program = cl.createProgramWithSource(context, SOURCE);
    try {
      const binaries = cl.getProgramInfo(program, cl.PROGRAM_BINARIES) as Uint8Array[];
      t.is(binaries.length, 1); // Clover's has a header
    } catch (error) {
      t.is((error as cl.OpenCLError).code, cl.INVALID_PROGRAM.code);
    }
    cl.releaseProgram(program);
  });
}
