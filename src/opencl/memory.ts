import { native } from './binding.js';
import type { Context, MemObject } from './objects.js';
import type {
  BufferRegion,
  Flags,
  HostMemory,
  ImageDescription,
  ImageFormat,
  InfoValue,
  Properties,
  Size,
} from './types.js';

/**
 * A buffer. Calls clCreateBuffer.
 *
 * @param flags a sum of `MEM_…`; none means `MEM_READ_WRITE`
 * @param size bytes
 * @param hostPtr for `MEM_COPY_HOST_PTR` the contents; for `MEM_USE_HOST_PTR` the memory that the buffer lives
 *   in, which stays in place, and cannot be detached, until the buffer is gone
 * @throws INVALID_CONTEXT, INVALID_VALUE, INVALID_BUFFER_SIZE, INVALID_HOST_PTR when the memory is missing, too
 *   small or resizable, MEM_OBJECT_ALLOCATION_FAILURE
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
 * As `createBuffer`, with properties of extensions. Calls clCreateBufferWithProperties (OpenCL 3.0).
 *
 * @throws as `createBuffer`, INVALID_PROPERTY
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
 * A part of a buffer as a buffer. Calls clCreateSubBuffer (OpenCL 1.1).
 *
 * @param type `BUFFER_CREATE_TYPE_REGION`
 * @param region { origin, size } in bytes
 * @throws INVALID_MEM_OBJECT, INVALID_VALUE, INVALID_BUFFER_SIZE, MISALIGNED_SUB_BUFFER_OFFSET
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
 * An image. Calls clCreateImage (OpenCL 1.2).
 *
 * @param description sizes in pixels, pitches in bytes
 * @param hostPtr as for `createBuffer`
 * @throws INVALID_CONTEXT, INVALID_IMAGE_FORMAT_DESCRIPTOR, INVALID_IMAGE_DESCRIPTOR, INVALID_IMAGE_SIZE,
 *   INVALID_HOST_PTR, IMAGE_FORMAT_NOT_SUPPORTED, INVALID_OPERATION where no device has images
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
 * As `createImage`, with properties of extensions. Calls clCreateImageWithProperties (OpenCL 3.0).
 *
 * @throws as `createImage`, INVALID_PROPERTY
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
 * A flat image. Calls clCreateImage2D, which OpenCL 1.2 replaced by `createImage`.
 *
 * @param width pixels
 * @param rowPitch bytes
 * @throws as `createImage`
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
 * A spatial image. Calls clCreateImage3D, which OpenCL 1.2 replaced by `createImage`.
 *
 * @param width pixels
 * @param rowPitch bytes
 * @throws as `createImage`
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
 * A pipe. Calls clCreatePipe (OpenCL 2.0).
 *
 * @param packetSize bytes
 * @throws INVALID_CONTEXT, INVALID_VALUE, INVALID_PIPE_SIZE, INVALID_OPERATION where no device has pipes
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
 * Adds a reference. Calls clRetainMemObject.
 *
 * @throws INVALID_MEM_OBJECT
 */
export function retainMemObject(memory: MemObject): 0 {
  return native().retainMemObject(memory);
}

/**
 * Gives a reference back; with the last one mapped regions are detached, and their memory stays until the commands and
 * jobs are done that use it. Calls clReleaseMemObject.
 *
 * @throws INVALID_MEM_OBJECT, also for an object that is released already
 */
export function releaseMemObject(memory: MemObject): 0 {
  return native().releaseMemObject(memory);
}

/**
 * A fact about a buffer, image or pipe. Calls clGetMemObjectInfo.
 *
 * @param name `MEM_SIZE` (bytes), `MEM_FLAGS`, `MEM_CONTEXT`, …; `MEM_HOST_PTR` tells whether there is one, and
 *   `MEM_ASSOCIATED_MEMOBJECT` gives a handle that counts as released where there is none
 * @throws INVALID_MEM_OBJECT, INVALID_VALUE
 */
export function getMemObjectInfo(memory: MemObject, name: number): InfoValue {
  return native().getMemObjectInfo(memory, name);
}

/**
 * A fact about an image. Calls clGetImageInfo.
 *
 * @param name `IMAGE_WIDTH` (pixels), `IMAGE_ROW_PITCH` (bytes), …; `IMAGE_FORMAT` gives [order, type], which
 *   also has `channel_order` and `channel_data_type`
 * @throws INVALID_MEM_OBJECT, INVALID_VALUE
 */
export function getImageInfo(image: MemObject, name: number): InfoValue {
  return native().getImageInfo(image, name);
}

/**
 * A fact about a pipe. Calls clGetPipeInfo (OpenCL 2.0).
 *
 * @param name `PIPE_PACKET_SIZE` (bytes), `PIPE_MAX_PACKETS`
 * @throws INVALID_MEM_OBJECT, INVALID_VALUE
 */
export function getPipeInfo(pipe: MemObject, name: number): InfoValue {
  return native().getPipeInfo(pipe, name);
}

/**
 * The formats that images of a type may have. Calls clGetSupportedImageFormats.
 *
 * @param type `MEM_OBJECT_IMAGE2D`, …
 * @throws INVALID_CONTEXT, INVALID_VALUE
 */
export function getSupportedImageFormats(context: Context, flags: Flags, type: number): ImageFormat[] {
  return native().getSupportedImageFormats(context, flags, type);
}

/**
 * Has a function called on this thread when the driver destroys the object. Calls
 * clSetMemObjectDestructorCallback (OpenCL 1.1). It does not keep the process alive.
 *
 * @throws INVALID_MEM_OBJECT, INVALID_VALUE
 */
export function setMemObjectDestructorCallback(
  memory: MemObject,
  notify: (userData: unknown) => void,
  userData?: unknown,
): 0 {
  return native().setMemObjectDestructorCallback(memory, notify, userData);
}
