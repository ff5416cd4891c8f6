// The function of libchafa that Swift uses. The header of libchafa includes those of GLib, whose
// location differs between systems; pkg-config finds it.
#ifndef WHITEBOARD_SIXEL_H
#define WHITEBOARD_SIXEL_H

#include <chafa.h>
#include <stdlib.h>
#include <string.h>

// Scales the pixels to `across` by `down` pixels (a multiple of 6) and encodes them as sixels with
// at most 256 colors, or 16 if `has_few_colors` is set. The caller must free the result, which is
// NULL if the encoder fails.
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
