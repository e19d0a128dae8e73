#ifndef GRAUPEL_BINDING_OPTIONS_H_
#define GRAUPEL_BINDING_OPTIONS_H_

#include <node_api.h>

#include <cstdint>
#include <string>

namespace graupel {

// Reads the properties of an object. A property that cannot be had, or has the wrong
// type or a value out of range, is zero or empty, and so is every one after it: ask
// ok() when all are read.
class Options {
 public:
  Options(napi_env env, napi_value object) : env_(env), object_(object) {}

  bool ok() const { return is_readable_ && invalid_ == nullptr; }

  // A whole number that a double holds exactly.
  int64_t Whole(const char* name, int64_t least = -kMostWhole,
                int64_t most = kMostWhole);
  uint64_t BigInt(const char* name);
  bool Flag(const char* name);
  std::string Text(const char* name);

  // Throws a TypeError that names the property that is not valid. What JavaScript has
  // thrown, or the end of the thread, goes first.
  void Throw(const char* code) const;

 private:
  static constexpr int64_t kMostWhole = (int64_t{1} << 53) - 1;

  bool Get(const char* name, napi_value* value);
  // Whether the property has the type that it was read as.
  bool IsA(napi_status status, const char* name);

  const napi_env env_;
  const napi_value object_;
  bool is_readable_ = true;
  const char* invalid_ = nullptr;
};

}  // namespace graupel

#endif  // GRAUPEL_BINDING_OPTIONS_H_
