#if !defined(_WIN32)

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "../../host/generation.h"

namespace graupel {
namespace {

static_assert(sizeof(std::atomic<uint64_t>) == 8);

constexpr size_t kPage = 4096;

// The page of /dev/vmclock0, of which the hypervisor writes the part behind `version`
// (the UAPI group's VMClock; include/uapi/linux/vmclock-abi.h). Little-endian.
struct VmClock {
  uint32_t magic;
  uint32_t size;
  uint16_t version;
  uint8_t counter_id;
  uint8_t time_type;
  std::atomic<uint32_t> sequence;  // Odd while the page is written.
  uint64_t disruption_marker;
  std::atomic<uint64_t> flags;
  uint8_t clock[72];
  std::atomic<uint64_t> generation;
};
static_assert(offsetof(VmClock, sequence) == 12);
static_assert(offsetof(VmClock, flags) == 24);
static_assert(offsetof(VmClock, generation) == 104);

constexpr uint32_t kVmClockMagic = 0x4b4c4356;  // "VCLK"
constexpr uint64_t kHasGeneration = uint64_t{1} << 8;

const void* MapReadOnly(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const page = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return page == MAP_FAILED ? nullptr : page;
}

// The word of a VMClock; null if the page is none, or announces no generation. Reads of
// the word need no lock: it is one aligned word, and the hypervisor writes it while the
// copy stands still.
const std::atomic<uint64_t>* VmClockWord(const char* path) {
  const auto* const page = static_cast<const VmClock*>(MapReadOnly(path));
  if (page == nullptr) return nullptr;
  constexpr int kReads = 1000;
  for (int i = 0; i < kReads; ++i) {
    const uint32_t before = page->sequence.load(std::memory_order_acquire);
    const bool is_sound = page->magic == kVmClockMagic && page->version == 1 &&
                          page->size >= sizeof(VmClock);
    const bool has_generation =
        (page->flags.load(std::memory_order_acquire) & kHasGeneration) != 0;
    if (before % 2 != 0 || page->sequence.load(std::memory_order_acquire) != before) {
      continue;
    }
    if (is_sound && has_generation) return &page->generation;
    break;
  }
  munmap(const_cast<VmClock*>(page), kPage);
  return nullptr;
}

// A page that the system zeroes in a child of fork(). Plain memory if the system cannot
// do that; a system that accepts every advice (an emulator) does nothing.
std::atomic<uint64_t>* WipedOnFork() {
  static std::atomic<uint64_t> plain;
  void* const page =
      mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return &plain;
#if defined(MADV_WIPEONFORK)
  if (madvise(page, kPage, -1) != 0 && madvise(page, kPage, MADV_WIPEONFORK) == 0) {
    return static_cast<std::atomic<uint64_t>*>(page);
  }
#endif
  munmap(page, kPage);
  return &plain;
}

}  // namespace

GenerationWords MakeGenerationWords() {
  GenerationWords words;
  words.raised = WipedOnFork();
  // Not 0, which a forked child finds.
  words.raised->store(uint64_t{1} << 40);
  // A file in place of the device, for tests.
  const char* const file = std::getenv("GRAUPEL_TEST_VMCLOCK");
  const char* const clock = file != nullptr && *file != '\0' ? file : "/dev/vmclock0";
  words.device = VmClockWord(clock);
  if (words.device != nullptr) {
    words.path = clock;
    return words;
  }
  // Its page begins with a counter of 32 bits, and is zero otherwise.
  constexpr const char* kSysGenId = "/dev/sysgenid";
  words.device = static_cast<const std::atomic<uint64_t>*>(MapReadOnly(kSysGenId));
  if (words.device != nullptr) words.path = kSysGenId;
  return words;
}

}  // namespace graupel

#endif
