#ifndef GRAUPEL_HOST_FAULT_H_
#define GRAUPEL_HOST_FAULT_H_

#include <cstdint>
#include <string>
#include <utility>

namespace graupel {

// The ids that a state is for.
struct Identity {
  // The bits of the layout, the node, the namespace. Equal keys, one state.
  std::string key;
  // The layout with its names, for people and tools that read the file; JSON.
  std::string description;
};

// The reason why a state that outlives its process cannot be used. The facade makes an
// error of it (src/engine/native/fault.ts). This header owns the numbers, and
// test/engine/numbers.test.ts compares those in TypeScript.
struct Fault {
  enum class Kind : uint32_t {
    kNone = 0,
    kSystem = 1,    // A call failed: `call`, `error`.
    kUnsafe = 2,    // Others could change it, or it is no plain local file: `detail`.
    kCorrupt = 3,   // Its bytes are not valid in this version of the format: `detail`.
    kVersion = 4,   // It has another version of the format: `format`.
    kMismatch = 5,  // It is for other ids: `found`.
    kInUse = 6,     // A process that shares no memory with this process uses it.
    kBusy = 7,      // Its lock was not free within the time.
    kLost = 8,      // It was changed while it was open: `detail`.
    kClaimed = 9,   // A claim is beside it, of an engine that maps no pages: `path`.
    kEarly = 10,    // Its first slot is in the next tick, `wait_ms` from now.
    // These never leave native/host and native/platform.
    kMissing = 11,
    kExists = 12,
    kMoved = 13,  // The page is sealed, or no longer at its path.
  };

  // The thing that cannot be used.
  enum class Subject : uint32_t { kFile = 0, kPage = 1, kFolder = 2, kBootId = 3 };

  Kind kind = Kind::kNone;
  int error = 0;  // errno; on Windows GetLastError().
  const char* call = "";
  std::string path;
  std::string detail{};  // A phrase for the message, which nothing parses.
  Subject subject = Subject::kFile;
  Identity found{};
  uint32_t format = 0;
  int64_t wait_ms = 0;

  bool IsNone() const { return kind == Kind::kNone; }
  static Fault System(const char* call, int error, const std::string& path) {
    return {.kind = Kind::kSystem, .error = error, .call = call, .path = path};
  }
  static Fault Of(Kind kind, const std::string& path, std::string detail = {}) {
    return {.kind = kind, .path = path, .detail = std::move(detail)};
  }
};

}  // namespace graupel

#endif  // GRAUPEL_HOST_FAULT_H_
