import { native } from './binding.js';
import type { Context, MemObject } from './objects.js';
import type { BufferRegion, ImageDescription, ImageFormat, Properties } from './types.js';
import type { Flags, HostMemory, InfoValue, Size } from './values.js';

/**
 * Creates a buffer. Calls clCreateBuffer.
 *
 * @param context context of the buffer
 * @param flags sum of `MEM_…`; `MEM_READ_WRITE` by default
 * @param size bytes
 * @param hostPtr initial contents for `MEM_COPY_HOST_PTR`; for `MEM_USE_HOST_PTR` the memory of the buffer, which
 *   must not be detached while the buffer exists
 * @returns the buffer
 * @throws OpenCLError INVALID_CONTEXT, INVALID_VALUE, INVALID_BUFFER_SIZE, MEM_OBJECT_ALLOCATION_FAILURE;
 *   INVALID_HOST_PTR when the memory is missing, too small or resizable
 * @example
 * ```ts
 * const keys = Uint32Array.of(3, 1, 2);
 * const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE | cl.MEM_COPY_HOST_PTR, keys.byteLength, keys);
 * ```
 */
export function createBuffer(
  context: Context,
  flags: Flags,
  size: Size,
  hostPtr?: HostMemory | null,
): MemObject {
  return native().createBuffer(context, flags, size, hostPtr);
}

/**
 * Creates a buffer with properties of extensions. Calls clCreateBufferWithProperties (OpenCL 3.0).
 *
 * @param context context of the buffer
 * @param properties names and values; the final 0 is added
 * @param flags as for `createBuffer`
 * @param size bytes
 * @param hostPtr as for `createBuffer`
 * @returns the buffer
 * @throws OpenCLError as `createBuffer`, and INVALID_PROPERTY
 * @example
 * ```ts
 * const buffer = cl.createBufferWithProperties(context, null, cl.MEM_READ_WRITE, 4096);
 * ```
 */
export function createBufferWithProperties(
  context: Context,
  properties: Properties,
  flags: Flags,
  size: Size,
  hostPtr?: HostMemory | null,
): MemObject {
  return native().createBufferWithProperties(context, properties, flags, size, hostPtr);
}

/**
 * Creates a buffer over a part of another buffer. Calls clCreateSubBuffer (OpenCL 1.1).
 *
 * @param buffer buffer that is not itself a sub-buffer
 * @param flags sum of `MEM_…`
 * @param type `BUFFER_CREATE_TYPE_REGION`
 * @param region { origin, size } in bytes
 * @returns the sub-buffer, which shares the memory of `buffer`
 * @throws OpenCLError INVALID_MEM_OBJECT, INVALID_VALUE, INVALID_BUFFER_SIZE, MISALIGNED_SUB_BUFFER_OFFSET
 * @example
 * ```ts
 * const region = { origin: 0, size: 1024 };
 * const part = cl.createSubBuffer(buffer, cl.MEM_READ_WRITE, cl.BUFFER_CREATE_TYPE_REGION, region);
 * ```
 */
export function createSubBuffer(
  buffer: MemObject,
  flags: Flags,
  type: number,
  region: BufferRegion,
): MemObject {
  return native().createSubBuffer(buffer, flags, type, region);
}

/**
 * Creates an image. Calls clCreateImage (OpenCL 1.2).
 *
 * @param context context of the image
 * @param flags sum of `MEM_…`
 * @param format channel order and channel type
 * @param description type, sizes in pixels, pitches in bytes
 * @param hostPtr as for `createBuffer`
 * @returns the image
 * @throws OpenCLError INVALID_CONTEXT, INVALID_IMAGE_FORMAT_DESCRIPTOR, INVALID_IMAGE_DESCRIPTOR, INVALID_IMAGE_SIZE,
 *   INVALID_HOST_PTR, IMAGE_FORMAT_NOT_SUPPORTED; INVALID_OPERATION when no device supports images
 * @example
 * ```ts
 * const format = { channel_order: cl.RGBA, channel_data_type: cl.FLOAT };
 * const image = cl.createImage(context, cl.MEM_READ_WRITE, format, { type: cl.MEM_OBJECT_IMAGE2D, width: 8, height: 8 });
 * ```
 */
export function createImage(
  context: Context,
  flags: Flags,
  format: ImageFormat,
  description: ImageDescription,
  hostPtr?: HostMemory | null,
): MemObject {
  return native().createImage(context, flags, format, description, hostPtr);
}

/**
 * Creates an image with properties of extensions. Calls clCreateImageWithProperties (OpenCL 3.0).
 *
 * @param context context of the image
 * @param properties names and values; the final 0 is added
 * @param flags sum of `MEM_…`
 * @param format channel order and channel type
 * @param description type, sizes in pixels, pitches in bytes
 * @param hostPtr as for `createBuffer`
 * @returns the image
 * @throws OpenCLError as `createImage`, and INVALID_PROPERTY
 * @example
 * ```ts
 * const description = { type: cl.MEM_OBJECT_IMAGE2D, width: 8, height: 8 };
 * const image = cl.createImageWithProperties(context, null, cl.MEM_READ_WRITE, format, description);
 * ```
 */
export function createImageWithProperties(
  context: Context,
  properties: Properties,
  flags: Flags,
  format: ImageFormat,
  description: ImageDescription,
  hostPtr?: HostMemory | null,
): MemObject {
  return native().createImageWithProperties(context, properties, flags, format, description, hostPtr);
}

/**
 * Creates a two-dimensional image. Calls clCreateImage2D, which OpenCL 1.2 replaced by `createImage`.
 *
 * @param context context of the image
 * @param flags sum of `MEM_…`
 * @param format channel order and channel type
 * @param width pixels
 * @param height pixels
 * @param rowPitch bytes between rows of `hostPtr`
 * @param hostPtr as for `createBuffer`
 * @returns the image
 * @throws OpenCLError as `createImage`
 * @example
 * ```ts
 * const image = cl.createImage2D(context, cl.MEM_READ_WRITE, format, 8, 8);
 * ```
 */
export function createImage2D(
  context: Context,
  flags: Flags,
  format: ImageFormat,
  width: Size,
  height: Size,
  rowPitch?: Size | null,
  hostPtr?: HostMemory | null,
): MemObject {
  return native().createImage2D(context, flags, format, width, height, rowPitch, hostPtr);
}

/**
 * Creates a three-dimensional image. Calls clCreateImage3D, which OpenCL 1.2 replaced by `createImage`.
 *
 * @param context context of the image
 * @param flags sum of `MEM_…`
 * @param format channel order and channel type
 * @param width pixels
 * @param height pixels
 * @param depth pixels
 * @param rowPitch bytes between rows of `hostPtr`
 * @param slicePitch bytes between slices of `hostPtr`
 * @param hostPtr as for `createBuffer`
 * @returns the image
 * @throws OpenCLError as `createImage`
 * @example
 * ```ts
 * const image = cl.createImage3D(context, cl.MEM_READ_WRITE, format, 8, 8, 8);
 * ```
 */
export function createImage3D(
  context: Context,
  flags: Flags,
  format: ImageFormat,
  width: Size,
  height: Size,
  depth: Size,
  rowPitch?: Size | null,
  slicePitch?: Size | null,
  hostPtr?: HostMemory | null,
): MemObject {
  return native().createImage3D(context, flags, format, width, height, depth, rowPitch, slicePitch, hostPtr);
}

/**
 * Creates a pipe. Calls clCreatePipe (OpenCL 2.0).
 *
 * @param context context of the pipe
 * @param flags sum of `MEM_…`
 * @param packetSize bytes of a packet
 * @param maxPackets maximum number of packets in the pipe
 * @param properties null; OpenCL defines none
 * @returns the pipe
 * @throws OpenCLError INVALID_CONTEXT, INVALID_VALUE, INVALID_PIPE_SIZE; INVALID_OPERATION when no device supports
 *   pipes
 * @example
 * ```ts
 * const pipe = cl.createPipe(context, 0, 4, 1024);
 * ```
 */
export function createPipe(
  context: Context,
  flags: Flags,
  packetSize: number,
  maxPackets: number,
  properties?: null,
): MemObject {
  return native().createPipe(context, flags, packetSize, maxPackets, properties);
}

/**
 * Adds a reference to a memory object. Calls clRetainMemObject.
 *
 * @param memory memory object to retain
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_MEM_OBJECT
 * @example
 * ```ts
 * cl.retainMemObject(buffer);
 * ```
 */
export function retainMemObject(memory: MemObject): 0 {
  return native().retainMemObject(memory);
}

/**
 * Removes a reference from a memory object. Calls clReleaseMemObject. After the last one, mapped regions are detached;
 * their memory is freed after the commands and jobs that use it.
 *
 * @param memory memory object to release
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_MEM_OBJECT, also when it is already released
 * @example
 * ```ts
 * cl.releaseMemObject(buffer);
 * ```
 */
export function releaseMemObject(memory: MemObject): 0 {
  return native().releaseMemObject(memory);
}

/**
 * Returns information about a buffer, image or pipe. Calls clGetMemObjectInfo.
 *
 * @param memory memory object to query
 * @param name `MEM_SIZE` (bytes), `MEM_FLAGS`, `MEM_CONTEXT`, …; `MEM_HOST_PTR` returns whether there is one;
 *   `MEM_ASSOCIATED_MEMOBJECT` without such an object returns a handle whose `released` is true
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_MEM_OBJECT, INVALID_VALUE
 * @example
 * ```ts
 * const bytes = cl.getMemObjectInfo(buffer, cl.MEM_SIZE);
 * ```
 */
export function getMemObjectInfo(memory: MemObject, name: number): InfoValue {
  return native().getMemObjectInfo(memory, name);
}

/**
 * Returns information about an image. Calls clGetImageInfo.
 *
 * @param image image to query
 * @param name `IMAGE_WIDTH` (pixels), `IMAGE_ROW_PITCH` (bytes), …; `IMAGE_FORMAT` returns [order, type], also with the
 *   properties `channel_order` and `channel_data_type`
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_MEM_OBJECT, INVALID_VALUE
 * @example
 * ```ts
 * const width = cl.getImageInfo(image, cl.IMAGE_WIDTH);
 * ```
 */
export function getImageInfo(image: MemObject, name: number): InfoValue {
  return native().getImageInfo(image, name);
}

/**
 * Returns information about a pipe. Calls clGetPipeInfo (OpenCL 2.0).
 *
 * @param pipe pipe to query
 * @param name `PIPE_PACKET_SIZE` (bytes), `PIPE_MAX_PACKETS`
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_MEM_OBJECT, INVALID_VALUE
 * @example
 * ```ts
 * const packets = cl.getPipeInfo(pipe, cl.PIPE_MAX_PACKETS);
 * ```
 */
export function getPipeInfo(pipe: MemObject, name: number): InfoValue {
  return native().getPipeInfo(pipe, name);
}

/**
 * Returns the formats that a context supports for images of a type. Calls clGetSupportedImageFormats.
 *
 * @param context context to query
 * @param flags sum of `MEM_…`
 * @param type `MEM_OBJECT_IMAGE2D`, …
 * @returns channel order and channel type of each format
 * @throws OpenCLError INVALID_CONTEXT, INVALID_VALUE
 * @example
 * ```ts
 * const formats = cl.getSupportedImageFormats(context, cl.MEM_READ_WRITE, cl.MEM_OBJECT_IMAGE2D);
 * ```
 */
export function getSupportedImageFormats(context: Context, flags: Flags, type: number): ImageFormat[] {
  return native().getSupportedImageFormats(context, flags, type);
}

/**
 * Registers a callback for the destruction of a memory object. Calls clSetMemObjectDestructorCallback (OpenCL 1.1).
 *
 * @param memory memory object to watch
 * @param notify called as (userData) on this thread when the driver destroys the object; it does not keep the process
 *   alive
 * @param userData passed to `notify`
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_MEM_OBJECT, INVALID_VALUE
 * @example
 * ```ts
 * cl.setMemObjectDestructorCallback(buffer, () => console.log('the buffer is gone'));
 * ```
 */
export function setMemObjectDestructorCallback(
  memory: MemObject,
  notify: (userData: unknown) => void,
  userData?: unknown,
): 0 {
  return native().setMemObjectDestructorCallback(memory, notify, userData);
}
