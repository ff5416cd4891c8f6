#include "version.h"

__attribute__((weak)) const char *whiteboard_commit(void) { return ""; }
