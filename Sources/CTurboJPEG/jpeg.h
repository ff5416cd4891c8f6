// What Swift sees of libturbojpeg.
#ifndef WHITEBOARD_JPEG_H
#define WHITEBOARD_JPEG_H

#include <turbojpeg.h>

#endif
