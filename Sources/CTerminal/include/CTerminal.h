#ifndef WHITEBOARD_TERMINAL_GUARD_H
#define WHITEBOARD_TERMINAL_GUARD_H

#include <stddef.h>

/// Keeps a terminal from being left in a state that nobody can type in.
///
/// Between `terminal_guard_arm` and `terminal_guard_disarm` the process may die in any way but by SIGKILL:
/// the terminal is then made as it was, whatever was written to `log` is shown, and the process still ends by
/// the signal. Nothing here allocates or locks once it is armed.

/// Puts the terminal into raw mode and watches over it.
///
/// - terminal: the terminal's descriptor, open for writing.
/// - leave: what undoes what the program asks of the terminal; copied.
/// - farewell: what to say after a crash; copied.
/// - log: a descriptor of what standard error went to meanwhile, open for reading; -1 for none.
/// - errors: where to say it.
///
/// Returns 0, or -1 with errno.
int terminal_guard_arm(int terminal, const char *leave, size_t leave_length, const char *farewell,
                       size_t farewell_length, int log, int errors);

/// Makes the terminal as it was; does nothing when it is. The program may arm the guard again.
void terminal_guard_disarm(void);

/// Whether a shell can continue the process group after a stop: a process outside the group, but in its session,
/// started one of the group. Without one the group would stop for ever. Returns 1 or 0.
int terminal_guard_can_stop(void);

/// Stops the process group, and returns when it goes on, not before. The terminal is to be given back first.
void terminal_guard_stop(void);

#endif
