#include "program_binary.h"

#include <cstdint>
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

std::string NameOf(const Platform& platform) {
  char name[64] = "";
  api.clGetPlatformInfo(platform.id, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
  return name;
}

}  // namespace

std::string ProblemOfBinary(const Platform& platform, const unsigned char* bytes, size_t length) {
  Reader file(bytes, length);
  if (file.Begins("\x7f"
                  "ELF",
                  4))
    return ProblemOfElf(file);
  if (file.Begins("poclbin", 8)) return ProblemOfPocl(file);
  if (NameOf(platform) == "rusticl") return ProblemOfRusticl(file);
  return {};
}

}  // namespace clsort
