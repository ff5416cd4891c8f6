import WhiteboardNode
import WhiteboardRendering

/// What lies over the board until a key closes it.
enum Overlay: Hashable, Sendable {
  case panel(Panel)
  /// How others join.
  case invitation
  case menu(Menu)
  /// The question whether to leave although work is not saved.
  case unsavedQuestion

  /// Returns the cells that it covers; the whole screen for dialogs.
  func area(in layout: ScreenLayout) -> CellArea {
    switch self {
    case .menu(let menu): MenuLayout(menu, layout).area
    case .panel: layout.panel
    case .invitation, .unsavedQuestion: layout.screen
    }
  }
}
