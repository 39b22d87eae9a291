// The environment in which a driver shows a device that tests can use, by the names of CLSORT_TEST_DEVICES.

/** What the drivers of Mesa need to show a device on a CPU. */
export const MESA = {
  RUSTICL_ENABLE: 'llvmpipe',
  LP_CL: '1',
  CLOVER_EXTRA_BUILD_OPTIONS: '-no-opaque-pointers',
};

/** The simulator alone, driven from one thread. */
export const OCLGRIND = {
  OCL_ICD_VENDORS: '/usr/lib/oclgrind/liboclgrind-rt-icd.so',
  CLSORT_TEST_DEVICES: 'oclgrind',
  UV_THREADPOOL_SIZE: '1',
};

export const driverEnv = (name) => ({ rusticl: MESA, clover: MESA, oclgrind: OCLGRIND })[name] ?? {};
