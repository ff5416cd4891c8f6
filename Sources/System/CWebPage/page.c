// Written by list-files; do not edit.

#include "web_page.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char access_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/access.mjs"
};

static const unsigned char address_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/address.mjs"
};

static const unsigned char app_css[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/app.css"
};

static const unsigned char app_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/app.mjs"
};

static const unsigned char arrange_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/arrange.mjs"
};

static const unsigned char badges_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/badges.mjs"
};

static const unsigned char board_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/board.mjs"
};

static const unsigned char canvas_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/canvas.mjs"
};

static const unsigned char clipboard_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/clipboard.mjs"
};

static const unsigned char connection_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/connection.mjs"
};

static const unsigned char dom_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/dom.mjs"
};

static const unsigned char draw_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/draw.mjs"
};

static const unsigned char errors_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/errors.mjs"
};

static const unsigned char excalidraw_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/excalidraw.mjs"
};

static const unsigned char files_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/files.mjs"
};

static const unsigned char find_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/find.mjs"
};

static const unsigned char forms_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/forms.mjs"
};

static const unsigned char frames_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/frames.mjs"
};

static const unsigned char games_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/games.mjs"
};

static const unsigned char geometry_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/geometry.mjs"
};

static const unsigned char grounds_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/grounds.mjs"
};

static const unsigned char guides_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/guides.mjs"
};

static const unsigned char icon_svg[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/icon.svg"
};

static const unsigned char ids_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/ids.mjs"
};

static const unsigned char imports_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/imports.mjs"
};

static const unsigned char index_html[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/index.html"
};

static const unsigned char input_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/input.mjs"
};

static const unsigned char manifest_webmanifest[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/manifest.webmanifest"
};

static const unsigned char menu_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/menu.mjs"
};

static const unsigned char mermaid_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/mermaid.mjs"
};

static const unsigned char messages_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/messages.mjs"
};

static const unsigned char panels_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/panels.mjs"
};

static const unsigned char pointers_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/pointers.mjs"
};

static const unsigned char present_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/present.mjs"
};

static const unsigned char replica_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/replica.mjs"
};

static const unsigned char resources_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/resources.mjs"
};

static const unsigned char session_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/session.mjs"
};

static const unsigned char storage_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/storage.mjs"
};

static const unsigned char style_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/style.mjs"
};

static const unsigned char text_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/text.mjs"
};

static const unsigned char toolbar_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/toolbar.mjs"
};

static const unsigned char tools_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/tools.mjs"
};

static const unsigned char transport_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/transport.mjs"
};

static const unsigned char ui_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/ui.mjs"
};

static const unsigned char weblink_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/weblink.mjs"
};

static const unsigned char whiteboard_wasm[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/whiteboard.wasm.br"
};

static const unsigned char worker_mjs[] = {
#embed "../../FrontEnds/WhiteboardWeb/Resources/worker.mjs"
};

static const struct whiteboard_page_file files[] = {
    {"/access.mjs", "text/javascript; charset=utf-8", NULL, access_mjs, sizeof access_mjs},
    {"/address.mjs", "text/javascript; charset=utf-8", NULL, address_mjs, sizeof address_mjs},
    {"/app.css", "text/css; charset=utf-8", NULL, app_css, sizeof app_css},
    {"/app.mjs", "text/javascript; charset=utf-8", NULL, app_mjs, sizeof app_mjs},
    {"/arrange.mjs", "text/javascript; charset=utf-8", NULL, arrange_mjs, sizeof arrange_mjs},
    {"/badges.mjs", "text/javascript; charset=utf-8", NULL, badges_mjs, sizeof badges_mjs},
    {"/board.mjs", "text/javascript; charset=utf-8", NULL, board_mjs, sizeof board_mjs},
    {"/canvas.mjs", "text/javascript; charset=utf-8", NULL, canvas_mjs, sizeof canvas_mjs},
    {"/clipboard.mjs", "text/javascript; charset=utf-8", NULL, clipboard_mjs, sizeof clipboard_mjs},
    {"/connection.mjs", "text/javascript; charset=utf-8", NULL, connection_mjs, sizeof connection_mjs},
    {"/dom.mjs", "text/javascript; charset=utf-8", NULL, dom_mjs, sizeof dom_mjs},
    {"/draw.mjs", "text/javascript; charset=utf-8", NULL, draw_mjs, sizeof draw_mjs},
    {"/errors.mjs", "text/javascript; charset=utf-8", NULL, errors_mjs, sizeof errors_mjs},
    {"/excalidraw.mjs", "text/javascript; charset=utf-8", NULL, excalidraw_mjs, sizeof excalidraw_mjs},
    {"/files.mjs", "text/javascript; charset=utf-8", NULL, files_mjs, sizeof files_mjs},
    {"/find.mjs", "text/javascript; charset=utf-8", NULL, find_mjs, sizeof find_mjs},
    {"/forms.mjs", "text/javascript; charset=utf-8", NULL, forms_mjs, sizeof forms_mjs},
    {"/frames.mjs", "text/javascript; charset=utf-8", NULL, frames_mjs, sizeof frames_mjs},
    {"/games.mjs", "text/javascript; charset=utf-8", NULL, games_mjs, sizeof games_mjs},
    {"/geometry.mjs", "text/javascript; charset=utf-8", NULL, geometry_mjs, sizeof geometry_mjs},
    {"/grounds.mjs", "text/javascript; charset=utf-8", NULL, grounds_mjs, sizeof grounds_mjs},
    {"/guides.mjs", "text/javascript; charset=utf-8", NULL, guides_mjs, sizeof guides_mjs},
    {"/icon.svg", "image/svg+xml", NULL, icon_svg, sizeof icon_svg},
    {"/ids.mjs", "text/javascript; charset=utf-8", NULL, ids_mjs, sizeof ids_mjs},
    {"/imports.mjs", "text/javascript; charset=utf-8", NULL, imports_mjs, sizeof imports_mjs},
    {"/index.html", "text/html; charset=utf-8", NULL, index_html, sizeof index_html},
    {"/input.mjs", "text/javascript; charset=utf-8", NULL, input_mjs, sizeof input_mjs},
    {"/manifest.webmanifest", "application/manifest+json", NULL, manifest_webmanifest, sizeof manifest_webmanifest},
    {"/menu.mjs", "text/javascript; charset=utf-8", NULL, menu_mjs, sizeof menu_mjs},
    {"/mermaid.mjs", "text/javascript; charset=utf-8", NULL, mermaid_mjs, sizeof mermaid_mjs},
    {"/messages.mjs", "text/javascript; charset=utf-8", NULL, messages_mjs, sizeof messages_mjs},
    {"/panels.mjs", "text/javascript; charset=utf-8", NULL, panels_mjs, sizeof panels_mjs},
    {"/pointers.mjs", "text/javascript; charset=utf-8", NULL, pointers_mjs, sizeof pointers_mjs},
    {"/present.mjs", "text/javascript; charset=utf-8", NULL, present_mjs, sizeof present_mjs},
    {"/replica.mjs", "text/javascript; charset=utf-8", NULL, replica_mjs, sizeof replica_mjs},
    {"/resources.mjs", "text/javascript; charset=utf-8", NULL, resources_mjs, sizeof resources_mjs},
    {"/session.mjs", "text/javascript; charset=utf-8", NULL, session_mjs, sizeof session_mjs},
    {"/storage.mjs", "text/javascript; charset=utf-8", NULL, storage_mjs, sizeof storage_mjs},
    {"/style.mjs", "text/javascript; charset=utf-8", NULL, style_mjs, sizeof style_mjs},
    {"/text.mjs", "text/javascript; charset=utf-8", NULL, text_mjs, sizeof text_mjs},
    {"/toolbar.mjs", "text/javascript; charset=utf-8", NULL, toolbar_mjs, sizeof toolbar_mjs},
    {"/tools.mjs", "text/javascript; charset=utf-8", NULL, tools_mjs, sizeof tools_mjs},
    {"/transport.mjs", "text/javascript; charset=utf-8", NULL, transport_mjs, sizeof transport_mjs},
    {"/ui.mjs", "text/javascript; charset=utf-8", NULL, ui_mjs, sizeof ui_mjs},
    {"/weblink.mjs", "text/javascript; charset=utf-8", NULL, weblink_mjs, sizeof weblink_mjs},
    {"/whiteboard.wasm", "application/wasm", "br", whiteboard_wasm, sizeof whiteboard_wasm},
    {"/worker.mjs", "text/javascript; charset=utf-8", NULL, worker_mjs, sizeof worker_mjs},
};

const struct whiteboard_page_file *whiteboard_page_files(size_t *count) {
  *count = sizeof files / sizeof files[0];
  return files;
}
