#pragma once

#include <array>

#include "call.h"

// Checks of ranges and boxes against memory objects before the driver is called. Depending on the driver, missing
// checks let sums of offsets and sizes wrap around (the driver then writes anywhere, or aborts) or let an image pass as
// a buffer.

namespace clsort {

/** Type and size of a memory object. */
struct Extent {
  cl_mem_object_type type = 0;
  cl_mem_flags flags = 0;
  size_t bytes = 0;
  /**
   * Parent of a sub-buffer, or the object itself, and the offset in it. Copies of boxes and copies between images and
   * buffers use these, because PoCL crashes there with sub-buffers.
   */
  cl_mem whole = nullptr;
  size_t begin = 0;
  /** Bytes of a pixel of an image and its size in the dimensions of origins and regions; 1 for missing dimensions. */
  size_t pixel_bytes = 0;
  std::array<size_t, 3> pixels{};
};

/**
 * Returns the extent, which is queried once and cached in the object. Throws and returns null if the driver does not
 * report it.
 */
const Extent* ExtentOf(Call& call, Object& memory);

using Triple = std::vector<size_t>;

/** Box in linear memory: bytes, rows and slices; a pitch of 0 means no gaps. */
struct Box {
  const Triple& origin;
  const Triple& region;
  size_t row_pitch;
  size_t slice_pitch;
};

/** Throws unless the object is a buffer that contains these bytes, at least one. */
bool CheckRange(Call& call, Object& buffer, size_t offset, size_t size);
/** Throws unless the object is a buffer that contains the box. */
bool CheckBox(Call& call, Object& buffer, const Box& box);
/** Throws unless the object is an image that contains these pixels, at least one. */
bool CheckPixels(Call& call, Object& image, const Triple& origin, const Triple& region);

/** Returns the origin of a box in the parent of its sub-buffer. The box has passed `CheckBox`. */
Triple OriginInWhole(const Extent& extent, const Box& box);

/** Checks source and destination of a copy as above; throws CL_MEM_COPY_OVERLAP if they overlap. */
bool CheckCopy(Call& call, Object& from, size_t from_offset, Object& to, size_t to_offset, size_t size);
bool CheckCopy(Call& call, Object& from, const Box& from_box, Object& to, const Box& to_box);
bool CheckCopy(Call& call, Object& from, const Triple& from_origin, Object& to, const Triple& to_origin,
               const Triple& region);
/** Like `CheckRange`, for the pixels of an image region without gaps. The region has passed `CheckPixels`. */
bool CheckPacked(Call& call, Object& buffer, size_t offset, Object& image, const Triple& region);

/**
 * Returns the bytes from the start of linear memory to the end of a box; throws for empty boxes and invalid pitches.
 */
size_t BoxEnd(Call& call, const Box& box);
/**
 * Returns the bytes of host memory that a transfer of an image region uses; throws for pitches that are too short. The
 * region has passed `CheckPixels`.
 */
size_t HostBytes(Call& call, const Extent& image, const Triple& region, size_t row_pitch, size_t slice_pitch);

}  // namespace clsort
