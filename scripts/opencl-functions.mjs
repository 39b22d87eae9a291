// The functions of the binding: functions of cl.h that it omits, and functions that it adds.

/** Functions of cl.h that are omitted, each with its reason. */
export const LEFT_OUT = {
  clGetExtensionFunctionAddress: 'returns a C function pointer, which JavaScript cannot call',
  clGetExtensionFunctionAddressForPlatform:
    'returns a C function pointer, which JavaScript cannot call: getExtensionFunctions tells which there are',
};

/** Functions of the binding that the header lacks. */
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
  'openclInfo',
  'placeAsync',
  'prepareMappingAsync',
  'readAndLook',
  'readBufferAsync',
  'readBufferToFileAsync',
  'releaseAll',
  'releaseAsync',
  'setSingleThreaded',
  'splitAsync',
  'waitForEventsAsync',
  'writeBufferAsync',
  'writeBufferFromFileAsync',
];
/** Extension functions, from cl_ext.h. */
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
/** Functions that only src/opencl calls. */
export const INTERNAL = [
  'callKernel',
  'collectNow',
  'externalBytes',
  'hostSort',
  'hostSortAsync',
  'initialize',
  'isReleased',
  'isSame',
  'loaderInfo',
  'setCopyMappings',
];

/** Converts clCreateBuffer to createBuffer, and clSVMAlloc to SVMAlloc. */
export const camelCase = (name) => {
  const rest = name.slice('cl'.length);
  return /^[A-Z]{2}/.test(rest) ? rest : rest[0].toLowerCase() + rest.slice(1);
};
