// The functions that configure malloc, which Swift's Glibc module does not export.
#ifndef WHITEBOARD_ALLOCATION_H
#define WHITEBOARD_ALLOCATION_H

#include <malloc.h>

#endif
