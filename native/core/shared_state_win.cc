#if defined(_WIN32)
#endif
