// Imports the decoder of libwebp into Swift.
#ifndef WHITEBOARD_WEBP_H
#define WHITEBOARD_WEBP_H

#include <webp/decode.h>

#endif
