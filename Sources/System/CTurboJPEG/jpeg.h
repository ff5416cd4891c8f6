// Imports libturbojpeg into Swift.
#ifndef WHITEBOARD_JPEG_H
#define WHITEBOARD_JPEG_H

#include <turbojpeg.h>

#endif
