// The functions of libqrencode that Swift uses: one creates a symbol, another frees it.
#ifndef WHITEBOARD_QRCODE_H
#define WHITEBOARD_QRCODE_H

#include <qrencode.h>

#endif
