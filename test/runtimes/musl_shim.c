// Functions that Debian's libstdc++ and libgcc take from glibc and that musl lacks. With them, Bun for musl,
// which needs a libstdc++, runs on Debian. Only tests need them, because graupel's binaries contain their C++
// library.
#include <stddef.h>
#include <stdint.h>

char __libc_single_threaded = 0;

struct {
  unsigned vendor, type, subtype, features[1];
} __cpu_model;
int __cpu_indicator_init(void) { return 0; }

size_t strftime_l(char*, size_t, const char*, const void*, void*);
size_t __strftime_l(char* to, size_t size, const char* format, const void* time, void* locale) {
  return strftime_l(to, size, format, time, locale);
}

// Reports nothing found, so the unwinder searches on its own.
int _dl_find_object(void* address, void* result) { return -1; }

int getentropy(void*, size_t);
uint32_t arc4random(void) {
  uint32_t value = 0;
  getentropy(&value, sizeof value);
  return value;
}

unsigned long getauxval(unsigned long);
unsigned long __getauxval(unsigned long type) { return getauxval(type); }

// Destructors of a thread's objects do not run.
int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* module) { return 0; }
