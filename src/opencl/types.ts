import type { Context, Device, Event, MemObject, Platform } from './objects.js';

/** A whole number of 64 bits without a sign: [high 32 bits, low 32 bits]. */
export type HighLow = [high: number, low: number];

/** A size, offset or count: a whole number from 0 to 2^53 - 1, or a bigint up to 2^64 - 1. */
export type Size = number | bigint;

/** Flags: a sum of constants, or null for none. Only an argument that is left out may be undefined: a misspelt constant is. */
export type Flags = number | bigint | null | undefined;

/**
 * Host memory. Used in place, never copied, wherever the C call takes a pointer; for a view, its own
 * bytes and no others.
 */
export type HostMemory = ArrayBufferView | ArrayBufferLike;

/** A list of names and values as C has them, without its final 0. */
export type Properties =
  | readonly (number | bigint | boolean | Platform | Context | Device)[]
  | null
  | undefined;

/** Events that a command waits for. */
export type WaitList = readonly Event[] | null | undefined;

/** What an enqueue call returns: an event where one was asked for, else SUCCESS. */
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
  /** Pixels. */
  width?: Size;
  height?: Size;
  depth?: Size;
  array_size?: Size;
  /** Bytes; 0 lets the driver count. */
  row_pitch?: Size;
  slice_pitch?: Size;
  num_mip_levels?: number;
  num_samples?: number;
  /** The buffer or image that the image is made from. */
  buffer?: MemObject | null;
}

/** Part of a buffer, in bytes. */
export interface BufferRegion {
  origin: Size;
  size: Size;
}

/** x, y, z; in bytes, rows, slices for buffers and in pixels for images. */
export type Triple = readonly [Size, Size, Size] | readonly Size[];

/** Mapped memory: detached when it is unmapped. */
export interface MappedMemory extends ArrayBuffer {
  /** Where an event was asked for; until it completes the contents mean nothing. */
  readonly event?: Event;
  /** True where this Node forbids ArrayBuffers over foreign memory: this is a copy, written back at unmap. */
  readonly copied?: true;
  /** Bytes from one row, one slice of an image to the next. */
  readonly row_pitch?: number;
  readonly slice_pitch?: number;
  /** The same under the names that node-opencl has. */
  readonly image_row_pitch?: number;
  readonly image_slice_pitch?: number;
}

/** An extension, a built-in kernel or a language version. */
export interface NameVersion {
  name: string;
  /** As `CL_MAKE_VERSION` packs it: 10 bits major, 10 bits minor, 12 bits patch. */
  version: number;
}

/** Whatever a get…Info call can return; which of these it is depends on the name asked for. */
// biome-ignore lint/suspicious/noExplicitAny: the value's type follows from the number of its name
export type InfoValue = any;
