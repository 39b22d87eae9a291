// The handle classes under the names that node-opencl exports.
export {
  CommandQueue as WebCLCommandQueue,
  Context as WebCLContext,
  Device as WebCLDevice,
  Event as WebCLEvent,
  Kernel as WebCLKernel,
  MemObject as WebCLMemObject,
  Platform as WebCLPlatform,
  Program as WebCLProgram,
  Sampler as WebCLSampler,
} from './objects.js';
