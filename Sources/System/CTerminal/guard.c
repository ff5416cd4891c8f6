#include "CTerminal.h"

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { leave_limit = 1024, farewell_limit = 4096, log_tail = 4096 };

static struct termios cooked;
static int terminal_fd = -1;
static int log_fd = -1;
static int errors_fd = -1;
static char leave_bytes[leave_limit];
static size_t leave_count;
static char farewell_bytes[farewell_limit];
static size_t farewell_count;
static atomic_int is_armed;
static int is_installed;
static char alternate_stack[64 * 1024];

static void write_all(int fd, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(fd, bytes, count);
    if (written < 0) {
      if (errno == EINTR) continue;
      return;
    }
    bytes += written;
    count -= (size_t)written;
  }
}

void terminal_guard_disarm(void) {
  if (!atomic_exchange(&is_armed, 0)) return;
  write_all(terminal_fd, leave_bytes, leave_count);
  // Discard pending input (mouse reports and replies), so that the shell does not read it.
  tcsetattr(terminal_fd, TCSAFLUSH, &cooked);
}

static void crashed(int number) {
  if (atomic_load(&is_armed)) {
    terminal_guard_disarm();
    if (log_fd >= 0) {
      static char tail[log_tail];
      off_t end = lseek(log_fd, 0, SEEK_END);
      off_t start = end > log_tail ? end - log_tail : 0;
      ssize_t count = end > 0 ? pread(log_fd, tail, sizeof tail, start) : 0;
      if (count > 0) write_all(errors_fd, tail, (size_t)count);
    }
    write_all(errors_fd, farewell_bytes, farewell_count);
  }
  signal(number, SIG_DFL);
  raise(number);
}

static void install(void) {
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
  stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
  sigaltstack(&stack, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = crashed;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) {
    sigaction(numbers[index], &action, NULL);
  }
  atexit(terminal_guard_disarm);
  is_installed = 1;
}

static int make_raw(void) {
  struct termios raw = cooked;
  cfmakeraw(&raw);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  return tcsetattr(terminal_fd, TCSADRAIN, &raw);
}

int terminal_guard_arm(int terminal, const char *leave, size_t leave_length, const char *farewell,
                       size_t farewell_length, int log, int errors) {
  if (leave_length > leave_limit || farewell_length > farewell_limit) {
    errno = E2BIG;
    return -1;
  }
  if (tcgetattr(terminal, &cooked) != 0) return -1;
  terminal_fd = terminal;
  log_fd = log;
  errors_fd = errors;
  memcpy(leave_bytes, leave, leave_length);
  leave_count = leave_length;
  memcpy(farewell_bytes, farewell, farewell_length);
  farewell_count = farewell_length;
  if (!is_installed) install();
  atomic_store(&is_armed, 1);
  if (make_raw() != 0) {
    atomic_store(&is_armed, 0);
    return -1;
  }
  return 0;
}

/// Returns the parent of a process, or 0 if it is unknown.
static pid_t parent_of(pid_t process) {
  char path[64], status[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  size_t count = fread(status, 1, sizeof status - 1, file);
  fclose(file);
  status[count] = 0;
  // The process name before this field is in parentheses and may contain any character.
  char *end = strrchr(status, ')');
  int parent = 0;
  if (end == NULL || sscanf(end + 1, " %*c %d", &parent) != 1) return 0;
  return parent;
}

int terminal_guard_can_stop(void) {
  pid_t group = getpgrp(), session = getsid(0);
  pid_t parent = getppid();
  // Skip the processes of the group between this process and its shell, such as a script.
  for (int step = 0; parent > 1 && getpgid(parent) == group && step < 64; step++) {
    parent = parent_of(parent);
  }
  return parent > 1 && getpgid(parent) != group && getsid(parent) == session;
}

int terminal_guard_is_background(void) {
  pid_t foreground = tcgetpgrp(terminal_fd);
  return foreground > 0 && foreground != getpgrp();
}

int terminal_guard_rearm(void) {
  if (!atomic_load(&is_armed)) return 0;
  make_raw();
  return 1;
}

static sem_t continued;
static atomic_int is_stopping;
static int watch[2] = {-1, -1};

static void went_on(int number) {
  (void)number;
  int error = errno;
  if (atomic_load(&is_stopping)) {
    sem_post(&continued);
  } else if (watch[1] >= 0) {
    // If the pipe is full, its reader already has a byte.
    ssize_t ignored = write(watch[1], "", 1);
    (void)ignored;
  }
  errno = error;
}

static void handle_continuation(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = went_on;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGCONT, &action, NULL);
}

int terminal_guard_watch(void) {
  if (watch[0] < 0 && pipe2(watch, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  handle_continuation();
  return watch[0];
}

void terminal_guard_stop(void) {
  // If two threads stop the process, the second stop could follow the continuation of the first.
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  sem_init(&continued, 0, 0);
  atomic_store(&is_stopping, 1);
  handle_continuation();
  do {
    // Stop the whole group, as the terminal does for Ctrl+Z.
    kill(0, SIGSTOP);
    // SIGSTOP might not have stopped this thread yet, so wait until SIGCONT arrives.
    while (sem_wait(&continued) != 0 && errno == EINTR) {}
  } while (terminal_guard_is_background());
  atomic_store(&is_stopping, 0);
  pthread_mutex_unlock(&mutex);
}
