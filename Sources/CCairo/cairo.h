// What Swift sees of libcairo: pictures in memory, PNG, PDF, paths and its simple text.
#ifndef WHITEBOARD_CAIRO_H
#define WHITEBOARD_CAIRO_H

#include <cairo/cairo-pdf.h>
#include <cairo/cairo.h>

#endif
