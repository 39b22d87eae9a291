/** The module that computes in the addon. Its first use loads it, because it loads the binding of OpenCL. */
export type NativeModule = typeof import('./native-sort.js');
let native: NativeModule | undefined;

export async function nativeModule(): Promise<NativeModule> {
  native ??= await import('./native-sort.js');
  return native;
}
