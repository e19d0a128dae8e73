// The C++ library prints the type of an exception that ends the process, and the code for that would be half
// of the binary. The addon throws no exception.
extern "C" char* __cxa_demangle(const char*, char*, decltype(sizeof 0)*, int* status) {
  if (status != nullptr) *status = -1;  // As where memory was short: the mangled name is shown.
  return nullptr;
}
