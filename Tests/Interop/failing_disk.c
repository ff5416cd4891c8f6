/* A disk that fails, for programs started with this in LD_PRELOAD.
 *
 * While the file named by FAILING_DISK_ERROR holds a number, every write to a file below
 * FAILING_DISK_DIRECTORY fails with that errno, and so does creating a file there. Reading works. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int fault(void) {
  const char *path = getenv("FAILING_DISK_ERROR");
  if (path == NULL) return 0;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[16] = {0};
  ssize_t count = syscall(SYS_read, file, text, sizeof text - 1);
  syscall(SYS_close, file);
  return count > 0 ? atoi(text) : 0;
}

static int is_below(const char *path) {
  const char *directory = getenv("FAILING_DISK_DIRECTORY");
  return directory != NULL && strncmp(path, directory, strlen(directory)) == 0;
}

/* Returns the error of a write to a descriptor; 0 if it may continue. */
static int refusal(int descriptor) {
  char link[64], path[PATH_MAX];
  int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return 0;
  path[length] = 0;
  return is_below(path) ? fault() : 0;
}

#define REFUSE(descriptor)               \
  do {                                   \
    int number = refusal(descriptor);    \
    if (number != 0) {                   \
      errno = number;                    \
      return -1;                         \
    }                                    \
  } while (0)

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *bytes, size_t count) {
  REFUSE(file);
  return syscall(SYS_write, file, bytes, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  REFUSE(file);
  return syscall(SYS_pwrite64, file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  REFUSE(file);
  return syscall(SYS_pwrite64, file, bytes, count, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  REFUSE(file);
  return REAL(writev)(file, parts, count);
}

int ftruncate(int file, off_t length) {
  REFUSE(file);
  return (int)syscall(SYS_ftruncate, file, length);
}

int ftruncate64(int file, off64_t length) {
  REFUSE(file);
  return (int)syscall(SYS_ftruncate, file, length);
}

#define OPEN(name)                                                            \
  int name(const char *path, int flags, ...) {                                \
    mode_t mode = 0;                                                          \
    if (flags & O_CREAT) {                                                    \
      va_list rest;                                                           \
      va_start(rest, flags);                                                  \
      mode = va_arg(rest, mode_t);                                            \
      va_end(rest);                                                           \
      int number = is_below(path) ? fault() : 0;                              \
      if (number != 0) {                                                      \
        errno = number;                                                       \
        return -1;                                                            \
      }                                                                       \
    }                                                                         \
    return REAL(name)(path, flags, mode);                                     \
  }

OPEN(open)
OPEN(open64)
