// Ids as UUIDs, compared with a slow way that sets each bit by its position.

#include "../../native/core/uuid.h"

#include <string>
#include <vector>

#include "check.h"
#include "random.h"
#include "subcommand.h"

namespace graupel {
namespace {

using Bytes = std::vector<unsigned char>;

// Sets a bit of a UUID, counted from the most significant.
void SetBit(unsigned char* uuid, int position) {
  uuid[position / 8] |= static_cast<unsigned char>(0x80 >> (position % 8));
}

void SetBits(unsigned char* uuid, uint64_t upper, uint64_t lower) {
  for (int i = 0; i < 64; ++i) {
    if (upper << i >> 63 != 0) SetBit(uuid, i);
    if (lower << i >> 63 != 0) SetBit(uuid, 64 + i);
  }
}

// Sets the bits of a sequence. They are the first of the 74 behind the time, between
// which the variant stands.
void SetSequence(unsigned char* uuid, uint64_t sequence, int bits) {
  for (int i = 0; i < bits; ++i) {
    if ((sequence >> (bits - 1 - i) & 1) != 0) SetBit(uuid, i < 12 ? 52 + i : 54 + i);
  }
}

void EachBitHasItsPlace() {
  constexpr size_t kCount = 5;
  Random random(1);
  for (int bits = 1; bits <= 32; ++bits) {
    for (const int shift : {0, 12, 22, 31, 32}) {
      for (const uint64_t random_upper : {0, 3}) {
        const uint64_t mask = (uint64_t{1} << bits) - 1;
        const UuidFrame frame{mask << shift, 0x0123'4567'89ab'7000, uint64_t{1} << 63,
                              random_upper, 0x3f'ffff'ffff};
        const size_t words = random_upper == 0 ? 2 : 3;
        CHECK(frame.IsSound() && frame.words() == words);
        const uint64_t kept = random.Next() & ~frame.sequence;
        uint64_t ids[kCount];
        std::vector<uint32_t> taken(words * kCount);
        for (uint32_t& word : taken) word = static_cast<uint32_t>(random.Next());
        Bytes expected(16 * kCount);
        for (size_t i = 0; i < kCount - 1; ++i) {
          const uint64_t sequence = random.Next() & mask;
          ids[i] = kept | sequence << shift;
          const uint32_t* const of = &taken[words * i];
          const uint64_t number = uint64_t{of[0]} << 32 | of[1];
          unsigned char* const uuid = &expected[16 * i];
          SetBits(uuid, frame.upper, frame.lower | (number & frame.random_lower));
          if (words == 3) SetBits(uuid, of[2] & random_upper, 0);
          SetSequence(uuid, sequence, bits);
        }
        // The last id is of another time or node.
        ids[kCount - 1] = kept ^ (shift == 0 ? uint64_t{1} << 63 : 1);
        Bytes made(16 * kCount);
        const size_t count = PackUuids(made.data(), ids, kCount, frame, taken.data());
        CHECK(count == kCount - 1, count, bits, shift);
        CHECK(made == expected, bits, shift);
      }
    }
  }
}

void FramesThatCannotBeShiftedAreUnsound() {
  CHECK(!UuidFrame{}.IsSound());
  CHECK((UuidFrame{(uint64_t{1} << 34) - 1, 0, 0, 0, 0}.IsSound()));
  CHECK(!(UuidFrame{(uint64_t{1} << 35) - 1, 0, 0, 0, 0}.IsSound()));
}

void TextsHaveSmallLettersAndHyphens() {
  const uint32_t words[] = {0x0123'4567, 0x89ab'cdef, 0xfedc'ba98, 0x7654'3210};
  char text[kUuidLength];
  WriteUuidText(text, words);
  CHECK(std::string(text, kUuidLength) == "01234567-89ab-cdef-fedc-ba9876543210");
}

void Uuids(int, char**) {
  EachBitHasItsPlace();
  FramesThatCannotBeShiftedAreUnsound();
  TextsHaveSmallLettersAndHyphens();
}

const Subcommand kUuids{"uuid", Uuids};

}  // namespace
}  // namespace graupel
