#ifndef GRAUPEL_BINDING_OPTIONS_H_
#define GRAUPEL_BINDING_OPTIONS_H_

#include <napi.h>

#include <cstdint>
#include <string>

namespace graupel {

// Throws a TypeError with a code, unless an exception is pending or the thread ends.
void Throw(Napi::Env env, const char* code, const std::string& message);

// Reads the properties of an object. A property that is missing, or has the wrong type
// or a value out of range, makes a TypeError with `code` that names the property. That
// property is read as zero or empty, and so is every one after it. The caller asks ok()
// after the last one.
class Options {
 public:
  Options(const Napi::CallbackInfo& info, const char* code);

  // False if something is thrown, or the thread ends.
  bool ok() const { return is_ok_; }

  // A whole number that a double holds exactly.
  int64_t Whole(const char* name, int64_t min = -kMaxWhole, int64_t max = kMaxWhole);
  uint64_t BigInt(const char* name);
  bool Flag(const char* name);
  std::string Text(const char* name);

 private:
  static constexpr int64_t kMaxWhole = (int64_t{1} << 53) - 1;

  // Empty if the property is not of that type.
  Napi::Value Get(const char* name, napi_valuetype type);
  void Refuse(const char* name);

  const Napi::Env env_;
  const Napi::Value object_;
  const char* const code_;
  bool is_ok_ = true;
};

}  // namespace graupel

#endif  // GRAUPEL_BINDING_OPTIONS_H_
