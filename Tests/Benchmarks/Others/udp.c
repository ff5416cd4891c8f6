// udp COUNT LENGTH
//
// Bare UDP round trips between two processes on loopback; prints one line of JSON like session-bench.
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int make(struct sockaddr_in *address) {
  int s = socket(AF_INET, SOCK_DGRAM, 0);
  socklen_t size = sizeof *address;
  *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (s < 0 || bind(s, (struct sockaddr *)address, size) ||
      getsockname(s, (struct sockaddr *)address, &size)) {
    perror("udp");
    exit(1);
  }
  return s;
}

int main(int argc, char **argv) {
  if (argc != 3) return 64;
  long count = atol(argv[1]), warmup = 1000;
  size_t length = (size_t)atol(argv[2]);
  struct sockaddr_in near, far;
  int near_socket = make(&near), far_socket = make(&far);
  char *bytes = calloc(1, length);
  double *times = calloc((size_t)count, sizeof *times);
  if (!bytes || !times) return 1;
  pid_t parent = getpid(), child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return 1;
    while (1) {
      ssize_t n = recv(far_socket, bytes, length, 0);
      if (n > 0) sendto(far_socket, bytes, (size_t)n, 0, (struct sockaddr *)&near, sizeof near);
    }
  }
  for (long i = 0; i < count + warmup; i++) {
    double sent = now();
    sendto(near_socket, bytes, length, 0, (struct sockaddr *)&far, sizeof far);
    if (recv(near_socket, bytes, length, 0) < 0) return 1;
    if (i >= warmup) times[i - warmup] = now() - sent;
  }
  qsort(times, (size_t)count, sizeof *times, ascending);
  printf("{\"p50\": %.1f, \"p99\": %.1f}\n", times[count / 2], times[count * 99 / 100]);
  kill(child, SIGKILL);
  return 0;
}
