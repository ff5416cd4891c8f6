// Tests/package links this file into each executable. It contains the commit, and a main function that runs one of
// several programs: the name by which the executable is started selects the program. PROGRAMS is a list like
// `PROGRAM(peer) PROGRAM(replay)`, and FIRST is the main function of the default program.
#include <string.h>

const char *whiteboard_commit(void) { return COMMIT; }

#define PROGRAM(name) int whiteboard_##name##_main(int count, char **arguments);
PROGRAMS
#undef PROGRAM

int main(int count, char **arguments) {
  const char *path = count > 0 ? arguments[0] : "";
  const char *slash = strrchr(path, '/');
  const char *own = slash ? slash + 1 : path;
#define PROGRAM(name) \
  if (strcmp(own, "whiteboard-" #name) == 0) return whiteboard_##name##_main(count, arguments);
  PROGRAMS
  return FIRST(count, arguments);
}
