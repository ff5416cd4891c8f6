// The parts of libcairo and Pango that Swift uses: in-memory images, PNG, PDF, paths and rows of text. libcairo itself
// needs libpng.
#ifndef WHITEBOARD_CAIRO_H
#define WHITEBOARD_CAIRO_H

#include <cairo/cairo-pdf.h>
#include <cairo/cairo.h>
#include <png.h>
#include <setjmp.h>

// Pango's declarations are repeated here, because SwiftPM warns in each build about a flag that pkg-config gives for
// Pango's own headers.
typedef struct _PangoContext PangoContext;
typedef struct _PangoFontDescription PangoFontDescription;
typedef struct _PangoFontMap PangoFontMap;
typedef struct _PangoLayout PangoLayout;
typedef struct _PangoLayoutLine PangoLayoutLine;
typedef struct {
  int x, y, width, height;
} PangoRectangle;

// The number of Pango's units in one unit of cairo.
#define PANGO_SCALE 1024
#define PANGO_DIRECTION_LTR 0
#define PANGO_DIRECTION_RTL 1

PangoFontMap *pango_cairo_font_map_new(void);
PangoContext *pango_font_map_create_context(PangoFontMap *map);
void pango_context_set_base_dir(PangoContext *context, int direction);
void pango_context_set_round_glyph_positions(PangoContext *context, int is_rounding);
void pango_cairo_context_set_font_options(PangoContext *context, const cairo_font_options_t *options);
PangoFontDescription *pango_font_description_from_string(const char *text);
void pango_font_description_set_absolute_size(PangoFontDescription *description, double size);
void pango_font_description_free(PangoFontDescription *description);
PangoLayout *pango_layout_new(PangoContext *context);
void pango_layout_context_changed(PangoLayout *layout);
void pango_layout_set_auto_dir(PangoLayout *layout, int is_automatic);
void pango_layout_set_font_description(PangoLayout *layout, const PangoFontDescription *description);
void pango_layout_set_single_paragraph_mode(PangoLayout *layout, int is_single);
void pango_layout_set_text(PangoLayout *layout, const char *text, int byte_count);
int pango_layout_get_unknown_glyphs_count(PangoLayout *layout);
PangoLayoutLine *pango_layout_get_line_readonly(PangoLayout *layout, int line);
void pango_layout_line_get_extents(PangoLayoutLine *line, PangoRectangle *ink, PangoRectangle *logical);
void pango_cairo_show_layout_line(cairo_t *page, PangoLayoutLine *line);
void g_object_unref(void *object);

struct whiteboard_png_sink {
  cairo_write_func_t write;
  void *closure;
};

static inline void whiteboard_png_write(png_structp png, png_bytep bytes, size_t count) {
  struct whiteboard_png_sink *sink = (struct whiteboard_png_sink *)png_get_io_ptr(png);
  if (sink->write(sink->closure, bytes, (unsigned int)count) != CAIRO_STATUS_SUCCESS) png_error(png, "not written");
}

static inline void whiteboard_png_flush(png_structp png) { (void)png; }

// Encodes an opaque image of cairo as PNG without filters, because most pixels have the color of their neighbors. For
// such an image, cairo's own encoder takes four times as long and writes a larger file, because it tries all filters
// on each row. Returns 0 if there is not enough memory.
static inline int whiteboard_png(
    const unsigned char *pixels, int width, int height, int stride, cairo_write_func_t write, void *closure) {
  struct whiteboard_png_sink sink = {write, closure};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return 0;
  }
  png_set_write_fn(png, &sink, whiteboard_png_write, whiteboard_png_flush);
  png_set_compression_level(png, 3);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
  png_set_IHDR(
      png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
      PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  // Each pixel has four bytes: blue, green, red, and an unused byte.
  png_set_bgr(png);
  png_set_filler(png, 0, PNG_FILLER_AFTER);
  for (int row = 0; row < height; row++) png_write_row(png, pixels + (size_t)row * stride);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return 1;
}

#endif
