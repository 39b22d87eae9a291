// OpenCL versions whose functions this binding has, independent of the drivers; a call that a driver lacks throws.
// Programs written for node-opencl query them by these names.
export const VERSION_1_0 = true;
export const VERSION_1_1 = true;
export const VERSION_1_2 = true;
export const VERSION_2_0 = true;
export const VERSION_2_1 = true;
export const VERSION_2_2 = true;
export const VERSION_3_0 = true;
export const CL_VERSION_1_0 = true;
export const CL_VERSION_1_1 = true;
export const CL_VERSION_1_2 = true;
export const CL_VERSION_2_0 = true;
export const CL_VERSION_2_1 = true;
export const CL_VERSION_2_2 = true;
export const CL_VERSION_3_0 = true;
export const v10 = true;
export const v11 = true;
export const v12 = true;
export const v20 = true;
export const v21 = true;
export const v22 = true;
export const v30 = true;
export const version = '3.0';

// Host sizes of the OpenCL C types, in bytes.
export const size_CHAR = 1;
export const size_UCHAR = 1;
export const size_SHORT = 2;
export const size_USHORT = 2;
export const size_INT = 4;
export const size_UINT = 4;
export const size_LONG = 8;
export const size_ULONG = 8;
export const size_HALF = 2;
export const size_FLOAT = 4;
export const size_DOUBLE = 8;
