#include "bounds.h"

#include <algorithm>

namespace clsort {

namespace {

bool AddOverflows(size_t a, size_t b, size_t* sum) {
  *sum = a + b;
  return *sum < a;
}

bool MultiplyOverflows(size_t a, size_t b, size_t* product) {
  *product = a * b;
  return b != 0 && *product / b != a;
}

template <typename T>
bool Ask(Call& call, cl_mem memory, cl_mem_info name, T* value) {
  return call.Check(api.clGetMemObjectInfo(memory, name, sizeof *value, value, nullptr));
}

bool AskPixels(Call& call, cl_mem image, Extent* extent) {
  auto ask = [&](cl_image_info name, size_t* value) {
    return call.Check(api.clGetImageInfo(image, name, sizeof *value, value, nullptr));
  };
  size_t layers = 0;
  auto& [width, height, depth] = extent->pixels;
  if (!ask(CL_IMAGE_ELEMENT_SIZE, &extent->pixel_bytes) || !ask(CL_IMAGE_WIDTH, &width) ||
      !ask(CL_IMAGE_HEIGHT, &height) || !ask(CL_IMAGE_DEPTH, &depth)) {
    return false;
  }
  bool array = extent->type == CL_MEM_OBJECT_IMAGE1D_ARRAY || extent->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  if (array && !ask(CL_IMAGE_ARRAY_SIZE, &layers)) return false;
  if (extent->type == CL_MEM_OBJECT_IMAGE1D_ARRAY) height = layers;
  if (extent->type == CL_MEM_OBJECT_IMAGE2D_ARRAY) depth = layers;
  for (size_t& size : extent->pixels) size = std::max<size_t>(size, 1);
  return true;
}

/**
 * Computes the bytes of slices, rows and single bytes and returns whether the sum overflows. Drivers also count the
 * whole last slice and row: rusticl's thread panics if that overflows.
 */
bool StepsOverflow(size_t slices, size_t slice_pitch, size_t rows, size_t row_pitch, size_t bytes, size_t* all) {
  size_t y;
  return MultiplyOverflows(slices, slice_pitch, all) || MultiplyOverflows(rows, row_pitch, &y) ||
         AddOverflows(*all, y, all) || AddOverflows(*all, bytes, all);
}

/** Box that has passed its checks, with explicit pitches. */
struct Layout {
  size_t start, row, slice;
  explicit Layout(const Box& box) {
    row = box.row_pitch ? box.row_pitch : box.region[0];
    slice = box.slice_pitch ? box.slice_pitch : row * box.region[1];
    start = box.origin[2] * slice + box.origin[1] * row + box.origin[0];
  }
};

bool FailOverlap(Call& call) { return call.Fail(CL_MEM_COPY_OVERLAP, "source and destination overlap"); }

/** Returns whether [a, a + size) and [b, b + size) overlap. */
bool Meet(size_t a, size_t b, size_t size) { return a < b ? b - a < size : a - b < size; }

}  // namespace

const Extent* ExtentOf(Call& call, Object& memory) {
  if (!call.ok()) return nullptr;
  if (memory.extent) return memory.extent.get();
  auto extent = std::make_shared<Extent>();
  auto raw = extent->whole = memory.As<cl_mem>();
  if (!Ask(call, raw, CL_MEM_TYPE, &extent->type) || !Ask(call, raw, CL_MEM_FLAGS, &extent->flags) ||
      !Ask(call, raw, CL_MEM_SIZE, &extent->bytes)) {
    return nullptr;
  }
  if (extent->type == CL_MEM_OBJECT_BUFFER) {
    cl_mem whole = nullptr;
    if (memory.platform->version >= api.clCreateSubBuffer.since) {
      if (!Ask(call, raw, CL_MEM_ASSOCIATED_MEMOBJECT, &whole)) return nullptr;
      if (whole && !Ask(call, raw, CL_MEM_OFFSET, &extent->begin)) return nullptr;
    }
    if (whole) extent->whole = whole;
  } else if (extent->type != CL_MEM_OBJECT_PIPE && !AskPixels(call, raw, extent.get())) {
    return nullptr;
  }
  memory.extent = std::move(extent);
  return memory.extent.get();
}

bool CheckRange(Call& call, Object& buffer, size_t offset, size_t size) {
  const Extent* extent = ExtentOf(call, buffer);
  if (!extent) return false;
  if (extent->type != CL_MEM_OBJECT_BUFFER) return call.Fail(CL_INVALID_MEM_OBJECT, "expected a buffer");
  if (size == 0) return call.Fail(CL_INVALID_VALUE, "expected a size of at least one byte but got 0");
  if (size > extent->bytes || offset > extent->bytes - size) {
    return call.Fail(CL_INVALID_VALUE, "expected a range within the " + std::to_string(extent->bytes) +
                                           " bytes of the buffer but got " + std::to_string(size) +
                                           " bytes from byte " + std::to_string(offset));
  }
  return true;
}

bool CheckBox(Call& call, Object& buffer, const Box& box) {
  const Extent* extent = ExtentOf(call, buffer);
  if (!extent) return false;
  if (extent->type != CL_MEM_OBJECT_BUFFER) return call.Fail(CL_INVALID_MEM_OBJECT, "expected a buffer");
  size_t end = BoxEnd(call, box);
  if (call.ok() && end > extent->bytes) {
    call.Fail(CL_INVALID_VALUE, "expected a region within the " + std::to_string(extent->bytes) +
                                    " bytes of the buffer but got one up to byte " + std::to_string(end));
  }
  return call.ok();
}

bool CheckPixels(Call& call, Object& image, const Triple& origin, const Triple& region) {
  const Extent* extent = ExtentOf(call, image);
  if (!extent) return false;
  if (extent->pixel_bytes == 0) return call.Fail(CL_INVALID_MEM_OBJECT, "expected an image");
  for (size_t d = 0; d < 3; d++) {
    size_t size = extent->pixels[d];
    if (region[d] == 0)
      return call.Fail(CL_INVALID_VALUE, "expected a region of at least 1 in each dimension but got 0");
    if (region[d] > size || origin[d] > size - region[d]) {
      return call.Fail(CL_INVALID_VALUE, "expected a region within the image, which has " + std::to_string(size) +
                                             " in dimension " + std::to_string(d) + ", but got " +
                                             std::to_string(region[d]) + " from " + std::to_string(origin[d]));
    }
  }
  return true;
}

Triple OriginInWhole(const Extent& extent, const Box& box) {
  if (extent.begin == 0) return box.origin;
  Layout layout(box);
  size_t start = extent.begin + layout.start;
  return {start % layout.row, start % layout.slice / layout.row, start / layout.slice};
}

bool CheckCopy(Call& call, Object& from, size_t from_offset, Object& to, size_t to_offset, size_t size) {
  if (!CheckRange(call, from, from_offset, size) || !CheckRange(call, to, to_offset, size)) return false;
  const Extent *source = ExtentOf(call, from), *target = ExtentOf(call, to);
  bool overlap = source->whole == target->whole && Meet(source->begin + from_offset, target->begin + to_offset, size);
  return !overlap || FailOverlap(call);
}

bool CheckCopy(Call& call, Object& from, const Box& from_box, Object& to, const Box& to_box) {
  if (!CheckBox(call, from, from_box) || !CheckBox(call, to, to_box)) return false;
  const Extent *source = ExtentOf(call, from), *target = ExtentOf(call, to);
  Layout a(from_box), b(to_box);
  if (source->whole != target->whole) return true;
  if (a.row != b.row || a.slice != b.slice) {
    // OpenCL forbids this within one buffer; for two sub-buffers it specifies nothing.
    return source->begin != target->begin || source->bytes != target->bytes ||
           call.Fail(CL_INVALID_VALUE, "expected equal pitches for a copy within one buffer but got different ones");
  }
  const Triple& region = from_box.region;
  // Rows overlap only if the distance of the boxes is close to a whole number of slices and rows. Rows fit in a slice
  // and bytes in a row, so two candidates of each suffice.
  size_t first = source->begin + a.start, second = target->begin + b.start;
  size_t distance = first < second ? second - first : first - second;
  for (size_t slices = distance / a.slice; slices <= distance / a.slice + 1 && slices < region[2]; slices++) {
    size_t along = slices * a.slice;
    size_t rest = distance < along ? along - distance : distance - along;
    for (size_t rows = rest / a.row; rows <= rest / a.row + 1 && rows < region[1]; rows++) {
      if (Meet(rest, rows * a.row, region[0])) return FailOverlap(call);
    }
  }
  return true;
}

bool CheckCopy(Call& call, Object& from, const Triple& from_origin, Object& to, const Triple& to_origin,
               const Triple& region) {
  if (!CheckPixels(call, from, from_origin, region) || !CheckPixels(call, to, to_origin, region)) return false;
  if (from.raw != to.raw) return true;
  for (size_t d = 0; d < 3; d++) {
    if (!Meet(from_origin[d], to_origin[d], region[d])) return true;
  }
  return FailOverlap(call);
}

size_t BoxEnd(Call& call, const Box& box) {
  const Triple &origin = box.origin, &region = box.region;
  size_t row = box.row_pitch ? box.row_pitch : region[0];
  size_t rows, x, y, z, end = 0;
  if (region[0] == 0 || region[1] == 0 || region[2] == 0) {
    call.Fail(CL_INVALID_VALUE, "expected a region of at least 1 in each dimension but got 0");
    return 0;
  }
  bool overflow = MultiplyOverflows(row, region[1], &rows);
  size_t slice = box.slice_pitch ? box.slice_pitch : rows;
  if (row < region[0] || (!overflow && slice < rows) || slice % row != 0) {
    call.Fail(
        CL_INVALID_VALUE,
        "expected a row pitch of at least one row, and a slice pitch that is a multiple of it and at least all rows");
    return 0;
  }
  overflow = overflow || AddOverflows(origin[0], region[0], &x) || AddOverflows(origin[1], region[1], &y) ||
             AddOverflows(origin[2], region[2], &z) || StepsOverflow(z, slice, y, row, x, &end) ||
             StepsOverflow(z - 1, slice, y - 1, row, x, &end);
  if (overflow) call.Fail(CL_INVALID_VALUE, "the region exceeds the address space");
  return end;
}

size_t HostBytes(Call& call, const Extent& image, const Triple& region, size_t row_pitch, size_t slice_pitch) {
  size_t width = region[0] * image.pixel_bytes;  // at most the width of the image
  // The rows of a 1D array are its layers: drivers differ in which of the two pitches they use.
  if (image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY) row_pitch = std::max(row_pitch, slice_pitch);
  size_t row = row_pitch ? row_pitch : width, rows, end = 0;
  bool overflow = MultiplyOverflows(row, region[1], &rows);
  size_t slice = slice_pitch && region[2] > 1 ? slice_pitch : rows;
  if (row < width || (!overflow && slice < rows)) {
    call.Fail(CL_INVALID_VALUE, "expected a row pitch of at least one row, and a slice pitch of at least all rows");
    return 0;
  }
  overflow = overflow || StepsOverflow(region[2], std::max(slice, slice_pitch), region[1], row, width, &end) ||
             StepsOverflow(region[2] - 1, slice, region[1] - 1, row, width, &end);
  if (overflow) call.Fail(CL_INVALID_VALUE, "the region exceeds the address space");
  return end;
}

bool CheckPacked(Call& call, Object& buffer, size_t offset, Object& image, const Triple& region) {
  return CheckRange(call, buffer, offset, region[0] * region[1] * region[2] * ExtentOf(call, image)->pixel_bytes);
}

}  // namespace clsort
