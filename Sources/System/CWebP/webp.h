// Imports the decoder and the encoder of libwebp into Swift.
#ifndef WHITEBOARD_WEBP_H
#define WHITEBOARD_WEBP_H

#include <webp/decode.h>
#include <webp/encode.h>

#endif
