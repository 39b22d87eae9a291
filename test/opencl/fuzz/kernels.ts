/**
 * The kernels that the fuzzer runs. With any arguments they access at most `BUFFER_BYTES` of a buffer and `LOCAL_BYTES`
 * of local memory, and end soon, so that failures are never their fault.
 */

/** Bytes that a buffer or shared virtual memory must have to be a kernel argument. */
export const BUFFER_BYTES = 512;
export const LOCAL_BYTES = 64;

const BUFFERS = `
kernel void nothing() {}
kernel void put(global uint* a, uint value) { if (a) a[get_global_id(0) & 63] = value; }
kernel void move(global const uint* a, global uint* b, local uint* l) {
  uint i = get_local_id(0) & 15;
  l[i] = a ? a[get_global_id(0) & 63] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (b) b[get_global_id(0) & 63] = l[i];
}
kernel void scalars(global ulong* out, char c, ushort s, int i, ulong l, float f) {
  if (out) out[get_global_id(0) & 63] = (ulong)c + s + (ulong)i + l + (ulong)(f > 1.0f);
}
kernel void vectors(global uint* out, float4 v, int3 t, uchar16 b) {
  if (out) out[get_global_id(0) & 63] = (uint)(v.x > 1.0f) + (uint)t.z + b.sf;
}
typedef struct { int a; float b; ulong c; } pair;
kernel void structs(global uint* out, pair p) { if (out) out[get_global_id(0) & 63] = (uint)(p.a + p.c); }
typedef struct { int a[4]; } image_settings;
kernel void named(global uint* out, image_settings p) { if (out) out[get_global_id(0) & 63] = (uint)p.a[3]; }
kernel void spin(global uint* a, uint rounds) {
  uint x = (uint)get_global_id(0);
  for (uint i = 0; i < (rounds & 1023); i++) x = x * 1664525u + 1013904223u;
  if (a) a[get_global_id(0) & 63] = x;
}
`;

const IMAGES = `
kernel void pixels(read_only image2d_t from, sampler_t s, write_only image2d_t to) {
  write_imagef(to, (int2)(0, 0), read_imagef(from, s, (float2)(0.5f, 0.5f)));
}
`;

/** The types of a kernel's arguments, as `setKernelArg` takes them. */
export const SIGNATURES: Readonly<Record<string, readonly string[]>> = {
  nothing: [],
  put: ['uint*', 'uint'],
  move: ['uint*', 'uint*', 'local'],
  scalars: ['ulong*', 'char', 'ushort', 'int', 'ulong', 'float'],
  vectors: ['uint*', 'float4', 'int3', 'uchar16'],
  structs: ['uint*', 'pair'],
  named: ['uint*', 'image_settings'],
  spin: ['uint*', 'uint'],
  pixels: ['image2d_t', 'sampler_t', 'image2d_t'],
};

/** Bytes of the structs above. */
export const STRUCT_BYTES: Readonly<Record<string, number>> = { pair: 16, image_settings: 16 };

export const kernelNames = (images: boolean): string[] =>
  Object.keys(SIGNATURES).filter((name) => images || name !== 'pixels');

export const kernelSource = (images: boolean): string => (images ? BUFFERS + IMAGES : BUFFERS);

/** Sources that build, that do not build, and that are not text for a compiler. */
export const OTHER_SOURCES = [
  'kernel void only(global int* a) { a[0] = 1; }',
  'kernel void broken(global int* a) { a[0] = ',
  '',
  '#include <nowhere.h>\nkernel void lost() {}',
  'kernel void \u00e9t\u00e9() {}',
  'kernel void nul() {}\0 and more',
];

/** A header for `compileProgram`, and a source that includes it. */
export const HEADER = 'int one(void) { return 1; }';
export const WITH_HEADER = '#include "one.h"\nkernel void included(global int* a) { a[0] = one(); }';
