// What Swift sees of the settings of malloc, which its Glibc module leaves out.
#ifndef WHITEBOARD_ALLOCATION_H
#define WHITEBOARD_ALLOCATION_H

#include <malloc.h>

#endif
