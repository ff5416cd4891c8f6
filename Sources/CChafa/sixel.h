// What Swift sees of libchafa: one function. The library's own header wants those of GLib, whose place
// differs from system to system, so that pkg-config says where they are.
#ifndef WHITEBOARD_SIXEL_H
#define WHITEBOARD_SIXEL_H

#include <chafa.h>
#include <stdlib.h>
#include <string.h>

// The pixels, row by row, scaled to so many pixels across and down (a multiple of 6) and written as
// sixels of at most 256 or 16 colours. The caller frees what comes back; NULL where there is nothing.
static inline char *whiteboard_sixels(
    const void *pixels, int width, int height, int stride, int across, int down, int has_few_colors,
    size_t *count) {
  ChafaCanvasConfig *config = chafa_canvas_config_new();
  chafa_canvas_config_set_geometry(config, across, down / 6);
  chafa_canvas_config_set_cell_geometry(config, 1, 6);
  chafa_canvas_config_set_pixel_mode(config, CHAFA_PIXEL_MODE_SIXELS);
  chafa_canvas_config_set_canvas_mode(
      config, has_few_colors ? CHAFA_CANVAS_MODE_INDEXED_16 : CHAFA_CANVAS_MODE_TRUECOLOR);
  ChafaCanvas *canvas = chafa_canvas_new(config);
  chafa_canvas_draw_all_pixels(
      canvas, CHAFA_PIXEL_BGRA8_UNASSOCIATED, (const guint8 *)pixels, width, height, stride);
  ChafaTermInfo *terminal = chafa_term_info_new();
  chafa_term_info_set_seq(terminal, CHAFA_TERM_SEQ_BEGIN_SIXELS, "\033P%1;%2;%3q", NULL);
  chafa_term_info_set_seq(terminal, CHAFA_TERM_SEQ_END_SIXELS, "\033\\", NULL);
  GString *text = chafa_canvas_print(canvas, terminal);
  char *bytes = NULL;
  *count = 0;
  if (text) {
    bytes = malloc(text->len + 1);
    if (bytes) {
      memcpy(bytes, text->str, text->len);
      *count = text->len;
    }
    g_string_free(text, TRUE);
  }
  chafa_term_info_unref(terminal);
  chafa_canvas_unref(canvas);
  chafa_canvas_config_unref(config);
  return bytes;
}

#endif
