#if defined(__linux__)

// The C++ library prints the type of an exception that ends the process, and the code
// for that would be a fifth of the binary, which has the library in it. The addon
// throws no exception.
extern "C" char* __cxa_demangle(const char*, char*, decltype(sizeof 0)*, int* status) {
  if (status != nullptr)
    *status = -1;  // As where memory was short: the mangled name is shown.
  return nullptr;
}

#endif
