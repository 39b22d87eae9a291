/** Objects of one context, for tests that combine objects of several contexts. */
import * as cl from '../../src/opencl/index.js';

export const SOURCE = `
  kernel void put(global uint* out, uint n) { out[0] = n; }
  kernel void sample(read_only image2d_t from, sampler_t how, global uint4* out) {
    *out = read_imageui(from, how, (int2)(0, 0));
  }`;
export const FORMAT = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
export const ORIGIN = [0, 0, 0];
export const PIXELS = [4, 4, 1];

/** One object of each kind, all of one context. */
export class World {
  readonly context: cl.Context;
  readonly queue: cl.CommandQueue;
  readonly buffer: cl.MemObject;
  readonly program: cl.Program;
  readonly put: cl.Kernel;
  readonly event: cl.Event;

  constructor(readonly device: cl.Device) {
    this.context = cl.createContext(null, [device]);
    this.queue = cl.createCommandQueue(this.context, device);
    this.buffer = cl.createBuffer(this.context, cl.MEM_READ_WRITE, 1024);
    this.program = cl.createProgramWithSource(this.context, SOURCE);
    cl.buildProgram(this.program);
    this.put = cl.createKernel(this.program, 'put');
    cl.setKernelArg(this.put, 0, 'uint*', this.buffer);
    cl.setKernelArg(this.put, 1, 'uint', 7);
    this.event = cl.enqueueMarker(this.queue, true);
    cl.finish(this.queue);
  }

  image(): cl.MemObject {
    return cl.createImage2D(this.context, cl.MEM_READ_WRITE, FORMAT, 4, 4, 0, null);
  }
  sampler(): cl.Sampler {
    return cl.createSampler(this.context, false, cl.ADDRESS_CLAMP, cl.FILTER_NEAREST);
  }
  sample(): cl.Kernel {
    return cl.createKernel(this.program, 'sample');
  }
  compiled(): cl.Program {
    const program = cl.createProgramWithSource(this.context, SOURCE);
    cl.compileProgram(program);
    return program;
  }
  end(): void {
    cl.finish(this.queue);
    for (const made of [this.event, this.put, this.program, this.buffer, this.queue, this.context]) {
      made[Symbol.dispose]();
    }
  }
}

export const bytes = () => new Uint8Array(1024);
