import type { MemorySource } from '../../keys/array.js';

/** The module that computes in the addon. Its first use loads it, because it loads the binding of OpenCL. */
export type NativeModule = typeof import('./native-sort.js');
let native: NativeModule | undefined;

export async function nativeModule(): Promise<NativeModule> {
  native ??= await import('./native-sort.js');
  return native;
}

/** Returns the module once it is loaded. */
export const loadedNativeModule = (): NativeModule | undefined => native;

/**
 * Allocates memory for a result, which may hold old data. Once the addon is loaded, it is memory of a collected result,
 * whose pages exist already: creating the pages takes as long as a pass over them.
 */
export const resultMemory: MemorySource = (bytes) => native?.resultMemory(bytes) ?? new ArrayBuffer(bytes);
