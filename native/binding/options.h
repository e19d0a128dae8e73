#ifndef GRAUPEL_BINDING_OPTIONS_H_
#define GRAUPEL_BINDING_OPTIONS_H_

#include <node_api.h>

#include <cstdint>
#include <string>

namespace graupel {

// Reads the properties of an object. A property that is missing, or has the wrong type
// or a value out of range, is read as zero or empty, and so is every one after it. The
// caller asks ok() after the last one.
class Options {
 public:
  Options(napi_env env, napi_value object) : env_(env), object_(object) {}

  bool ok() const { return is_readable_ && invalid_ == nullptr; }

  // A whole number that a double holds exactly.
  int64_t Whole(const char* name, int64_t min = -kMaxWhole, int64_t max = kMaxWhole);
  uint64_t BigInt(const char* name);
  bool Flag(const char* name);
  std::string Text(const char* name);

  // Throws a TypeError that names the invalid property, unless JavaScript has thrown
  // already or the thread ends.
  void Throw(const char* code) const;

 private:
  static constexpr int64_t kMaxWhole = (int64_t{1} << 53) - 1;

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
