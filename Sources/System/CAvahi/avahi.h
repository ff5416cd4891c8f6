// The parts of libavahi-client that Swift uses: the client, its browsers, resolvers and entry groups, the simple poll
// loop, and the string lists. Swift cannot import variadic functions, but libavahi has a `_strlst` or `_arbitrary`
// variant of each such function.
#ifndef WHITEBOARD_AVAHI_H
#define WHITEBOARD_AVAHI_H

#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/address.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>
#include <avahi-common/watch.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// The headers declare these values in anonymous enums, which Swift imports as `Int`.
static const AvahiIfIndex whiteboard_avahi_any_interface = AVAHI_IF_UNSPEC;
static const AvahiProtocol whiteboard_avahi_any_protocol = AVAHI_PROTO_UNSPEC;
static const AvahiProtocol whiteboard_avahi_ipv4 = AVAHI_PROTO_INET;
static const AvahiProtocol whiteboard_avahi_ipv6 = AVAHI_PROTO_INET6;

// Calls the function pointer `watch_new` of the poll loop, which is easier in C than in Swift.
static inline AvahiWatch *whiteboard_avahi_watch_input(
    const AvahiPoll *loop, int descriptor, AvahiWatchCallback callback, void *context) {
  return loop->watch_new(loop, descriptor, AVAHI_WATCH_IN, callback, context);
}

static inline void whiteboard_avahi_watch_free(const AvahiPoll *loop, AvahiWatch *watch) {
  loop->watch_free(watch);
}

// Names the calling thread, for debuggers and `top -H`.
static inline void whiteboard_avahi_name_thread(void) { prctl(PR_SET_NAME, "avahi", 0, 0, 0); }

// A bell is an eventfd that wakes a poll loop. It is defined here because Swift's Glibc module does not export
// eventfd.
static inline int whiteboard_avahi_bell_new(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

static inline void whiteboard_avahi_bell_ring(int descriptor) { eventfd_write(descriptor, 1); }

static inline void whiteboard_avahi_bell_silence(int descriptor) {
  eventfd_t count;
  eventfd_read(descriptor, &count);
}

#endif
