#include "program_binary.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace clsort {

namespace {

/** Reader of unaligned little-endian numbers; beyond the end they are 0 and `ok` is false. */
class Reader {
 public:
  Reader(const unsigned char* bytes, size_t length) : bytes_(bytes), length_(length) {}
  template <typename T>
  T At(uint64_t place) {
    T value = 0;
    if (!Has(place, sizeof value)) return ok_ = false, value;
    for (size_t i = 0; i < sizeof value; i++) value |= static_cast<T>(static_cast<T>(bytes_[place + i]) << (8 * i));
    return value;
  }
  bool Has(uint64_t place, uint64_t size) const { return place <= length_ && size <= length_ - place; }
  bool Begins(const char* text, size_t size) const { return length_ >= size && std::memcmp(bytes_, text, size) == 0; }
  bool ok() const { return ok_; }
  size_t length() const { return length_; }

 private:
  const unsigned char* bytes_;
  size_t length_;
  bool ok_ = true;
};

constexpr char kCut[] = "it is truncated";

/** Checks that the tables of an ELF file lie within it. */
std::string ProblemOfElf(Reader& file) {
  bool wide = file.At<uint8_t>(4) == 2;
  if (file.At<uint8_t>(5) != 1) return {};  // big-endian
  uint64_t programs = wide ? file.At<uint64_t>(32) : file.At<uint32_t>(28);
  uint64_t sections = wide ? file.At<uint64_t>(40) : file.At<uint32_t>(32);
  size_t counts = wide ? 54 : 42;
  uint64_t program_bytes = uint64_t{file.At<uint16_t>(counts)} * file.At<uint16_t>(counts + 2);
  uint64_t section_bytes = uint64_t{file.At<uint16_t>(counts + 4)} * file.At<uint16_t>(counts + 6);
  bool whole = file.ok() && (program_bytes == 0 || file.Has(programs, program_bytes)) &&
               (section_bytes == 0 || file.Has(sections, section_bytes));
  return whole ? "" : kCut;
}

/**
 * Checks a PoCL binary: a header, the length and the files of all kernels, then the record of each kernel, which begins
 * with its length. Only the version of PoCL 3 is known.
 */
std::string ProblemOfPocl(Reader& file) {
  constexpr size_t kHeader = 77;
  if (file.At<uint32_t>(16) != 9 && file.ok()) return {};
  uint32_t kernels = file.At<uint32_t>(20);
  uint64_t files = file.At<uint64_t>(kHeader);
  if (!file.ok() || !file.Has(kHeader + 8, files)) return kCut;
  uint64_t place = kHeader + 8 + files;
  for (uint32_t k = 0; k < kernels; k++) {
    uint64_t record = file.At<uint64_t>(place), contents = file.At<uint64_t>(place + 8);
    if (!file.ok() || !file.Has(place, record) || record < 24 || contents > record - 24) return kCut;
    place += record;
  }
  return place == file.length() ? "" : "it continues after the last kernel";
}

/**
 * Checks a rusticl binary: a version, the length of the SPIR-V, the kind of program, then the SPIR-V. Mesa 25 begins
 * with a mark, and adds the name of the device and its length.
 */
std::string ProblemOfRusticl(Reader& file) {
  bool is_marked = file.Begins("rusticl", 8);
  if (file.At<uint32_t>(is_marked ? 8 : 0) != 1) return "it is of another version";
  uint64_t place = is_marked ? 24 + uint64_t{file.At<uint32_t>(12)} : 12;
  uint64_t spirv = file.At<uint32_t>(is_marked ? 16 : 4);
  if (file.length() != place + spirv) return "its length differs from its header";
  return spirv >= 20 && file.At<uint32_t>(place) == 0x07230203 ? "" : "it contains no SPIR-V";
}

/** Moves `place` behind a list: the number of its elements, then elements of `size` bytes. Returns whether it is whole. */
bool SkipList(Reader& file, uint64_t& place, uint64_t size) {
  uint64_t bytes = size * file.At<uint32_t>(place);
  place += 4;
  if (!file.ok() || !file.Has(place, bytes)) return false;
  place += bytes;
  return true;
}

/**
 * Checks a Clover binary of Mesa 22 and later: the list of kernels (name, attributes, sizes of the work-group, section,
 * offset, arguments), that of sections (number, kind, size, contents), that of formats (sizes, text), then a flag.
 */
std::string ProblemOfClover(Reader& file) {
  constexpr uint64_t kArgument = 24, kChar = 1;
  uint64_t place = 4;
  for (uint32_t kernels = file.At<uint32_t>(0); kernels > 0; kernels--) {
    if (!SkipList(file, place, kChar) || !SkipList(file, place, kChar) || !SkipList(file, place, sizeof(uint64_t)))
      return kCut;
    place += 8;
    if (!SkipList(file, place, kArgument)) return kCut;
  }
  uint32_t sections = file.At<uint32_t>(place);
  for (place += 4; sections > 0; sections--) {
    place += 12;
    if (!SkipList(file, place, kChar)) return kCut;
  }
  uint32_t formats = file.At<uint32_t>(place);
  for (place += 4; formats > 0; formats--)
    if (!SkipList(file, place, sizeof(uint32_t)) || !SkipList(file, place, kChar)) return kCut;
  return file.ok() && file.length() == place + 4 ? "" : "its length differs from its lists";
}

std::string TextOf(const Platform& platform, cl_platform_info parameter) {
  char text[64] = "";
  api.clGetPlatformInfo(platform.id, parameter, sizeof text - 1, text, nullptr);
  return text;
}

/** Returns whether the platform is of Mesa 22 or later; earlier versions of Clover have other lists. */
bool HasKnownClover(const Platform& platform) {
  if (TextOf(platform, CL_PLATFORM_NAME) != "Clover") return false;
  std::string version = TextOf(platform, CL_PLATFORM_VERSION);
  size_t mesa = version.find("Mesa ");
  return mesa != std::string::npos && std::atoi(version.c_str() + mesa + 5) >= 22;
}

}  // namespace

std::string ProblemOfBinary(const Platform& platform, const unsigned char* bytes, size_t length) {
  Reader file(bytes, length);
  if (file.Begins("\x7f"
                  "ELF",
                  4))
    return ProblemOfElf(file);
  // PoCL also reads the mark of a binary that ends within it.
  if (file.Begins("poclbin", std::min<size_t>(length, 8))) return ProblemOfPocl(file);
  if (TextOf(platform, CL_PLATFORM_NAME) == "rusticl") return ProblemOfRusticl(file);
  if (HasKnownClover(platform)) return ProblemOfClover(file);
  return {};
}

}  // namespace clsort
