// The parts of libcairo and Pango that Swift uses: in-memory images, PNG, PDF, paths and rows of text.
#ifndef WHITEBOARD_CAIRO_H
#define WHITEBOARD_CAIRO_H

#include <cairo/cairo-pdf.h>
#include <cairo/cairo.h>

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

#endif
