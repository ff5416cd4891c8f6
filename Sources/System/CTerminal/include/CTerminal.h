#ifndef WHITEBOARD_TERMINAL_GUARD_H
#define WHITEBOARD_TERMINAL_GUARD_H

#include <stddef.h>

/// Restores the terminal settings if the process ends while the terminal is in raw mode.
///
/// If the process exits or crashes between `terminal_guard_arm` and `terminal_guard_disarm`, the
/// guard restores the terminal. After a crash it also prints the end of the log and a message, and
/// the process still ends by the signal. While armed, the guard neither allocates nor locks.

/// Puts the terminal into raw mode and arms the guard.
///
/// - terminal: the file descriptor of the terminal, open for writing.
/// - leave: the escape sequences that reset the terminal; copied.
/// - farewell: the message to print after a crash; copied.
/// - log: a readable descriptor of the file that receives standard error meanwhile, or -1.
/// - errors: the descriptor on which to print the log and the message.
///
/// Returns 0, or -1 with errno.
int terminal_guard_arm(int terminal, const char *leave, size_t leave_length, const char *farewell,
                       size_t farewell_length, int log, int errors);

/// Restores the terminal; does nothing if the guard is not armed. The guard may be armed again.
void terminal_guard_disarm(void);

/// Returns 1 if a shell can continue the process group after a stop, otherwise 0.
///
/// A shell can continue it if a process outside the group, but in the same session, started a
/// process of the group. Otherwise the group would stay stopped forever.
int terminal_guard_can_stop(void);

/// Stops the process group and returns after it is continued in the foreground. Disarm the guard
/// first, unless the group was already stopped by another process.
///
/// If the group is continued in the background, as by `bg`, it is stopped again, because it can
/// neither draw nor read there.
void terminal_guard_stop(void);

/// Returns 1 if the process group is in the background of its terminal, otherwise 0.
int terminal_guard_is_background(void);

/// Puts the terminal into raw mode again, if the guard is armed; the settings to restore do not change.
///
/// Returns 1 if the guard is armed, otherwise 0.
int terminal_guard_rearm(void);

/// Returns the read end of a pipe, or -1 with errno. The pipe receives a byte whenever the process is
/// continued, except during `terminal_guard_stop`.
int terminal_guard_watch(void);

#endif
