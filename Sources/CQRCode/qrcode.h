// What Swift sees of libqrencode: one call makes the modules of a symbol, another frees them.
#ifndef WHITEBOARD_QRCODE_H
#define WHITEBOARD_QRCODE_H

#include <qrencode.h>

#endif
