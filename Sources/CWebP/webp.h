// What Swift sees of libwebp: its decoder.
#ifndef WHITEBOARD_WEBP_H
#define WHITEBOARD_WEBP_H

#include <webp/decode.h>

#endif
