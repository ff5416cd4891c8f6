// The parts of libcairo that Swift uses: in-memory images, PNG, PDF, paths and simple text.
#ifndef WHITEBOARD_CAIRO_H
#define WHITEBOARD_CAIRO_H

#include <cairo/cairo-pdf.h>
#include <cairo/cairo.h>

#endif
