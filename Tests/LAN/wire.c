// wire HOST-SIDE SWITCH-SIDE - a cable between two interfaces that loses, delays, duplicates, damages,
// reorders and slows frames. It does in user space what sch_netem does in kernels that have it.
//
// It reads commands from standard input, one per line, and answers each with one line on standard output:
//   set out|in|both KEY=VALUE...   "out" is from the host to the switch; keys left out are zero
//   count                          answers "out seen=N lost=N ... in seen=N lost=N ..."
// Keys: loss duplicate corrupt reorder (0..1), burst (mean run of lost frames), delay jitter (ms),
// rate (bits per second), limit (queued frames), seed. The program ends with its standard input.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

enum { OUT, IN, DIRECTIONS };
enum { FRAMES_A_TURN = 64, LONGEST_FRAME = 70000, DEFAULT_LIMIT = 10000 };
static const double HELD_BACK_MS = 5; // how much later than its neighbours a reordered frame leaves

typedef struct {
  double loss, burst, duplicate, corrupt, reorder, delay, jitter, rate;
  long limit;
} Quality;

typedef struct {
  Quality quality;
  bool losing;           // inside a run of lost frames
  int64_t line_free;     // when the last frame has left a line of limited rate
  int64_t last_due;      // jitter keeps the order: no packet is due before the previous packet
  long waiting;
  unsigned long seen, lost, doubled, damaged, overtaken, overflowed;
} Direction;

typedef struct {
  int64_t due;
  uint64_t turn; // frames due at the same time leave in the order they came
  int direction, length;
  unsigned char *bytes;
} Frame;

static Direction directions[DIRECTIONS];
static Frame *heap;
static size_t held, room;
static uint64_t turns;
static uint64_t random_state = 0x9E3779B97F4A7C15u;

static double chance(void) { // splitmix64, uniform in [0, 1)
  uint64_t z = (random_state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *need(void *memory) {
  if (!memory) {
    perror("wire");
    exit(1);
  }
  return memory;
}

static bool sooner(const Frame *a, const Frame *b) {
  return a->due != b->due ? a->due < b->due : a->turn < b->turn;
}

static void hold(Frame frame) {
  if (held == room) {
    room = room ? room * 2 : 1024;
    heap = need(realloc(heap, room * sizeof *heap));
  }
  size_t at = held++;
  for (; at > 0 && sooner(&frame, &heap[(at - 1) / 2]); at = (at - 1) / 2) {
    heap[at] = heap[(at - 1) / 2];
  }
  heap[at] = frame;
}

static Frame soonest(void) {
  Frame top = heap[0], last = heap[--held];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < held; at = child) {
    if (child + 1 < held && sooner(&heap[child + 1], &heap[child])) child++;
    if (!sooner(&heap[child], &last)) break;
    heap[at] = heap[child];
  }
  heap[at] = last;
  return top;
}

// Independent losses, or runs of mean length `burst` (Gilbert) at the same rate overall.
static bool loses(Direction *line) {
  const Quality *q = &line->quality;
  if (q->loss <= 0 || q->loss >= 1) return q->loss >= 1;
  if (q->burst <= 1) return chance() < q->loss;
  double leave = 1 / q->burst, enter = leave * q->loss / (1 - q->loss);
  line->losing = line->losing ? chance() >= leave : chance() < enter;
  return line->losing;
}

static void enter(int direction, const unsigned char *bytes, int length, int64_t time) {
  Direction *line = &directions[direction];
  const Quality *q = &line->quality;
  line->seen++;
  if (loses(line)) {
    line->lost++;
    return;
  }
  int copies = 1;
  if (chance() < q->duplicate) {
    copies = 2;
    line->doubled++;
  }
  while (copies--) {
    if (line->waiting >= q->limit) {
      line->overflowed++;
      return;
    }
    Frame frame = {.turn = turns++, .direction = direction, .length = length};
    frame.bytes = need(malloc(length));
    memcpy(frame.bytes, bytes, length);
    if (chance() < q->corrupt) {
      frame.bytes[(int)(chance() * length)] ^= 1 << (int)(chance() * 8);
      line->damaged++;
    }
    int64_t leaves = time;
    if (q->rate > 0) {
      if (line->line_free > leaves) leaves = line->line_free;
      leaves += (int64_t)(length * 8e9 / q->rate);
      line->line_free = leaves;
    }
    double wait = q->delay + (chance() * 2 - 1) * q->jitter;
    frame.due = leaves + (int64_t)((wait > 0 ? wait : 0) * 1e6);
    if (chance() < q->reorder) {
      frame.due += (int64_t)(HELD_BACK_MS * 1e6);
      line->overtaken++;
    } else {
      if (frame.due < line->last_due) frame.due = line->last_due;
      line->last_due = frame.due;
    }
    line->waiting++;
    hold(frame);
  }
}

static int open_interface(const char *name) {
  int one = 1, big = 16 << 20;
  int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL));
  struct sockaddr_ll address = {
      .sll_family = AF_PACKET,
      .sll_protocol = htons(ETH_P_ALL),
      .sll_ifindex = (int)if_nametoindex(name),
  };
  struct packet_mreq all = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
  if (fd < 0 || !address.sll_ifindex || bind(fd, (void *)&address, sizeof address) ||
      setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) ||
      setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all)) {
    perror(name);
    exit(1);
  }
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &big, sizeof big);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &big, sizeof big);
  return fd;
}

static bool set(char *words) {
  char *rest = NULL, *which = strtok_r(words, " ", &rest);
  if (!which) return false;
  bool both = !strcmp(which, "both"), out = both || !strcmp(which, "out"),
       in = both || !strcmp(which, "in");
  if (!out && !in) return false;
  Quality q = {.limit = DEFAULT_LIMIT};
  for (char *word = strtok_r(NULL, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    char *value = strchr(word, '=');
    if (!value) return false;
    *value++ = 0;
    char *end;
    double x = strtod(value, &end);
    if (end == value || *end || x < 0) return false;
    if (!strcmp(word, "loss")) q.loss = x;
    else if (!strcmp(word, "burst")) q.burst = x;
    else if (!strcmp(word, "duplicate")) q.duplicate = x;
    else if (!strcmp(word, "corrupt")) q.corrupt = x;
    else if (!strcmp(word, "reorder")) q.reorder = x;
    else if (!strcmp(word, "delay")) q.delay = x;
    else if (!strcmp(word, "jitter")) q.jitter = x;
    else if (!strcmp(word, "rate")) q.rate = x;
    else if (!strcmp(word, "limit")) q.limit = (long)x;
    else if (!strcmp(word, "seed")) random_state = (uint64_t)x;
    else return false;
  }
  if (out) directions[OUT].quality = q;
  if (in) directions[IN].quality = q;
  return true;
}

static void answer(char *order) {
  order[strcspn(order, "\n")] = 0;
  if (!strcmp(order, "count")) {
    for (int d = 0; d < DIRECTIONS; d++) {
      const Direction *line = &directions[d];
      printf("%s seen=%lu lost=%lu doubled=%lu damaged=%lu overtaken=%lu overflowed=%lu%s",
             d == OUT ? "out" : "in", line->seen, line->lost, line->doubled, line->damaged,
             line->overtaken, line->overflowed, d == OUT ? " " : "\n");
    }
  } else if (!strncmp(order, "set ", 4) && set(order + 4)) {
    puts("ok");
  } else {
    puts("not understood");
  }
  fflush(stdout);
}

// Answers all complete lines. Returns false at the end of the input, and if a line exceeds the buffer.
static bool read_orders(void) {
  static char text[1024];
  static size_t length;
  ssize_t got = read(STDIN_FILENO, text + length, sizeof text - 1 - length);
  if (got <= 0) return false;
  length += (size_t)got;
  text[length] = 0;
  for (char *end; (end = strchr(text, '\n'));) {
    *end = 0;
    size_t used = (size_t)(end + 1 - text);
    answer(text);
    memmove(text, text + used, length - used + 1);
    length -= used;
  }
  return length < sizeof text - 1;
}

int main(int count, char **words) {
  if (count != 3) {
    fputs("usage: wire HOST-SIDE SWITCH-SIDE\n", stderr);
    return 64;
  }
  static unsigned char bytes[LONGEST_FRAME];
  for (int d = 0; d < DIRECTIONS; d++) directions[d].quality.limit = DEFAULT_LIMIT;
  struct pollfd polls[] = {
      {open_interface(words[1]), POLLIN, 0}, // frames that go out
      {open_interface(words[2]), POLLIN, 0}, // frames that come in
      {STDIN_FILENO, POLLIN, 0},
  };
  puts("ready");
  fflush(stdout);
  for (;;) {
    int64_t time = now();
    while (held && heap[0].due <= time) {
      Frame frame = soonest();
      directions[frame.direction].waiting--;
      int to = polls[frame.direction == OUT ? 1 : 0].fd;
      if (send(to, frame.bytes, frame.length, 0) < 0 && errno == EMSGSIZE) {
        fprintf(stderr, "wire: %d bytes are too long for the line; is offload on?\n", frame.length);
      }
      free(frame.bytes);
    }
    struct timespec pause = {1, 0};
    if (held) {
      int64_t left = heap[0].due - now();
      if (left < 0) left = 0;
      if (left < 1000000000LL) pause = (struct timespec){0, left};
    }
    if (ppoll(polls, 3, &pause, NULL) <= 0) continue;
    if (polls[2].revents && !read_orders()) return 0;
    for (int direction = 0; direction < DIRECTIONS; direction++) {
      for (int i = 0; i < FRAMES_A_TURN; i++) {
        ssize_t length = recv(polls[direction].fd, bytes, sizeof bytes, 0);
        if (length <= 0) break;
        enter(direction, bytes, (int)length, now()); // an earlier time would make the frame due too early
      }
    }
  }
}
