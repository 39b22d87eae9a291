#ifndef CLSORT_NATIVE_BOUNDS_H_
#define CLSORT_NATIVE_BOUNDS_H_

#include <array>

#include "call.h"

// Ranges and boxes against what a memory object has, before a driver sees them. Drivers add offsets and sizes
// without a look at whether the sum wraps around (they then write anywhere, or abort), take an image for a
// buffer, or leave out what they need not check; which of it depends on the driver.

namespace clsort {

/** What a memory object is and how large. */
struct Extent {
  cl_mem_object_type type = 0;
  cl_mem_flags flags = 0;
  size_t bytes = 0;
  /**
   * The buffer that this is a part of, or the object itself, and the byte of it where this begins. Copies of boxes, and
   * between images and buffers, take these, since PoCL crashes in those with a part of a buffer.
   */
  cl_mem whole = nullptr;
  size_t begin = 0;
  /** Of an image: bytes of a pixel, and pixels along what an origin and a region count in; 1 where it has none. */
  size_t pixel_bytes = 0;
  std::array<size_t, 3> pixels{};
};

/** Asked once and kept with the object; throws and gives null where the driver does not tell. */
const Extent* ExtentOf(Call& call, Object& memory);

using Triple = std::vector<size_t>;

/** A box in linear memory: bytes, rows and slices; a pitch of 0 means that nothing lies between. */
struct Box {
  const Triple& origin;
  const Triple& region;
  size_t row_pitch;
  size_t slice_pitch;
};

/** Throws unless the object is a buffer and has these bytes, at least one. */
bool CheckRange(Call& call, Object& buffer, size_t offset, size_t size);
/** Throws unless the object is a buffer and has the box. */
bool CheckBox(Call& call, Object& buffer, const Box& box);
/** Throws unless the object is an image and has these pixels, at least one. */
bool CheckPixels(Call& call, Object& image, const Triple& origin, const Triple& region);

/** Where a box begins in the buffer that its buffer is a part of; the box has passed `CheckBox`. */
Triple OriginInWhole(const Extent& extent, const Box& box);

/** Throws CL_MEM_COPY_OVERLAP where a copy would read what it writes. All have passed the checks above. */
bool CheckOverlap(Call& call, Object& from, size_t from_offset, Object& to, size_t to_offset, size_t size);
bool CheckOverlap(Call& call, Object& from, const Box& from_box, Object& to, const Box& to_box);
bool CheckOverlap(Call& call, Object& from, const Triple& from_origin, Object& to, const Triple& to_origin,
                  const Triple& region);

/** Bytes from the start of linear memory to the end of a box; throws for empty boxes and impossible pitches. */
size_t BoxEnd(Call& call, const Box& box);
/**
 * Bytes of host memory that a transfer of an image's region uses, which has passed `CheckPixels`; throws for
 * pitches that are too short.
 */
size_t HostBytes(Call& call, const Extent& image, const Triple& region, size_t row_pitch, size_t slice_pitch);
/** Bytes of a region of an image, without anything between its rows. */
size_t PackedBytes(const Extent& image, const Triple& region);

}  // namespace clsort

#endif
