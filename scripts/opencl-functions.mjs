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
  'compileProgramAsync',
  'enqueueKernels',
  'finishAsync',
  'getExtensionFunctions',
  'lookAt',
  'openclInfo',
  'prepareMappingAsync',
  'readAndLook',
  'readBufferAsync',
  'readBufferToFileAsync',
  'releaseAll',
  'releaseAsync',
  'setSingleThreaded',
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
/** Functions that only src/opencl, src/native-host and the host engine call. */
export const INTERNAL = [
  'callKernel',
  'checksumAsync',
  'collectNow',
  'copyAsync',
  'endWithParent',
  'externalBytes',
  'guardFile',
  'guardProcess',
  'hashAsync',
  'hostAppendCodesAsync',
  'hostCanonicalAsync',
  'hostCompactAsync',
  'hostContainsAsync',
  'hostCountBinsAsync',
  'hostCopyRanges',
  'hostCountDigitsAsync',
  'hostCsvColumn',
  'hostCsvSplit',
  'hostGatherAsync',
  'hostGatherStrings',
  'hostJsonColumn',
  'hostJsonSplit',
  'hostKeyBytes',
  'hostMergeAsync',
  'hostNumberProfile',
  'hostPlaceHeadsAsync',
  'hostReduceAsync',
  'hostReduceRunsAsync',
  'hostRunLengthsAsync',
  'hostScanAsync',
  'hostSearchSortedAsync',
  'hostSegmentIdsAsync',
  'hostSelectAsync',
  'hostSort',
  'hostSortAsync',
  'hostStringWords',
  'hostVerifyAsync',
  'initialize',
  'isReleased',
  'isSame',
  'joinAsync',
  'loaderInfo',
  'multisetAsync',
  'placeAsync',
  'setCopyMappings',
  'splitAsync',
];

/** Converts clCreateBuffer to createBuffer, and clSVMAlloc to SVMAlloc. */
export const camelCase = (name) => {
  const rest = name.slice('cl'.length);
  return /^[A-Z]{2}/.test(rest) ? rest : rest[0].toLowerCase() + rest.slice(1);
};
