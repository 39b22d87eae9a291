// The functions of the binding: which of cl.h are left out, and what there is beyond it.

/** Functions of cl.h that are left out, each with its reason. */
export const LEFT_OUT = {
  clGetExtensionFunctionAddress: 'returns a C function pointer, which JavaScript cannot call',
  clGetExtensionFunctionAddressForPlatform:
    'returns a C function pointer, which JavaScript cannot call: getExtensionFunctions tells which there are',
};

/** What the binding has beyond the header. */
export const ADDED = [
  'allocateFileAsync',
  'allocateHostMemory',
  'buildProgramAsync',
  'checksumAsync',
  'compileProgramAsync',
  'copyAsync',
  'enqueueKernels',
  'finishAsync',
  'getExtensionFunctions',
  'hashAsync',
  'joinAsync',
  'lookAt',
  'multisetAsync',
  'nearSortAsync',
  'openclInfo',
  'placeAsync',
  'prepareMappingAsync',
  'readAndLook',
  'readBufferAsync',
  'readBufferToFileAsync',
  'relayAsync',
  'releaseAll',
  'releaseAsync',
  'setSingleThreaded',
  'splitAsync',
  'splitToBuffersAsync',
  'waitForEventsAsync',
  'writeBufferAsync',
  'writeBufferFromFileAsync',
];
/** Functions of extensions, from cl_ext.h. */
export const EXTENSIONS = [
  'commandBarrierWithWaitListKHR',
  'commandCopyBufferKHR',
  'commandCopyBufferRectKHR',
  'commandCopyBufferToImageKHR',
  'commandCopyImageKHR',
  'commandCopyImageToBufferKHR',
  'commandFillBufferKHR',
  'commandFillImageKHR',
  'commandNDRangeKernelKHR',
  'createCommandBufferKHR',
  'deviceMemAllocINTEL',
  'enqueueAcquireExternalMemObjectsKHR',
  'enqueueCommandBufferKHR',
  'enqueueMemFillINTEL',
  'enqueueMemcpyINTEL',
  'enqueueReleaseExternalMemObjectsKHR',
  'finalizeCommandBufferKHR',
  'getCommandBufferInfoKHR',
  'getMemAllocInfoINTEL',
  'hostMemAllocINTEL',
  'memFreeINTEL',
  'releaseCommandBufferKHR',
  'retainCommandBufferKHR',
  'setKernelArgMemPointerINTEL',
  'sharedMemAllocINTEL',
];
/** What only src/opencl itself calls. */
export const INTERNAL = [
  'callKernel',
  'collectNow',
  'externalBytes',
  'initialize',
  'isReleased',
  'isSame',
  'loaderInfo',
  'setCopyMappings',
];

/** clCreateBuffer → createBuffer, clSVMAlloc → SVMAlloc. */
export const camelCase = (name) => {
  const rest = name.slice('cl'.length);
  return /^[A-Z]{2}/.test(rest) ? rest : rest[0].toLowerCase() + rest.slice(1);
};
