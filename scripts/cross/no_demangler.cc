// A library that ends a process by an exception spells out its type, and half of a binary is the code that could. The
// addon throws none.
extern "C" char* __cxa_demangle(const char*, char*, decltype(sizeof 0)*, int* status) {
  if (status != nullptr) *status = -1;  // As where memory was short: the mangled name is shown.
  return nullptr;
}
