#ifndef GRAUPEL_CORE_UUID_H_
#define GRAUPEL_CORE_UUID_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace graupel {

// The bits that ids with the same time and node share as UUIDs. src/uuid/bits.ts says
// where each part stands, and has the same in TypeScript.
struct UuidFrame {
  uint64_t sequence;  // The bits of an id that are its sequence, which are adjacent.
  // The halves of a UUID: time, version, variant and node.
  uint64_t upper;
  uint64_t lower;
  // The random bits of each half. A UUID takes two random words if the upper half has
  // none, and three otherwise.
  uint64_t random_upper;
  uint64_t random_lower;

  // Whether the sequence can be shifted to its place. All else is trusted: wrong bits
  // make wrong UUIDs, and no access outside the arrays.
  bool IsSound() const {
    return sequence != 0 && std::popcount(sequence) <= kCountedBits;
  }
  size_t words() const { return random_upper == 0 ? 2 : 3; }

  static constexpr int kCountedBits = 34;  // Room for sequence and node.
};

// Writes the 8 bytes of a number, the most significant first.
inline void StoreBigEndian(unsigned char* out, uint64_t number) {
  if constexpr (std::endian::native == std::endian::little) {
    // GCC and Clang make one instruction of this. Of eight stores GCC makes vectors,
    // which takes five times as long.
    number = number >> 56 | (number >> 40 & 0xff00) | (number >> 24 & 0xff'0000) |
             (number >> 8 & 0xff00'0000) | (number & 0xff00'0000) << 8 |
             (number & 0xff'0000) << 24 | (number & 0xff00) << 40 | number << 56;
  }
  std::memcpy(out, &number, sizeof(number));
}

// Writes ids as UUIDs, each of 16 bytes, and stops before an id whose time or node
// differs from those of the first. Returns how many it has written.
inline size_t PackUuids(unsigned char* out, const uint64_t* ids, size_t count,
                        const UuidFrame& frame, const uint32_t* random) {
  const int shift = std::countr_zero(frame.sequence);
  const int place = UuidFrame::kCountedBits - std::popcount(frame.sequence);
  const size_t words = frame.words();
  for (size_t i = 0; i < count; ++i, out += 16, random += words) {
    if (((ids[i] ^ ids[0]) & ~frame.sequence) != 0) return i;
    const uint64_t counted = ((ids[i] & frame.sequence) >> shift) << place;
    const uint64_t number = uint64_t{random[0]} << 32 | random[1];
    StoreBigEndian(
        out, frame.upper | counted >> 22 | (random[words - 1] & frame.random_upper));
    StoreBigEndian(out + 8, frame.lower | (counted & 0x3f'ffff) << 40 |
                                (number & frame.random_lower));
  }
  return count;
}

constexpr size_t kUuidLength = 36;

// Writes the 128 bits of a UUID, the most significant first, as text in small letters.
inline void WriteUuidText(char* out, const uint32_t* words) {
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *out++ = '-';
    const uint32_t byte = words[i / 4] >> (24 - 8 * (i % 4)) & 0xff;
    *out++ = "0123456789abcdef"[byte >> 4];
    *out++ = "0123456789abcdef"[byte & 0xf];
  }
}

}  // namespace graupel

#endif  // GRAUPEL_CORE_UUID_H_
