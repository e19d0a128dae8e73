#ifndef GRAUPEL_HOST_FAULT_H_
#define GRAUPEL_HOST_FAULT_H_

#include <cstdint>
#include <string>

namespace graupel {

// The reason why a state that outlives its process cannot be used. The facade makes an
// error of it (src/engine/native/fault.ts). This header owns the numbers, and
// test/engine/numbers.test.ts compares those in TypeScript.
struct Fault {
  enum class Kind : uint32_t {
    kNone = 0,
    kSystem = 1,    // A call failed: `call`, `error`.
    kUnsafe = 2,    // Others could change it, or it is no plain local file: `detail`.
    kCorrupt = 3,   // Its bytes are not valid in this version of the format: `detail`.
    kVersion = 4,   // It has another version of the format: `detail`.
    kMismatch = 5,  // It is for other ids: `detail` is their identity.
    kInUse = 6,     // A process that shares no memory with this process uses it.
    kBusy = 7,      // Its lock was not free within the time.
    kLost = 8,      // It was deleted or replaced while it was open.
    kClaimed = 9,   // A claim is beside it, of an engine that maps no pages: `path`.
    kEarly = 10,    // Its first slot is in the next tick, `detail` milliseconds away.
    // These never leave native/host and native/platform.
    kMissing = 11,
    kExists = 12,
  };

  // The thing that cannot be used.
  enum class Subject : uint32_t { kFile = 0, kPage = 1, kFolder = 2, kBootId = 3 };

  Kind kind = Kind::kNone;
  int error = 0;  // errno; on Windows GetLastError().
  const char* call = "";
  std::string path;
  std::string detail;
  Subject subject = Subject::kFile;

  bool IsNone() const { return kind == Kind::kNone; }
  static Fault System(const char* call, int error, const std::string& path) {
    return {Kind::kSystem, error, call, path, {}, Subject::kFile};
  }
  static Fault Of(Kind kind, const std::string& path, std::string detail = {}) {
    return {kind, 0, "", path, static_cast<std::string&&>(detail), Subject::kFile};
  }
};

}  // namespace graupel

#endif  // GRAUPEL_HOST_FAULT_H_
