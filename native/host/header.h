#ifndef GRAUPEL_HOST_HEADER_H_
#define GRAUPEL_HOST_HEADER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "fault.h"

namespace graupel {

class SharedFile;

// The header of a page and of a state file: docs/state-format.md describes every byte.
// All numbers are little-endian. On other processors the addon is not compiled, and the
// TypeScript engine runs.
static_assert(std::endian::native == std::endian::little);

// A random number that is the same for all processes that share one memory.
struct Lineage {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const Lineage& other) const {
    return high == other.high && low == other.low;
  }
};

struct Header {
  static constexpr uint32_t kFormat = 1;
  static constexpr size_t kBytes = 3072;  // A header with its texts.
  static constexpr size_t kTextBytes = kBytes - 96;
  enum Kind : uint32_t { kPage = 1, kStateFile = 2 };

  char magic[8];
  uint32_t format;
  uint32_t kind;
  Lineage lineage;   // Only in a page.
  char boot_id[40];  // Only in a page; ends with a zero.
  uint32_t key_length;
  uint32_t description_length;
  uint32_t reserved;
  uint32_t checksum;  // Covers the bytes before it, then both texts.

  // The bytes of a header with its texts.
  static std::string Make(Kind kind, const Identity& identity, const Lineage& lineage,
                          const std::string& boot_id);
  // Reads the header of a file that has to have `size` bytes, and to be for `wanted`.
  Fault Read(const SharedFile& file, uint64_t size, Kind wanted_kind,
             const Identity& wanted);
};

static_assert(std::is_trivially_copyable_v<Header>);
static_assert(offsetof(Header, lineage) == 16);
static_assert(offsetof(Header, boot_id) == 32);
static_assert(offsetof(Header, checksum) == 84);
static_assert(sizeof(Header) <= 96);

}  // namespace graupel

#endif  // GRAUPEL_HOST_HEADER_H_
