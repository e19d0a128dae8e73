/*
 * Stands between a process and the C library (LD_PRELOAD), at the calls by which a
 * state file reaches the disk. Linux.
 *
 * SHIM_FILE is the state file, SHIM_FOLDER the folder of this program's own files:
 *
 * - events: a line for each write and each sync of the state file: nanoseconds of
 *   CLOCK_MONOTONIC, process, 'w' or 's'. A write's time is before it began, a sync's
 *   when it was complete.
* - copies/: if this folder exists, a copy of the state file after the nth event, named
 *   n, unless the process was killed before the copy was complete. A process writes a
 *   state file under its lock, so no other event comes in between.
* - names: a line in the same form for each complete sync of the state file's folder.
* - order: if this file exists, 'fdatasync 5' or 'pwrite 28' lets that call fail
 *   with that errno; 'stop' stops the process (SIGSTOP) once, in the middle of a sync;
*   'slow 300' lets syncs take 300 milliseconds; 'folder 5' lets the sync of the
 *   folder fail, and 'cut' kills the process (SIGKILL) once, before that sync.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static void PathIn(char* path, const char* name) {
  const char* folder = getenv("SHIM_FOLDER");
  snprintf(path, PATH_MAX, "%s/%s", folder == NULL ? "." : folder, name);
}

/* 1: the state file; 2: a file in the making, with the state file's name in the middle
 * of its name; 3: the folder of both files. */
static int Kind(int fd) {
  const char* file = getenv("SHIM_FILE");
  char link[64];
  char path[PATH_MAX];
  if (file == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  if (strcmp(path, file) == 0) return 1;
  const char* name = strrchr(file, '/');
  if (name == NULL) return 0;
  const size_t folder_length = (size_t)(name - file);
  if (strlen(path) == folder_length && strncmp(path, file, folder_length) == 0) {
    return 3;
  }
  return strstr(path, name + 1) != NULL && strstr(path, ".new") != NULL ? 2 : 0;
}

static long long NowNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void CopyTo(const char* path) {
  char bytes[8192];
  char half[PATH_MAX + 8];
  snprintf(half, sizeof half, "%s.half", path);
  const int from = open(getenv("SHIM_FILE"), O_RDONLY | O_CLOEXEC);
  const int to = open(half, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (from < 0 || to < 0) abort();
  const ssize_t length = read(from, bytes, sizeof bytes);
  if (length < 0 || write(to, bytes, (size_t)length) != length) abort();
  close(from);
  close(to);
  if (rename(half, path) != 0) abort();
}

/* Adds a line to a file, and returns the number of lines. */
static long Append(const char* name, long long at_ns, char kind) {
  char path[PATH_MAX];
  char line[64];
  PathIn(path, name);
  const int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) abort();
  /* Lines have one length, so the position of the end gives their number. */
  snprintf(line, sizeof line, "%020lld %010d %c\n", at_ns, (int)getpid(), kind);
  const size_t length = strlen(line);
  if (write(fd, line, length) != (ssize_t)length) abort();
  const off_t count = lseek(fd, 0, SEEK_END) / (off_t)length;
  close(fd);
  return (long)count;
}

static void Note(long long at_ns, char kind) {
  char path[PATH_MAX];
  const long count = Append("events", at_ns, kind);
  PathIn(path, "copies");
  if (access(path, F_OK) != 0) return;
  char name[32];
  snprintf(name, sizeof name, "copies/%ld", count - 1);
  PathIn(path, name);
  CopyTo(path);
}

/* Returns the number after a word of the order; -1 if the word is missing. */
static int Ordered(const char* word) {
  char path[PATH_MAX];
  char text[64];
  PathIn(path, "order");
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  text[length < 0 ? 0 : length] = '\0';
  const size_t word_length = strlen(word);
  if (strncmp(text, word, word_length) != 0) return -1;
  return atoi(text + word_length);
}

static ssize_t Write(const char* name, int fd, const void* bytes, size_t count,
                     off_t offset) {
  ssize_t (*const real)(int, const void*, size_t, off_t) =
      (ssize_t(*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, name);
  const int kind = Kind(fd);
  if (kind == 0) return real(fd, bytes, count, offset);
  const int error = Ordered("pwrite");
  if (error > 0) return errno = error, -1;
  const long long at_ns = NowNs();
  const ssize_t written = real(fd, bytes, count, offset);
  if (kind == 1) Note(at_ns, 'w');
  return written;
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  return Write("pwrite", fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void* bytes, size_t count, off_t offset) {
  return Write("pwrite64", fd, bytes, count, offset);
}

static int SyncFolder(int (*real)(int), int fd) {
  const int error = Ordered("folder");
  if (error > 0) return errno = error, -1;
  if (Ordered("cut") >= 0) {
    char path[PATH_MAX];
    PathIn(path, "order");
    unlink(path);
    raise(SIGKILL);
  }
  const int result = real(fd);
  if (result == 0) Append("names", NowNs(), 's');
  return result;
}

static int Sync(const char* name, int fd) {
  int (*const real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  const int kind = Kind(fd);
  if (kind == 0) return real(fd);
  if (kind == 3) return SyncFolder(real, fd);
  const int error = Ordered("fdatasync");
  if (error > 0) return errno = error, -1;
  const int slow_ms = Ordered("slow");
  if (slow_ms > 0) usleep((useconds_t)slow_ms * 1000);
  if (Ordered("stop") >= 0) {
    char path[PATH_MAX];
    PathIn(path, "order");
    unlink(path);
    /* This thread gets the signal. With kill() another thread may get it later: then this
     * one ends the sync, and unlocks the file, before the process stops. */
    raise(SIGSTOP);
  }
  const int result = real(fd);
  if (kind == 1 && result == 0) Note(NowNs(), 's');
  return result;
}

int fdatasync(int fd) { return Sync("fdatasync", fd); }
int fsync(int fd) { return Sync("fsync", fd); }
