// zmq throughput COUNT LENGTH | zmq roundtrip COUNT LENGTH
//
// libzmq with CURVE between two processes on loopback; prints one line of JSON like session-bench.
// cc -O2 zmq.c -lzmq
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "zmq: %s: %s\n", what, zmq_strerror(zmq_errno()));
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// The other application, which counts messages or sends them back.
static void serve(void *socket, long count, int echoes) {
  zmq_msg_t message;
  zmq_msg_init(&message);
  for (long i = 0; i < count; i++) {
    check(zmq_msg_recv(&message, socket, 0) >= 0, "receive");
    if (echoes) check(zmq_msg_send(&message, socket, 0) >= 0, "send");
  }
  if (!echoes) check(zmq_send(socket, "end", 3, 0) == 3, "send");
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  int echoes = !strcmp(argv[1], "roundtrip");
  long count = atol(argv[2]), warmup = echoes ? 1000 : 0;
  size_t length = (size_t)atol(argv[3]);
  char server_public[41], server_secret[41], public[41], secret[41], endpoint[256];
  check(!zmq_curve_keypair(server_public, server_secret), "this libzmq has no CURVE");
  check(!zmq_curve_keypair(public, secret), "keys");
  int ends[2];
  if (pipe(ends)) return 1;
  pid_t parent = getpid(), child = fork();
  if (child < 0) return 1;
  void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_PAIR);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return 1;
    int yes = 1;
    size_t size = sizeof endpoint;
    check(!zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &yes, sizeof yes), "server");
    check(!zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, server_secret, 41), "key");
    check(!zmq_bind(socket, "tcp://127.0.0.1:*"), "bind");
    check(!zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size), "endpoint");
    if (write(ends[1], endpoint, sizeof endpoint) != sizeof endpoint) return 1;
    serve(socket, count + warmup, echoes);
  } else {
    if (read(ends[0], endpoint, sizeof endpoint) != sizeof endpoint) return 1;
    check(!zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server_public, 41), "key");
    check(!zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, public, 41), "key");
    check(!zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, secret, 41), "key");
    check(!zmq_connect(socket, endpoint), "connect");
    char *bytes = calloc(1, length), answer[3];
    double *times = calloc((size_t)count, sizeof *times);
    if (!bytes || !times) return 1;
    double start = now();
    for (long i = 0; i < count + warmup; i++) {
      double sent = now();
      check(zmq_send(socket, bytes, length, 0) == (int)length, "send");
      if (!echoes) continue;
      check(zmq_recv(socket, bytes, length, 0) == (int)length, "receive");
      if (i >= warmup) times[i - warmup] = (now() - sent) * 1e6;
    }
    if (echoes) {
      qsort(times, (size_t)count, sizeof *times, ascending);
      printf("{\"p50\": %.1f, \"p99\": %.1f}\n", times[count / 2], times[count * 99 / 100]);
    } else {
      check(zmq_recv(socket, answer, 3, 0) == 3, "receive");
      printf("{\"rate\": %.0f}\n", count / (now() - start));
    }
    int status;
    waitpid(child, &status, 0);
  }
  zmq_close(socket);
  zmq_ctx_term(context);
  return 0;
}
