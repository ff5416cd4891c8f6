#ifndef WHITEBOARD_VERSION_H
#define WHITEBOARD_VERSION_H

/// Returns the commit that a package was built from, or an empty string. Tests/package links another definition of this
/// function into the programs.
const char *whiteboard_commit(void);

#endif
