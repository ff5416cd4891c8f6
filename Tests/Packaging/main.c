// Tests/package links this file into the executable. It contains the commit, and a main function that runs one of the
// programs: the name by which the executable is started selects the program.
#include <string.h>

const char *whiteboard_commit(void) { return COMMIT; }

int whiteboard_peer_main(int count, char **arguments);
int whiteboard_relay_main(int count, char **arguments);
int whiteboard_replay_main(int count, char **arguments);

int main(int count, char **arguments) {
  const char *path = count > 0 ? arguments[0] : "";
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (strcmp(name, "whiteboard-relay") == 0) return whiteboard_relay_main(count, arguments);
  if (strcmp(name, "whiteboard-replay") == 0) return whiteboard_replay_main(count, arguments);
  return whiteboard_peer_main(count, arguments);
}
