#ifndef WHITEBOARD_WEB_PAGE_H
#define WHITEBOARD_WEB_PAGE_H

#include <stddef.h>

/// A file of the page that browsers load.
struct whiteboard_page_file {
  /// The path at which browsers request the file, such as "/app.mjs".
  const char *_Nonnull path;
  /// The media type.
  const char *_Nonnull type;
  /// The compression of the bytes, as in the `Content-Encoding` header; null if there is none.
  const char *_Nullable encoding;
  const unsigned char *_Nonnull bytes;
  size_t count;
};

/// Returns the files of `Sources/FrontEnds/WhiteboardWeb/Resources`, and their number.
const struct whiteboard_page_file *_Nonnull whiteboard_page_files(size_t *_Nonnull count);

#endif
