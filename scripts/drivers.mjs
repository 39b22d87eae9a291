// Environment variables with which a driver exposes a device for tests, by the names of CLSORT_TEST_DEVICES.

/** Variables with which the drivers of Mesa expose a CPU device. */
export const MESA = {
  RUSTICL_ENABLE: 'llvmpipe',
  LP_CL: '1',
  CLOVER_EXTRA_BUILD_OPTIONS: '-no-opaque-pointers',
};

/** The simulator alone, used from one thread. */
export const OCLGRIND = {
  OCL_ICD_VENDORS: '/usr/lib/oclgrind/liboclgrind-rt-icd.so',
  CLSORT_TEST_DEVICES: 'oclgrind',
  UV_THREADPOOL_SIZE: '1',
};

export const driverEnv = (name) => ({ rusticl: MESA, clover: MESA, oclgrind: OCLGRIND })[name] ?? {};
