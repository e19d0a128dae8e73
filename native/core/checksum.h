#ifndef GRAUPEL_CORE_CHECKSUM_H_
#define GRAUPEL_CORE_CHECKSUM_H_

#include <cstddef>
#include <cstdint>

namespace graupel {

// CRC-32 of ISO 3309, the one of zlib and PNG (RFC 1952, section 8).
inline uint32_t Checksum(const void* data, size_t count) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  uint32_t crc = 0xffffffff;
  for (size_t i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

// 128 bits of FNV-1a (draft-eastlake-fnv) in 64-bit halves with different starts. Only
// for the name of a file; the header in the file has the whole key.
struct NameHash {
  uint64_t high = 0xcbf29ce484222325;
  uint64_t low = 0x84222325cbf29ce4;

  NameHash(const char* text, size_t length) {
    for (size_t i = 0; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      high = (high ^ byte) * 0x100000001b3;
      low = (low ^ byte) * 0x100000001b3;
    }
  }
};

}  // namespace graupel

#endif  // GRAUPEL_CORE_CHECKSUM_H_
