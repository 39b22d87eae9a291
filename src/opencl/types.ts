import type { Context, Device, Event, MemObject, Platform } from './objects.js';
import type { Size } from './values.js';

/** Names and values as in C, without the final 0. */
export type Properties =
  | readonly (number | bigint | boolean | Platform | Context | Device)[]
  | null
  | undefined;

/** Events that must complete before a command starts; null or omitted for none. */
export type WaitList = readonly Event[] | null | undefined;

/** Result of an enqueue call: the event if one was requested, otherwise SUCCESS (0). */
export type Enqueued<Wanted> = Wanted extends true ? Event : Wanted extends false | undefined ? 0 : Event | 0;

export interface ImageFormat {
  /** `cl.R`, `cl.RGBA`, … */
  channel_order: number;
  /** `cl.UNORM_INT8`, `cl.FLOAT`, … */
  channel_data_type: number;
}

export interface ImageDescription {
  /** `cl.MEM_OBJECT_IMAGE2D`, … */
  type: number;
  /** Sizes in pixels. */
  width?: Size;
  height?: Size;
  depth?: Size;
  array_size?: Size;
  /** Pitches in bytes; 0 lets the driver compute them. */
  row_pitch?: Size;
  slice_pitch?: Size;
  num_mip_levels?: number;
  num_samples?: number;
  /** Buffer or image that the image is created from. */
  buffer?: MemObject | null;
}

/** Part of a buffer, in bytes. */
export interface BufferRegion {
  origin: Size;
  size: Size;
}

/** Three numbers x, y, z: bytes, rows and slices for buffers, pixels for images. */
export type Triple = readonly [Size, Size, Size] | readonly Size[];

/** Mapped memory, which is detached when it is unmapped. */
export interface MappedMemory extends ArrayBuffer {
  /** Event of the map command, if one was requested; the contents are undefined until it completes. */
  readonly event?: Event;
  /**
   * True if this Node forbids ArrayBuffers over external memory: the memory is a copy, which is written back at unmap.
   */
  readonly copied?: true;
  /** Bytes between rows and between slices of an image. */
  readonly row_pitch?: number;
  readonly slice_pitch?: number;
  /** The same pitches under the names of node-opencl. */
  readonly image_row_pitch?: number;
  readonly image_slice_pitch?: number;
}

/** Name and version of an extension, a built-in kernel or a language. */
export interface NameVersion {
  name: string;
  /** Packed as by `CL_MAKE_VERSION`: 10 bits major, 10 bits minor, 12 bits patch. */
  version: number;
}
